//! The only kind of lock in this package. No Python code can run on a thread that holds it.
//!
//! Python may switch to another thread whenever an object is made, looked up or dropped. If that
//! thread wants a lock that the first thread holds, it keeps the GIL while it waits, and the first
//! thread never gets the GIL back. So two things are forbidden under a lock. The work must not have
//! a Python object: the compiler checks that, because the work is `Send`, and the token for the
//! interpreter is not. The work must not ask for the interpreter either: [`check_none`] checks that
//! wherever code asks for it.

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

    /// Takes the value out and leaves another in its place. The caller drops the old value, without
    /// the lock.
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

/// Checks that this thread holds no lock. Must be called before code asks for the interpreter
/// without a token that proves that the thread has it.
///
/// # Panics
/// If this thread holds a lock, which is a bug of this package.
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
