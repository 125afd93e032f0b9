//! Silent runtimes of callers: they are blocked, or have ended, after a row of lone requests, which
//! callers send on their own threads. The connection goes on all the same.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
    thread,
    time::{Duration, Instant},
};

use seinpaal::{Acquire, PermitState, Seinpaal, Semaphore, blocking::Wait};
use seinpaal_rig::RedisServer;
use tokio::runtime::{Builder, Runtime};

/// How many pairs of lone requests come first.
const ROW: u32 = 50;
/// How long a step may take on a busy machine.
const BOUND: Duration = Duration::from_secs(60);

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn connected(server: &RedisServer) -> Seinpaal {
    Seinpaal::connect(&server.socket_url("")).wait().expect("a server")
}

async fn pairs(semaphore: &Semaphore) {
    for _ in 0..ROW {
        semaphore.acquire().await.expect("granted").release().await.expect("released");
    }
}

/// Waits on this thread until a condition holds, so that nothing else of the runtime goes on.
fn until(is_so: impl Fn() -> bool, what: &str) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < BOUND, "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A request that was sent after a row of others and has no answer yet. On a busy machine a server
/// may be faster than its client, and then another request is made.
async fn unanswered(semaphore: &Semaphore) -> Pin<Box<Acquire>> {
    let began = Instant::now();
    loop {
        pairs(semaphore).await;
        let mut request = Box::pin(semaphore.acquire());
        match poll_once(request.as_mut()) {
            Poll::Pending => return request,
            Poll::Ready(permit) => permit.expect("granted").release().await.expect("released"),
        }
        assert!(began.elapsed() < BOUND, "every answer comes at once");
    }
}

#[test]
fn a_runtime_that_is_blocked_keeps_what_its_tasks_hold() {
    let server = RedisServer::start();
    let seinpaal = connected(&server);
    let callers = runtime();
    callers.block_on(async {
        let semaphore = seinpaal.semaphore("n").limit(4);
        pairs(&semaphore).await;
        let permit = semaphore.acquire().ttl(Duration::from_secs(3)).await.expect("granted");
        let before = seinpaal.statistics().renewals;
        // The executor does nothing else meanwhile.
        until(|| seinpaal.statistics().renewals >= before + 3, "nobody renews");
        assert_eq!(permit.state(), PermitState::Held);
        permit.release().await.expect("released");
    });
}

#[test]
fn a_request_whose_runtime_is_blocked_before_its_answer_is_granted_and_given_back() {
    let server = RedisServer::start();
    let (seinpaal, other) = (connected(&server), connected(&server));
    let callers = runtime();
    callers.block_on(async {
        let semaphore = seinpaal.semaphore("n").limit(1);
        let request = unanswered(&semaphore).await;
        until(|| seinpaal.statistics().held == 1, "nobody reads the answer");
        let permit = request.await.expect("granted");
        assert_eq!(permit.state(), PermitState::Held);
    });
    drop(other.semaphore("n").limit(1).acquire().timeout(BOUND).wait().expect("given back"));
}

/// Plays four times at a semaphore with one permit. Each time, the permit is free for another
/// client afterwards.
fn assert_leaves_nothing(play: impl AsyncFn(&Seinpaal, &Semaphore)) {
    let server = RedisServer::start();
    let (seinpaal, other) = (connected(&server), connected(&server));
    runtime().block_on(async {
        let semaphore = seinpaal.semaphore("n").limit(1);
        for _ in 0..4 {
            play(&seinpaal, &semaphore).await;
            let next = other.semaphore("n").limit(1).acquire().timeout(BOUND);
            next.await.expect("the permit is free").release().await.expect("released");
        }
    });
}

#[test]
fn a_request_that_is_dropped_before_its_answer_leaves_nothing() {
    assert_leaves_nothing(async |_, semaphore| drop(unanswered(semaphore).await));
}

#[test]
fn a_release_that_is_dropped_before_its_answer_is_a_release() {
    assert_leaves_nothing(async |seinpaal, semaphore| {
        pairs(semaphore).await;
        let permit = semaphore.acquire().await.expect("granted");
        // The test works whether or not the release is answered within its first poll.
        let mut release = Box::pin(permit.release());
        let _ = poll_once(release.as_mut());
        drop(release);
        until(|| seinpaal.statistics().held == 0, "nobody reads the answer");
    });
}

#[test]
fn a_waiter_hears_its_wakeup_after_many_lone_requests() {
    let server = RedisServer::start();
    let (seinpaal, other) = (connected(&server), connected(&server));
    runtime().block_on(async {
        let semaphore = seinpaal.semaphore("n").limit(1);
        for _ in 0..4 {
            pairs(&semaphore).await;
            let held = other.semaphore("n").limit(1).acquire().await.expect("granted");
            let waiting = tokio::spawn(semaphore.acquire());
            while other.semaphore("n").snapshot().await.expect("told").waiting_total == 0 {
                tokio::task::yield_now().await;
            }
            // The executor is blocked when the wakeup comes.
            let grants = seinpaal.statistics().grants;
            held.release().wait().expect("released");
            until(|| seinpaal.statistics().grants > grants, "nobody hears the wakeup");
            let permit = waiting.await.expect("no panic").expect("granted");
            permit.release().await.expect("released");
        }
    });
}

#[test]
fn a_runtime_that_ends_during_a_call_takes_nothing_from_another() {
    let server = RedisServer::start();
    let seinpaal = connected(&server);
    for _ in 0..4 {
        let ends = runtime();
        let semaphore = seinpaal.semaphore("n").limit(1);
        let request = ends.block_on(unanswered(&semaphore));
        drop(ends);
        // The next request uses the same connection, from another runtime, and the release from
        // none.
        let permit = runtime().block_on(request).expect("granted");
        permit.release().wait().expect("released");
        runtime().block_on(pairs(&semaphore));
    }
    assert_eq!(seinpaal.statistics().reconnects, 0);
}

#[test]
fn many_tasks_share_round_trips_after_many_lone_requests() {
    const TASKS: u64 = 64;
    let server = RedisServer::start();
    let seinpaal = connected(&server);
    runtime().block_on(async {
        let semaphore = seinpaal.semaphore("n").limit(64);
        pairs(&semaphore).await;
        let before = seinpaal.statistics();
        let tasks = (0..TASKS).map(|_| {
            let semaphore = semaphore.clone();
            tokio::spawn(async move { pairs(&semaphore).await })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.expect("granted and released");
        }
        let after = seinpaal.statistics();
        let (grants, calls) = (after.grants - before.grants, after.calls - before.calls);
        assert_eq!(grants, TASKS * u64::from(ROW));
        assert!(calls < grants, "{calls} calls for {grants} grants and as many releases");
    });
}
