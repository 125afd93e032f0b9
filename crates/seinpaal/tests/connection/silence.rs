//! A store that takes connections and answers nothing: the errors that callers get, and how soon.

use std::{
    future::Future,
    sync::Mutex,
    time::{Duration, Instant},
};

use seinpaal::{AcquireError, AdminError, PopError, ReleaseError, Seinpaal, store::StoreErrorKind};

use seinpaal_rig::RedisServer;

const SHORT: Duration = Duration::from_millis(300);
/// Without a timeout, the promise is 5 s. A busy machine may take a little longer.
const PROMPT: Duration = Duration::from_secs(9);

async fn connected() -> (RedisServer, Seinpaal) {
    let server = RedisServer::start();
    let seinpaal = Seinpaal::connect(&server.socket_url("")).await.expect("connected");
    (server, seinpaal)
}

/// A real bound on real silence. A call that takes longer hangs.
async fn within<T>(bound: Duration, future: impl Future<Output = T>) -> T {
    let began = Instant::now();
    let output = tokio::time::timeout(bound, future).await;
    output.unwrap_or_else(|_| panic!("no answer after {:?}", began.elapsed()))
}

fn is_silence(error: &AcquireError) -> bool {
    let AcquireError::Store(cause) = error else { return false };
    cause.kind() == StoreErrorKind::Unreachable && error.is_unavailable() && !error.is_busy()
}

#[tokio::test]
async fn a_timeout_names_its_cause_others_or_the_store() {
    let (server, seinpaal) = connected().await;
    let (held, free) = (seinpaal.semaphore("held"), seinpaal.semaphore("free"));
    let _permit = held.acquire().await.expect("granted");
    let refused = held.acquire().timeout(SHORT).await.expect_err("held");
    assert!(matches!(refused, AcquireError::TimedOut) && refused.is_busy(), "{refused:?}");
    let nothing = seinpaal.queue("empty").pop().timeout(SHORT).await;
    assert!(matches!(nothing, Err(PopError::TimedOut)), "{nothing:?}");

    server.pause();
    for name in [&held, &free] {
        let refused = within(PROMPT, name.acquire().timeout(SHORT)).await.expect_err("silence");
        assert!(is_silence(&refused), "{refused:?}");
    }
    let all = || [held.acquire(), free.acquire()];
    let refused = within(PROMPT, seinpaal.acquire_all(all()).timeout(SHORT)).await;
    assert!(is_silence(&refused.expect_err("silence").error));
    let nothing = within(PROMPT, seinpaal.queue("other").pop().timeout(SHORT)).await;
    assert!(matches!(&nothing, Err(PopError::Store(_))), "{nothing:?}");
    server.resume();
}

#[tokio::test]
async fn the_error_of_a_silent_store_says_which_store() {
    let (server, seinpaal) = connected().await;
    server.pause();
    let refused = seinpaal.semaphore("x").acquire().timeout(SHORT).await.expect_err("silence");
    let socket = server.socket().display().to_string();
    assert!(refused.to_string().contains(&socket), "{refused}");
    server.resume();
}

#[tokio::test]
async fn what_does_not_wait_is_answered_within_its_bound_though_the_store_is_silent() {
    let (server, seinpaal) = connected().await;
    let name = seinpaal.semaphore("x");
    let ticket = name.acquire().await.expect("granted").detach().await.expect("detached").ticket;
    server.pause();
    let tries = async {
        let refused = within(PROMPT, name.try_acquire()).await.expect_err("silence");
        assert!(is_silence(&refused), "{refused:?}");
    };
    let attach = async {
        let refused = within(PROMPT, name.attach(ticket)).await.expect_err("silence");
        assert!(is_silence(&refused), "{refused:?}");
    };
    let pops = async {
        let refused = within(PROMPT, seinpaal.queue("q").try_pop()).await.expect_err("silence");
        assert!(matches!(refused, PopError::Store(_)), "{refused:?}");
    };
    let renews = async {
        let renewed = within(PROMPT, name.renew_ticket(ticket, PROMPT)).await;
        assert!(matches!(renewed, Err(AdminError::Store(_))), "{renewed:?}");
    };
    let releases = async {
        let released = within(PROMPT, name.release_ticket(ticket)).await;
        assert!(matches!(released, Err(AdminError::Store(_))), "{released:?}");
    };
    let steers = async {
        let steered = within(PROMPT, name.set_limit(3)).await;
        assert!(matches!(steered, Err(AdminError::Store(_))), "{steered:?}");
    };
    tokio::join!(tries, attach, pops, renews, releases, steers);
    let refused = within(PROMPT, name.try_acquire().timeout(SHORT)).await.expect_err("silence");
    assert!(is_silence(&refused), "{refused:?}");
    server.resume();
}

#[tokio::test]
async fn a_release_that_a_silent_store_does_not_confirm_is_unknown_and_happens_once_it_answers() {
    let (server, seinpaal) = connected().await;
    let name = seinpaal.semaphore("x").limit(3);
    let acquire = async || name.acquire().await.expect("granted");
    let (default, short, detached) = (acquire().await, acquire().await, acquire().await);
    server.pause();
    let ttl = Some(Duration::from_secs(30));
    let unknown = ReleaseError::Unknown { at_most: ttl };
    assert_eq!(within(PROMPT, short.release().timeout(SHORT)).await, Err(unknown.clone()));
    let (default, detached) =
        tokio::join!(within(PROMPT, default.release()), within(PROMPT, detached.detach()));
    assert_eq!((default, detached.err()), (Err(unknown.clone()), Some(unknown.clone())));
    assert!(unknown.to_string().contains("in at most 30s"), "{unknown}");
    server.resume();
    while name.snapshot().await.expect("it answers").permits_held > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_worker_does_not_know_how_an_item_ended_whose_end_a_silent_store_did_not_confirm() {
    let (server, seinpaal) = connected().await;
    let queue = seinpaal.queue("q");
    queue.push("x").await.expect("pushed");
    let (shut, shutdown) = tokio::sync::oneshot::channel::<()>();
    let (shut, server) = (Mutex::new(Some(shut)), &server);
    let worker = queue.worker(1, |_item| {
        server.pause();
        drop(shut.lock().expect("nobody panics").take());
        std::future::ready(Ok::<(), std::io::Error>(()))
    });
    let worker = worker.grace(SHORT).run_until(async { drop(shutdown.await) });
    let counts = within(PROMPT, worker).await.expect("the store is only silent");
    assert_eq!((counts.unknown, counts.given_back), (1, 0), "{counts:?}");
    server.resume();
}

#[tokio::test]
async fn closing_is_bounded_when_the_store_is_silent_and_says_what_it_does_not_know() {
    let (server, seinpaal) = connected().await;
    let _permit = seinpaal.semaphore("x").acquire().ttl(Duration::from_secs(60)).await;
    server.pause();
    let unknown = ReleaseError::Unknown { at_most: Some(Duration::from_secs(60)) };
    assert_eq!(within(2 * PROMPT, seinpaal.close()).await, Err(unknown));
    server.resume();
}
