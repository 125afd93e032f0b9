//! Dropping the last permit or connection delays no other task, and gives everything back.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use seinpaal::{Seinpaal, blocking};

use seinpaal_rig::RedisServer;

/// How often another thread gets round in steps of 10 ms while `work` is done. Work that waits for
/// a second lets it get round a hundred times. It is a thread, because virtual time does not show
/// that a thread is blocked.
fn ticks_during(work: impl FnOnce()) -> u32 {
    let ticks = Arc::new(AtomicU32::new(0));
    let (over, is_over) = mpsc::channel::<()>();
    let ticking = {
        let ticks = Arc::clone(&ticks);
        thread::spawn(move || {
            let goes_on = Err(mpsc::RecvTimeoutError::Timeout);
            while is_over.recv_timeout(Duration::from_millis(10)) == goes_on {
                ticks.fetch_add(1, Ordering::SeqCst);
            }
        })
    };
    while ticks.load(Ordering::SeqCst) == 0 {
        thread::yield_now();
    }
    let before = ticks.load(Ordering::SeqCst);
    work();
    let during = ticks.load(Ordering::SeqCst) - before;
    drop(over);
    ticking.join().expect("it ticks");
    during
}

#[tokio::test]
async fn the_last_permit_of_a_connection_is_dropped_without_waiting_for_a_silent_store() {
    let server = RedisServer::start();
    let mut last = Vec::new();
    for n in 0..4 {
        let seinpaal = Seinpaal::connect(&server.socket_url("")).await.expect("connected");
        last.push(seinpaal.semaphore(&format!("{n}")).acquire().await.expect("granted"));
    }
    server.pause();
    let ticks = ticks_during(|| drop(last));
    assert!(ticks < 100, "four drops took {ticks} ticks of 10 ms: one that waits takes 100");
    server.resume();
}

#[test]
fn a_thread_that_drops_the_last_connection_and_ends_has_given_everything_back() {
    let server = RedisServer::start();
    let url = server.socket_url("");
    let ended = thread::spawn(move || {
        let seinpaal = blocking::Seinpaal::connect(&url).expect("connected");
        let permit = seinpaal.mutex("x").lock().expect("granted");
        drop((seinpaal, permit));
    });
    ended.join().expect("it ends");
    let seinpaal = blocking::Seinpaal::connect(&server.socket_url("")).expect("connected");
    assert!(seinpaal.mutex("x").try_lock().expect("asked").is_some());
}
