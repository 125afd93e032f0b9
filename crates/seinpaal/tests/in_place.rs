//! A request that waits for nobody is done within its first poll, on the thread that polls, and
//! nothing waits for itself.
#![cfg(feature = "embedded")]

use std::{
    future::{Future, IntoFuture},
    pin::pin,
    sync::{Arc, Mutex, mpsc},
    task::{Context, Poll, Wake, Waker},
    thread,
    time::{Duration, Instant},
};

use seinpaal::{AcquireError, Permit, Seinpaal, Semaphore, blocking::Wait};
use tempfile::TempDir;

/// How long the machine may be so busy that nothing is done in place.
const BOUND: Duration = Duration::from_secs(60);

fn embedded() -> (TempDir, Seinpaal) {
    let directory = TempDir::new().unwrap();
    let url = format!("file://{}", directory.path().display());
    let seinpaal = Seinpaal::connect(&url).wait().expect("connected");
    (directory, seinpaal)
}

fn poll_once<F: IntoFuture>(future: F) -> Poll<F::Output> {
    pin!(future.into_future()).poll(&mut Context::from_waker(Waker::noop()))
}

/// A pair of which both halves were answered in their first polls.
fn is_pair_done_in_place(semaphore: &Semaphore) -> bool {
    match poll_once(semaphore.acquire()) {
        Poll::Ready(permit) => poll_once(permit.expect("granted").release()).is_ready(),
        Poll::Pending => false,
    }
}

#[test]
fn a_lone_acquire_and_its_release_are_done_within_their_first_polls_and_without_a_runtime() {
    let (_directory, embedded) = embedded();
    for seinpaal in [Seinpaal::in_memory(), embedded] {
        let semaphore = seinpaal.semaphore("alone");
        let began = Instant::now();
        while !is_pair_done_in_place(&semaphore) {
            assert!(began.elapsed() < BOUND, "nothing is done in place");
            // Whatever the connection's threads were busy with is over then.
            semaphore.acquire().wait().expect("granted").release().wait().expect("released");
        }
        semaphore.acquire().wait().expect("nothing is left behind").release().wait().unwrap();
    }
}

#[test]
fn a_permit_that_was_dropped_is_back_before_the_next_request_of_its_client() {
    let (_directory, embedded) = embedded();
    for seinpaal in [Seinpaal::in_memory(), embedded] {
        let semaphore = seinpaal.semaphore("dropped").limit(1);
        for _ in 0..200 {
            let permit = semaphore.try_acquire().wait().expect("asked");
            drop(permit.expect("the one before it went first"));
        }
    }
}

#[test]
fn requests_of_many_threads_are_answered_once_each_and_never_above_the_limit() {
    let (_directory, embedded) = embedded();
    for seinpaal in [Seinpaal::in_memory(), embedded] {
        let held = Mutex::new(());
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let permit = seinpaal.semaphore("many").limit(1).acquire().wait().unwrap();
                        let alone = held.try_lock().expect("nobody else holds it");
                        drop(alone);
                        permit.release().wait().unwrap();
                    }
                });
            }
        });
        assert_eq!(seinpaal.statistics().grants, 400);
    }
}

/// A waker that asks for something itself.
struct Asks {
    semaphore: Semaphore,
    woken: Mutex<mpsc::Sender<Result<Option<Permit>, AcquireError>>>,
}

impl Wake for Asks {
    fn wake(self: Arc<Self>) {
        let asked = self.semaphore.try_acquire().into_future();
        let told = self.woken.lock().unwrap().clone();
        let mut asked = Box::pin(asked);
        match asked.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => told.send(answer).unwrap(),
            Poll::Pending => drop(thread::spawn(move || told.send(asked.wait()))),
        }
    }
}

#[test]
fn a_waker_that_asks_for_something_when_it_is_woken_inside_waits_for_nobody() {
    let (_directory, embedded) = embedded();
    for seinpaal in [Seinpaal::in_memory(), embedded] {
        let (told, answers) = mpsc::channel();
        let semaphore = seinpaal.semaphore("another").limit(1);
        let waker = Waker::from(Arc::new(Asks { semaphore, woken: Mutex::new(told) }));
        let name = seinpaal.semaphore("one").limit(1);
        let permit = name.acquire().wait().unwrap();
        let mut waiting = name.acquire().into_future();
        let polled = pin!(&mut waiting).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending(), "somebody holds it");
        permit.release().wait().unwrap();
        assert!(answers.recv().unwrap().unwrap().is_some());
        drop(waiting.wait().expect("its turn has come"));
    }
}

#[test]
fn whoever_is_told_that_its_request_waits_is_told_on_the_connections_thread() {
    let (_directory, embedded) = embedded();
    for seinpaal in [Seinpaal::in_memory(), embedded] {
        let name = seinpaal.semaphore("queued").limit(1);
        let permit = name.acquire().wait().unwrap();
        for _ in 0..50 {
            let (tell, told) = mpsc::channel();
            let tell = move |_| tell.send(thread::current().id()).unwrap_or_default();
            let mut waiting = name.acquire().on_queued(tell).into_future();
            assert!(pin!(&mut waiting).poll(&mut Context::from_waker(Waker::noop())).is_pending());
            assert_ne!(told.recv().unwrap(), thread::current().id());
        }
        permit.release().wait().unwrap();
    }
}

#[tokio::test]
async fn a_loop_of_lone_calls_lets_other_tasks_of_its_thread_go_on() {
    let (_directory, embedded) = tokio::task::spawn_blocking(embedded).await.unwrap();
    for seinpaal in [Seinpaal::in_memory(), embedded] {
        let stop = Arc::new(tokio::sync::Notify::new());
        let other = tokio::spawn({
            let stop = Arc::clone(&stop);
            async move { stop.notify_one() }
        });
        let semaphore = seinpaal.semaphore("loop");
        let calls = async {
            loop {
                semaphore.acquire().await.unwrap().release().await.unwrap();
            }
        };
        tokio::select! {
            () = stop.notified() => {}
            () = calls => {}
        }
        other.await.unwrap();
    }
}
