//! A connection that is closed. Every kind of request that waits on it ends, and every later one is
//! refused.

use std::{
    fmt::Display,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use futures_util::future::join_all;
use seinpaal::{AcquireError, Item, ItemId, Lost, Permit, Push, ReleaseError, Seinpaal, Ticket};

use seinpaal_rig::RedisServer;

type Ended = Result<(), String>;
type Request = (&'static str, Pin<Box<dyn Future<Output = Ended> + Send>>);

fn request<T, E: Display>(
    kind: &'static str,
    future: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Request {
    let future = async move { future.await.map(drop).map_err(|error| error.to_string()) };
    (kind, Box::pin(future))
}

/// The permits and items that some of the requests need.
struct InHand {
    permits: [Permit; 4],
    writer: Permit,
    items: [Item; 3],
}

impl InHand {
    async fn take(seinpaal: &Seinpaal) -> Self {
        let permit = async |name| seinpaal.semaphore(name).acquire().await.expect("granted");
        let items = seinpaal.queue("items");
        let item = async || {
            items.push("x").await.expect("pushed");
            items.pop().await.expect("popped")
        };
        Self {
            permits: [permit("a").await, permit("b").await, permit("c").await, permit("d").await],
            writer: seinpaal.rwlock("w").write().await.expect("granted"),
            items: [item().await, item().await, item().await],
        }
    }

    fn requests(self) -> Vec<Request> {
        let [released, detached, guarded, asked] = self.permits;
        let writer = self.writer;
        let [acknowledged, failed, given_back] = self.items;
        let group = |group: &mut seinpaal::CommandGroup| {
            group.incr("n");
        };
        vec![
            request("release", released.release()),
            request("release with a timeout", asked.release().timeout(Duration::from_secs(3600))),
            request("detach", detached.detach()),
            request("downgrade", writer.downgrade()),
            request("guarded", async move { guarded.guarded(group).await }),
            request("acknowledge", acknowledged.acknowledge()),
            request("fail", async move { failed.fail("no", Duration::ZERO).await }),
            request("give back", given_back.give_back(Duration::ZERO)),
        ]
    }
}

/// Every kind of request for permits that can be made at any time.
fn of_permits(seinpaal: &Seinpaal) -> Vec<Request> {
    let name = seinpaal.semaphore("held");
    let (mutex, rwlock) = (seinpaal.mutex("mutex"), seinpaal.rwlock("rwlock"));
    let all = || [seinpaal.semaphore("one").acquire(), seinpaal.semaphore("held").acquire()];
    let tries =
        || [seinpaal.semaphore("two").try_acquire(), seinpaal.semaphore("held").try_acquire()];
    let hour = Duration::from_secs(3600);
    let ticket = Ticket(7);
    macro_rules! of_name {
        ($method:ident $(, $argument:expr)*) => {{
            let name = name.clone();
            request(stringify!($method), async move { name.$method($($argument),*).await })
        }};
    }
    vec![
        request("acquire", name.acquire()),
        request("acquire with a timeout", name.acquire().timeout(hour)),
        request("acquire at a name of its own", seinpaal.semaphore("free").acquire()),
        request("lock", mutex.lock()),
        request("read", rwlock.read()),
        request("write", rwlock.write()),
        request("attach", name.attach(ticket)),
        request("acquire all", seinpaal.acquire_all(all())),
        request("acquire all with a timeout", seinpaal.acquire_all(all()).timeout(hour)),
        request("try acquire", name.try_acquire()),
        request("try lock", mutex.try_lock()),
        request("try acquire all", seinpaal.try_acquire_all(tries())),
        of_name!(stored_limit),
        of_name!(set_limit, 3),
        of_name!(unset_limit),
        of_name!(pause, "a test"),
        of_name!(resume),
        of_name!(evict, ticket),
        of_name!(snapshot),
        of_name!(renew_ticket, ticket, Duration::from_secs(9)),
        of_name!(release_ticket, ticket),
        {
            let seinpaal = seinpaal.clone();
            request("list", async move { seinpaal.list("").await })
        },
    ]
}

/// Every kind of request about queues that can be made at any time.
fn of_queues(seinpaal: &Seinpaal) -> Vec<Request> {
    let queue = seinpaal.queue("queue");
    let worker = seinpaal.queue("worked").worker(2, async |_| Ok::<(), std::io::Error>(()));
    let pushes = queue.push_all([Push::new("x"), Push::new("y")]);
    let id = ItemId(7);
    macro_rules! of_queue {
        ($method:ident $(, $argument:expr)*) => {{
            let queue = queue.clone();
            request(stringify!($method), async move { queue.$method($($argument),*).await })
        }};
    }
    vec![
        request("push", queue.push("x")),
        request("push all", async move { pushes.await.into_iter().next().expect("two") }),
        request("pop", queue.pop()),
        request("pop with a timeout", queue.pop().timeout(Duration::from_secs(3600))),
        request("pop many", queue.pop_many(9)),
        request("try pop", queue.try_pop()),
        request("work", worker.run()),
        of_queue!(snapshot),
        of_queue!(limit, Some(3)),
        of_queue!(group_limit, None),
        of_queue!(pause, "a test"),
        of_queue!(resume),
        of_queue!(dead, None, 10),
        of_queue!(replay, id),
        of_queue!(drop_dead, id),
        of_queue!(cancel, id),
        of_queue!(purge),
        of_queue!(purge_dead),
        {
            let seinpaal = seinpaal.clone();
            request("queues", async move { seinpaal.queues("").await })
        },
    ]
}

fn every_kind(seinpaal: &Seinpaal) -> Vec<Request> {
    of_permits(seinpaal).into_iter().chain(of_queues(seinpaal)).collect()
}

struct Unheard;

impl Wake for Unheard {
    fn wake(self: Arc<Self>) {}
}

/// Sends every request, and returns the requests that wait.
fn begin(requests: Vec<Request>) -> Vec<Request> {
    let waker = Waker::from(Arc::new(Unheard));
    let mut context = Context::from_waker(&waker);
    let is_waiting =
        |(_, future): &mut Request| future.as_mut().poll(&mut context) == Poll::Pending;
    let mut requests = requests;
    requests.extract_if(.., is_waiting).collect()
}

fn assert_closed(kind: &str, ended: &Ended) {
    let is_closed = ended.as_ref().is_err_and(|error| error.contains("the connection is closed"));
    assert!(is_closed, "{kind}: {ended:?}");
}

async fn assert_all_closed(requests: Vec<Request>) {
    let ends = requests.into_iter().map(async |(kind, future)| (kind, future.await));
    for (kind, ended) in join_all(ends).await {
        assert_closed(kind, &ended);
    }
}

#[tokio::test]
async fn every_kind_of_request_under_way_to_a_silent_store_ends_when_the_connection_is_closed() {
    let server = RedisServer::start();
    let seinpaal = Seinpaal::connect(&server.socket_url("")).await.expect("connected");
    let in_hand = InHand::take(&seinpaal).await;
    server.pause();
    let requests: Vec<_> = every_kind(&seinpaal).into_iter().chain(in_hand.requests()).collect();
    let count = requests.len();
    let waiting = begin(requests);
    assert_eq!(waiting.len(), count, "a silent store answers nothing");
    let closing = tokio::spawn({
        let seinpaal = seinpaal.clone();
        async move { seinpaal.close().await }
    });
    assert_all_closed(waiting).await;
    assert_all_closed(every_kind(&seinpaal)).await;
    server.resume();
    assert_eq!(closing.await.expect("it ends"), Ok(()));
}

#[tokio::test]
async fn a_waiter_is_told_when_the_connection_is_closed_and_leaves_the_line() {
    let server = RedisServer::start();
    let here = Seinpaal::connect(&server.socket_url("")).await.expect("connected");
    let there = Seinpaal::connect(&server.socket_url("")).await.expect("connected");
    let names = || [there.semaphore("held"), there.mutex("mutex").as_semaphore().clone()];
    let held = join_all(names().map(|name| name.acquire())).await;
    let waiting = vec![
        request("acquire", here.semaphore("held").acquire()),
        request("acquire with a timeout", {
            here.semaphore("held").acquire().timeout(Duration::from_secs(3600))
        }),
        request("lock", here.mutex("mutex").lock()),
        request("pop", here.queue("empty").pop()),
        request("work", {
            here.queue("worked").worker(2, async |_| Ok::<(), std::io::Error>(())).run()
        }),
    ];
    let waiting = begin(waiting);
    while there.semaphore("held").snapshot().await.expect("it answers").waiting_total < 2 {}
    assert_eq!(here.close().await, Ok(()));
    assert_all_closed(waiting).await;
    let seen = there.semaphore("held").snapshot().await.expect("it answers");
    assert_eq!((seen.waiting_total, seen.permits_held), (0, 1));
    drop(held);
}

#[tokio::test]
async fn what_is_in_hand_when_the_connection_is_closed_is_lost_by_that() {
    let seinpaal = Seinpaal::in_memory();
    let permit = seinpaal.semaphore("held").acquire().await.expect("granted");
    seinpaal.queue("q").push("x").await.expect("pushed");
    let item = seinpaal.queue("q").pop().await.expect("popped");
    assert_eq!(seinpaal.close().await, Ok(()));
    assert_eq!((permit.lost().await, item.lost().await), (Lost::Closed, Lost::Closed));
    assert_eq!(permit.release().await, Err(ReleaseError::Closed));
    assert_eq!(seinpaal.close().await, Ok(()), "closing twice is closing");
}

#[tokio::test]
async fn a_closed_connection_says_so_in_the_types_of_its_errors() {
    let seinpaal = Seinpaal::in_memory();
    let clone = seinpaal.clone();
    assert_eq!(seinpaal.close().await, Ok(()));
    let refused = clone.mutex("m").lock().await;
    assert!(matches!(&refused, Err(AcquireError::Closed)), "{refused:?}");
    assert!(refused.is_err_and(|error| error.is_unavailable() && !error.is_busy()));
    let refused = clone.queue("q").push("x").await;
    assert!(matches!(refused, Err(seinpaal::PushError::Closed)), "{refused:?}");
    let refused = clone.queue("q").pop().await;
    assert!(matches!(refused, Err(seinpaal::PopError::Closed)), "{refused:?}");
    let refused = clone.semaphore("s").set_limit(3).await;
    assert!(matches!(refused, Err(seinpaal::AdminError::Closed)), "{refused:?}");
}

#[test]
fn a_driver_whose_runtime_has_ended_answers_that_the_connection_is_closed() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it");
    let (waiting, seinpaal) = runtime.block_on(async {
        let seinpaal = Seinpaal::in_memory_here();
        let permit = seinpaal.mutex("m").lock().await.expect("granted");
        std::mem::forget(permit);
        (begin(vec![request("lock", seinpaal.mutex("m").lock())]), seinpaal)
    });
    drop(runtime);
    futures_executor::block_on(async {
        assert_all_closed(waiting).await;
        assert_all_closed(every_kind(&seinpaal)).await;
    });
}
