//! The memory that a client keeps of a name at which it holds a permit, counted by the allocator.
//! This is a test program of its own, because the count is of the whole process.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
};

use futures_util::future::try_join_all;
use seinpaal::Seinpaal;
use seinpaal_rig::RedisServer;

const NAMES: usize = 4_000;

static LIVE: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, with a count of the bytes that were allocated and not freed.
struct Counting;

// SAFETY: each method passes its arguments on to the system's allocator, which keeps the contract.
// The count does not touch the memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn bytes_a_name(before: usize) -> usize {
    LIVE.load(Ordering::Relaxed).saturating_sub(before) / NAMES
}

#[tokio::test]
async fn a_held_name_costs_its_client_less_than_two_thousand_bytes_and_they_come_back() {
    let server = RedisServer::start();
    let seinpaal = Seinpaal::connect(&server.socket_url("")).await.unwrap();
    let ask = |i| seinpaal.semaphore(&format!("name-{i}")).limit(1).acquire().into_future();
    drop(ask(NAMES).await.unwrap()); // now the client has the memory that it always needs
    let before = LIVE.load(Ordering::Relaxed);
    let held = try_join_all((0..NAMES).map(ask)).await.unwrap();
    let of_held = bytes_a_name(before);
    assert!((100..2_000).contains(&of_held), "{of_held} bytes a name that is held");
    try_join_all(held.into_iter().map(|permit| permit.release())).await.unwrap();
    // The driver counts at the end of a step, so the test waits for one more step.
    seinpaal.semaphore("name-0").snapshot().await.unwrap();
    assert_eq!(seinpaal.statistics().held, 0);
    let left = bytes_a_name(before);
    println!("{of_held} bytes a name that is held, {left} of one that was released");
    assert!(left < 300, "{left} bytes are left of a name that was released, of {of_held}");
}
