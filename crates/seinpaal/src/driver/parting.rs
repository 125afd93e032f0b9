//! How a program that drops its last connection and ends still gives back what it held.
//!
//! The driver gives everything back on its own thread, which takes a round trip. The drop does not
//! wait for that, because it may happen in a task on an executor's thread, with other tasks behind
//! it. The *thread* that dropped the connection waits when it ends. So a program that ends right
//! after the drop still gives its permits back.
//!
//! Not every C library runs the destructors of the main thread's variables when the program ends:
//! GNU's does, and musl does not. A program that has to be sure calls
//! [`part`](crate::blocking::part).

use std::{
    cell::RefCell,
    sync::mpsc::{Receiver, TryRecvError},
    time::{Duration, Instant},
};

/// How long a thread that ends waits for drivers in all.
const PARTING_TIMEOUT: Duration = Duration::from_secs(1);

thread_local! {
    static PARTED: Parted = const { Parted(RefCell::new(Vec::new())) };
}

/// The drivers whose last handle was dropped on this thread. Their channels close when they are
/// over.
struct Parted(RefCell<Vec<Receiver<()>>>);

/// Makes this thread wait for a driver when the thread ends, and not now.
pub(super) fn wait_at_end_of_thread(is_over: Receiver<()>) {
    // A thread that is ending already has nothing else left to do.
    let _ = PARTED.try_with(|parted| parted.add(is_over));
}

/// Waits for them now.
pub(crate) fn part() {
    let _ = PARTED.try_with(Parted::wait);
}

impl Parted {
    fn add(&self, is_over: Receiver<()>) {
        let mut drivers = self.0.borrow_mut();
        // A thread may open and drop connections for ever, so those that are over are let go.
        drivers.retain(|driver| driver.try_recv() == Err(TryRecvError::Empty));
        drivers.push(is_over);
    }

    fn wait(&self) {
        let until = Instant::now() + PARTING_TIMEOUT;
        for driver in self.0.take() {
            let _ = driver.recv_timeout(until.saturating_duration_since(Instant::now()));
        }
    }
}

impl Drop for Parted {
    fn drop(&mut self) {
        self.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    };

    use super::*;

    #[test]
    fn whoever_parts_goes_on_when_the_drivers_are_over_and_not_before() {
        static IS_OVER: AtomicBool = AtomicBool::new(false);
        let (over, is_over) = mpsc::channel::<()>();
        wait_at_end_of_thread(is_over);
        let driver = std::thread::spawn(move || {
            std::thread::yield_now();
            IS_OVER.store(true, Ordering::SeqCst);
            drop(over);
        });
        part();
        assert!(IS_OVER.load(Ordering::SeqCst));
        driver.join().unwrap();
        assert!(
            PARTED.with(|parted| parted.0.borrow().is_empty()),
            "there is nobody left to wait for"
        );
    }
}
