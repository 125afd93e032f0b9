//! A bell that wakes a task, unless a guest who does the task's work is there to hear it.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Wake, Waker},
};

/// What work is polled with that a task does and that guests may do in its place.
#[derive(Debug, Default)]
pub struct Bell {
    /// Who does the work.
    task: Mutex<Option<Waker>>,
    /// Who hears the bell instead of the task, once.
    substitute: Mutex<Option<Waker>>,
    has_rung: AtomicBool,
    has_guest: AtomicBool,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

/// Says that somebody else than the task does its work. What is left is told when this is dropped.
pub struct Visit<'a>(&'a Bell);

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        self.0.has_guest.store(false, Ordering::SeqCst);
        if self.0.has_rung.load(Ordering::SeqCst) {
            self.0.tell();
        }
    }
}

impl Bell {
    /// Notes whom to wake.
    pub fn is_for(&self, task: &Waker) {
        note(&self.task, task);
    }

    /// Has somebody else hear the bell when it rings next.
    pub fn substitute(&self, waker: &Waker) {
        note(&self.substitute, waker);
    }

    /// Nobody but the task hears the bell any more.
    pub fn no_substitute(&self) {
        drop(take(&self.substitute));
    }

    /// Tells the substitute to look for itself.
    pub fn wake_substitute(&self) {
        take(&self.substitute).into_iter().for_each(Waker::wake);
    }

    /// There is something to do.
    pub fn ring(&self) {
        self.has_rung.store(true, Ordering::SeqCst);
        // A guest looks after it has said that it leaves, so one of the two sees the other.
        if !self.has_guest.load(Ordering::SeqCst) {
            self.tell();
        }
    }

    /// Whether it has rung since the last answer.
    pub fn answer(&self) -> bool {
        self.has_rung.swap(false, Ordering::SeqCst)
    }

    /// Whether it has rung.
    pub fn has_rung(&self) -> bool {
        self.has_rung.load(Ordering::SeqCst)
    }

    /// `None`: there is a guest already.
    pub fn visit(&self) -> Option<Visit<'_>> {
        (!self.has_guest.swap(true, Ordering::SeqCst)).then(|| Visit(self))
    }

    fn tell(&self) {
        let waker = take(&self.substitute);
        if let Some(waker) = waker {
            return waker.wake();
        }
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(task) = task {
            task.wake();
        }
    }
}

fn note(place: &Mutex<Option<Waker>>, waker: &Waker) {
    let mut noted = place.lock().unwrap_or_else(PoisonError::into_inner);
    match &mut *noted {
        Some(noted) => noted.clone_from(waker),
        none => *none = Some(waker.clone()),
    }
}

fn take(place: &Mutex<Option<Waker>>) -> Option<Waker> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}
