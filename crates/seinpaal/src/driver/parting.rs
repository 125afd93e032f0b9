//! How a program that drops its last connection and ends still gives back what it held.
//!
//! The driver gives everything back on its own thread, which takes a round trip. The drop does not
//! wait for that, because it may happen in a task on an executor's thread, with other tasks behind
//! it. The *thread* that dropped the connection waits when it ends. So a program that ends right
//! after the drop still gives its permits back.

use std::{
    cell::RefCell,
    sync::mpsc::{Receiver, TryRecvError},
    time::{Duration, Instant},
};

/// How long a thread that ends waits for drivers in all.
const PATIENCE: Duration = Duration::from_secs(1);

thread_local! {
    static PARTED: Parted = const { Parted(RefCell::new(Vec::new())) };
}

/// The drivers whose last handle was dropped on this thread. Their channels close when they are over.
struct Parted(RefCell<Vec<Receiver<()>>>);

/// Makes this thread wait for a driver when the thread ends, and not now.
pub(super) fn wait_at_end_of_thread(is_over: Receiver<()>) {
    // A thread that is ending already has nothing else left to do.
    let _ = PARTED.try_with(|parted| parted.add(is_over));
}

impl Parted {
    fn add(&self, is_over: Receiver<()>) {
        let mut drivers = self.0.borrow_mut();
        drivers.retain(|driver| driver.try_recv() == Err(TryRecvError::Empty));
        drivers.push(is_over);
    }
}

impl Drop for Parted {
    fn drop(&mut self) {
        let until = Instant::now() + PATIENCE;
        for driver in self.0.take() {
            let _ = driver.recv_timeout(until.saturating_duration_since(Instant::now()));
        }
    }
}
