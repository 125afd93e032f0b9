//! Ten thousand holders and waiters, on every store.

use std::{fs, path::PathBuf, sync::Arc, time::Instant};

use seinpaal::{
    Seinpaal, Semaphore,
    store::{
        Store,
        embedded::EmbeddedStore,
        memory::{MemoryHub, MemoryStore},
        redis::RedisStore,
        url::StoreUrl,
    },
};
use seinpaal_proto::{
    Acquire, Batch, Enqueue, Inbox, Kind, Limit, LimitRule, Name, OnMismatch, Permits, Priority,
    Reply, Request, Series, Ticket, time::SECOND,
};
use tokio::{sync::mpsc, task::JoinSet};

use crate::{
    server::Server,
    table::{Table, text},
};

const MANY: u32 = 10_000;
const INBOX: Inbox = Inbox(0x5e19);

/// The process or files whose size is measured.
enum Place<'a> {
    Server(&'a mut Server),
    Files(PathBuf),
    Process,
}

pub(crate) async fn all(server: &mut Server, table: &mut Table) {
    let (directory, url) = (tempfile::tempdir().expect("a directory"), server.url());
    let path = directory.path().to_owned();
    let file = format!("file://{}", path.display());
    let (news, _kept) = mpsc::unbounded_channel();
    let address = StoreUrl::parse(&url).expect("the URL of a server");
    let redis = RedisStore::open(address, INBOX, news.clone()).await.expect("the store is there");
    of_one("redis", &url, redis, Place::Server(server), table).await;
    let embedded = EmbeddedStore::open(&path, INBOX, news.clone()).expect("the store opens");
    of_one("embedded", &file, embedded, Place::Files(path), table).await;
    let memory = MemoryStore::open(&MemoryHub::process(""), INBOX, news);
    of_one("memory", "memory:", memory, Place::Process, table).await;
}

async fn of_one(kind: &str, url: &str, raw: Arc<dyn Store>, mut place: Place<'_>, table: &Table) {
    let seinpaal = Seinpaal::connect(url).await.expect("the store is there");
    one_request(kind, &seinpaal, table).await;
    holders(kind, &seinpaal, &mut place, table).await;
    waiters(kind, &seinpaal, &mut place, table).await;
    raw_waiters(kind, raw.as_ref(), &mut place, table).await;
}

async fn one_request(kind: &str, seinpaal: &Seinpaal, table: &Table) {
    let semaphore = seinpaal.semaphore("one request").limit(MANY);
    let start = Instant::now();
    let permit = semaphore.acquire().permits(MANY).await.expect("permits");
    let (acquired, start) = (start.elapsed(), Instant::now());
    assert_eq!(permit.slots().count(), MANY);
    permit.release().await.expect("it was held");
    let figure = format!("{} + {}", text(acquired), text(start.elapsed()));
    let what = format!("{kind}: 10 000 permits in one request, acquire + release");
    table.figure(&what, &figure, "npm: 3 999 at most; overflows beyond");
}

async fn holders(kind: &str, seinpaal: &Seinpaal, place: &mut Place<'_>, table: &Table) {
    let semaphore = seinpaal.semaphore("holders").limit(MANY + 1);
    let (before, start) = (place.size(), Instant::now());
    let tasks: JoinSet<_> = (0..MANY).map(|_| semaphore.acquire().into_future()).collect();
    let permits = tasks.join_all().await;
    let (taken, grown) = (start.elapsed(), place.text(before));
    let another = another(&semaphore).await;
    let start = Instant::now();
    let permits = permits.into_iter().map(|permit| permit.expect("a permit").release());
    let released = permits.collect::<JoinSet<_>>().join_all().await;
    assert!(released.iter().all(Result::is_ok));
    let figure = format!("{} + {}, {}", text(taken), text(start.elapsed()), grown);
    table.figure(&format!("{kind}: 10 000 holders come + go (tasks)"), &figure, "");
    table.figure(&format!("{kind}: acquire + release beside 10 000 holders"), &another, "");
}

/// All waiters want more permits than are free, so that one more permit can still be granted to a
/// request of higher rank.
async fn waiters(kind: &str, seinpaal: &Seinpaal, place: &mut Place<'_>, table: &Table) {
    let semaphore = seinpaal.semaphore("waiters").limit(2);
    let permit = semaphore.acquire().await.expect("a permit");
    let (queued, mut is_queued) = mpsc::unbounded_channel();
    let (before, start) = (place.size(), Instant::now());
    let mut tasks = JoinSet::new();
    for _ in 0..MANY {
        let queued = queued.clone();
        let acquire =
            semaphore.acquire().permits(2).on_queued(move |_| queued.send(()).unwrap_or_default());
        tasks.spawn(acquire.into_future());
    }
    for _ in 0..MANY {
        is_queued.recv().await.expect("they queue");
    }
    let (came, grown) = (start.elapsed(), place.text(before));
    let another = another(&semaphore).await;
    let start = Instant::now();
    tasks.shutdown().await;
    while semaphore.snapshot().await.expect("a snapshot").waiting_total > 0 {}
    let figure = format!("{} + {}, {}", text(came), text(start.elapsed()), grown);
    table.figure(&format!("{kind}: 10 000 waiters come + go (tasks)"), &figure, "");
    table.figure(&format!("{kind}: acquire + release beside 10 000 waiters"), &another, "");
    permit.release().await.expect("it was held");
}

async fn another(semaphore: &Semaphore) -> String {
    let start = Instant::now();
    let permit = semaphore.acquire().priority(100).await.expect("a permit");
    permit.release().await.expect("it was held");
    text(start.elapsed())
}

async fn raw_waiters(kind: &str, store: &dyn Store, place: &mut Place<'_>, table: &Table) {
    send(store, (0..=0).map(|ticket| acquire(ticket, 1))).await;
    let (before, start) = (place.size(), Instant::now());
    send(store, (1..=MANY).map(|ticket| acquire(ticket, 1))).await;
    let (came, grown, start) = (start.elapsed(), place.text(before), Instant::now());
    send(store, (0..=MANY).map(release)).await;
    let figure = format!("{} + {}, {}", text(came), text(start.elapsed()), grown);
    table.figure(
        &format!("{kind}: 10 000 tickets wait, then each holds and releases"),
        &figure,
        "",
    );
}

async fn send(store: &dyn Store, requests: impl Iterator<Item = Request>) {
    let name = Name::new("raw").expect("a name");
    let mut requests = requests.peekable();
    while requests.peek().is_some() {
        let requests = requests.by_ref().take(Batch::MOST).collect();
        let batch = Batch { name: name.clone(), inbox: Some(INBOX), fence_seen: 0, requests };
        let replies = store.call(&batch).await.expect("the store answers").replies;
        assert!(replies.iter().all(is_fine), "{replies:?}");
    }
}

fn is_fine(reply: &Reply) -> bool {
    matches!(reply, Reply::Granted(_) | Reply::Queued { .. } | Reply::Released { .. })
}

/// As many tickets to a series, and so to a lease, as a session has.
fn nth(number: u32) -> Ticket {
    let most = Batch::MOST_UNDER_A_LEASE as u32;
    Series(u128::from(1 + number / most) << 32).ticket(1 + number % most)
}

/// No ticket ends while this runs.
fn acquire(number: u32, limit: u32) -> Request {
    let limit = Limit::new(limit).expect("a limit");
    Request::Acquire(Acquire {
        ticket: nth(number),
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        wishes: seinpaal_proto::SlotNames::none(),
        limit: Some(LimitRule { limit, on_mismatch: OnMismatch::Refuse }),
        enqueue: Enqueue::Yes { max_waiting: None },
        priority: Priority::default(),
        ttl: 600 * SECOND,
        margin: 150 * SECOND,
        waiter_ttl: 600 * SECOND,
        not_after: None,
        about: String::new(),
    })
}

fn release(number: u32) -> Request {
    Request::Release { ticket: nth(number), slots: None }
}

impl Place<'_> {
    fn size(&mut self) -> i64 {
        let size = match self {
            Self::Server(server) => server.memory(),
            Self::Files(path) => size_of_files(path),
            Self::Process => resident(),
        };
        i64::try_from(size).expect("less than that")
    }

    /// Shows the cost. Files and processes do not shrink again, so for them it is the size and not
    /// the growth.
    fn text(&mut self, before: i64) -> String {
        let now = self.size();
        let (bytes, of) = match self {
            Self::Server(_) => (now - before, "more in the server"),
            Self::Files(_) => (now, "of files"),
            Self::Process => (now, "in this process, the waiting tasks among it"),
        };
        format!("{:.1} MB {of}", bytes as f64 / 1e6)
    }
}

fn size_of_files(path: &PathBuf) -> u64 {
    let files = fs::read_dir(path).expect("a directory").flatten();
    files.filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum()
}

fn resident() -> u64 {
    let text = fs::read_to_string("/proc/self/status").expect("the kernel counts");
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    number.expect("a number of kilobytes") * 1024
}
