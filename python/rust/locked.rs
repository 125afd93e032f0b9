//! The only lock of this package: while it is held, nothing of Python's can run.
//!
//! Python may switch to another thread whenever an object is made, looked up or dropped. If that
//! thread wants a lock that the first one holds, it keeps the GIL while it waits, and the first one
//! never gets it back. So two things are forbidden under a lock. Work there has no Python object at
//! hand: the compiler checks that, because the work is `Send`, and the token for the interpreter is
//! not. And it does not ask for the interpreter: [`check_none`] checks that where it is asked for.

use std::{
    cell::Cell,
    sync::{Mutex, PoisonError},
};

thread_local! {
    /// How many locks this thread holds.
    static HELD: Cell<u32> = const { Cell::new(0) };
}

/// A value that several threads change.
#[derive(Default)]
pub(crate) struct Locked<T>(Mutex<T>);

impl<T: Send> Locked<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// Looks at the value, or changes it.
    pub(crate) fn with<R: Send>(&self, work: impl FnOnce(&mut T) -> R + Send) -> R {
        let mut value = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _noted = Noted::new();
        work(&mut value)
    }

    /// Takes the value out and leaves another in its place. The caller drops what was there,
    /// without the lock.
    pub(crate) fn replace(&self, value: T) -> T {
        self.with(|place| std::mem::replace(place, value))
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send + Default> Locked<T> {
    pub(crate) fn take(&self) -> T {
        self.replace(T::default())
    }
}

/// Call it before asking for the interpreter where no caller shows that it is there.
///
/// # Panics
/// If this thread holds a lock: that is a mistake of this package.
pub(crate) fn check_none() {
    assert_eq!(HELD.get(), 0, "seinpaal asks for the interpreter while it holds a lock");
}

struct Noted;

impl Noted {
    fn new() -> Self {
        HELD.set(HELD.get() + 1);
        Self
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        HELD.set(HELD.get() - 1);
    }
}
