//! A room in which one thread or task, its owner, works on something. A caller may enter while
//! nobody is inside and do the work on its own thread, which saves waking the owner and being woken
//! by it.
//!
//! A caller never waits to enter. So code that runs inside cannot deadlock with itself: a waker or
//! a destructor that wants to enter finds the room taken. Only the owner waits, and for one caller
//! at most: it announces that it waits, and no caller enters before it.

use std::{
    ops::{Deref, DerefMut},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// A value with a rule for which thread may work on it.
#[derive(Debug)]
pub struct Room<T> {
    /// `None`: the owner has not come yet, or has gone.
    inside: Mutex<Option<T>>,
    /// Whether the owner waits to enter.
    is_awaited: AtomicBool,
}

/// The access of a thread that is inside.
pub struct Guest<'a, T>(MutexGuard<'a, Option<T>>);

impl<T> Default for Room<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Room<T> {
    /// Makes a closed room.
    #[must_use]
    pub const fn new() -> Self {
        Self { inside: Mutex::new(None), is_awaited: AtomicBool::new(false) }
    }

    /// Opens the room. Only the owner calls this.
    pub fn open(&self, work: T) {
        *self.inside.lock().unwrap_or_else(PoisonError::into_inner) = Some(work);
    }

    /// Enters the room, and waits for a caller that is inside. Only the owner calls this. `None`:
    /// the room is closed, or a thread has panicked inside and left it in disorder.
    pub fn enter(&self) -> Option<Guest<'_, T>> {
        self.is_awaited.store(true, Ordering::SeqCst);
        let inside = self.inside.lock();
        self.is_awaited.store(false, Ordering::SeqCst);
        Guest::in_order(inside.ok()?)
    }

    /// Enters the room without waiting. Callers call this. `None`: another thread is inside, or the
    /// owner waits, or the room is closed.
    pub fn try_enter(&self) -> Option<Guest<'_, T>> {
        if self.is_awaited.load(Ordering::SeqCst) {
            return None;
        }
        Guest::in_order(self.inside.try_lock().ok()?)
    }

    /// Closes the room, even after a panic inside. The owner drops the returned value outside.
    pub fn close(&self) -> Option<T> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns whether a thread has panicked inside.
    pub fn is_in_disorder(&self) -> bool {
        self.inside.is_poisoned()
    }
}

impl<'a, T> Guest<'a, T> {
    fn in_order(inside: MutexGuard<'a, Option<T>>) -> Option<Self> {
        inside.is_some().then_some(Self(inside))
    }
}

impl<T> Deref for Guest<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().unwrap_or_else(|| unreachable!("`in_order` has seen the value"))
    }
}

impl<T> DerefMut for Guest<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().unwrap_or_else(|| unreachable!("`in_order` has seen the value"))
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_caller_that_finds_somebody_inside_goes_away_and_does_not_wait() {
        let room = Room::new();
        assert!(room.try_enter().is_none(), "not open yet");
        room.open(1);
        let inside = room.try_enter().unwrap();
        assert!(room.try_enter().is_none());
        drop(inside);
        assert_eq!(*room.try_enter().unwrap(), 1);
    }

    #[test]
    fn no_caller_enters_before_an_owner_that_waits() {
        let room = Room::new();
        room.open(());
        std::thread::scope(|scope| {
            let inside = room.try_enter().unwrap();
            scope.spawn(|| drop(room.enter().unwrap()));
            while !room.is_awaited.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            assert!(room.try_enter().is_none());
            drop(inside);
        });
        assert!(room.try_enter().is_some());
    }

    #[test]
    fn a_room_in_disorder_is_entered_by_nobody_and_can_be_cleared() {
        let room = Room::new();
        room.open(7);
        let panic = || {
            let _inside = room.try_enter();
            panic!("a caller's callback");
        };
        assert!(catch_unwind(AssertUnwindSafe(panic)).is_err());
        assert!(room.is_in_disorder());
        assert!(room.try_enter().is_none() && room.enter().is_none());
        assert_eq!(room.close(), Some(7));
    }
}
