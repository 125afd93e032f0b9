//! Queues in the embedded store: which workers are called, what deaths and reboots leave, and what
//! the disk has.
#![cfg(all(feature = "embedded", target_os = "linux"))]

mod processes;

use std::{
    fs, io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
};

use processes::{
    Client,
    queue::{Hand, push, texts, told},
    unique,
};
use seinpaal::store::{
    Certainty, News, Store, StoreErrorKind,
    clock::Clock,
    embedded::{EmbeddedStore, OpenOptions},
};
use seinpaal_conformance::forbid_scans;
use seinpaal_proto::{
    Inbox, Name,
    queue::{Batch, Configure, Delivery, How, Reply, Request},
    time::SECOND,
};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

#[test]
fn a_client_process() {
    processes::client::run();
}

struct Worker {
    store: Arc<EmbeddedStore>,
    hand: Hand,
    news: UnboundedReceiver<News>,
}

impl Worker {
    fn open(dir: &Path) -> Self {
        Self::open_with_clock(dir, Clock::System)
    }

    fn open_with_clock(dir: &Path, clock: Clock) -> Self {
        let (inbox, (send, news)) = (Inbox(unique()), unbounded_channel());
        let options =
            OpenOptions { clock, on_connection: Some(forbid_scans), ..OpenOptions::default() };
        let store = EmbeddedStore::open_with(dir, options, inbox, send).unwrap();
        Self { hand: Hand::new(Arc::clone(&store), inbox), store, news }
    }

    async fn push(&mut self, text: &str) {
        let reply = self.hand.ask("q", Request::Push(push(text))).await;
        assert!(matches!(reply, Reply::Pushed { .. }), "{reply:?}");
    }

    async fn work(&mut self, items: u32) -> String {
        texts(&self.hand.pop("q", items).await)
    }

    async fn told(&mut self) -> &'static str {
        loop {
            match self.news.recv().await {
                Some(News::Queue(wakeup)) => {
                    if let Some(told) = told(&wakeup) {
                        return told;
                    }
                }
                other => panic!("not about a queue: {other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_push_calls_an_idle_worker_in_another_client_and_in_the_own_one() {
    let dir = tempfile::tempdir().unwrap();
    let (mut a, mut b) = (Worker::open(dir.path()), Worker::open(dir.path()));
    assert_eq!(b.work(1).await, "");
    a.push("one").await;
    assert_eq!(b.told().await, "news called");
    assert_eq!(b.work(1).await, " one 1");
    assert_eq!(a.work(1).await, "");
    a.push("two").await;
    assert_eq!(a.told().await, "news called");
    assert_eq!(a.work(1).await, " two 1");
}

#[tokio::test]
async fn what_a_closed_client_worked_on_goes_to_an_idle_worker_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let (mut a, mut b) = (Worker::open(dir.path()), Worker::open(dir.path()));
    a.push("one").await;
    assert_eq!(a.work(1).await, " one 1");
    assert_eq!(b.work(1).await, "");
    drop(a);
    assert_eq!(b.told().await, "news called");
    assert_eq!(b.work(1).await, " one 2");
}

#[test]
fn what_a_killed_worker_worked_on_goes_to_idle_workers_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let [mut producer, mut first, mut second] = [1, 2, 3].map(|_| Client::start(dir.path()));
    // Both workers stand in line already when another begins to work.
    assert_eq!(first.order("work q 1"), "works on");
    assert_eq!(second.order("work q 1"), "works on");
    assert_eq!(producer.order("push q a"), "pushed");
    assert_eq!(first.line(), "news called");
    assert_eq!(first.order("work q 1"), "works on a 1");
    first.kill();
    assert_eq!(second.line(), "news called");
    assert_eq!(second.order("work q 1"), "works on a 2");
    second.kill();
    assert_eq!(producer.order("work q 1"), "works on a 3");
}

#[test]
fn a_worker_that_will_not_wait_gets_what_a_dead_one_worked_on() {
    let dir = tempfile::tempdir().unwrap();
    let (mut killed, mut other) = (Client::start(dir.path()), Client::start(dir.path()));
    assert_eq!(killed.order("push q a"), "pushed");
    assert_eq!(killed.order("work q 1"), "works on a 1");
    killed.kill();
    assert_eq!(other.order("work q 1"), "works on a 2");
    assert_eq!(other.order("acknowledge q"), "acknowledged 1");
}

#[test]
fn the_place_of_a_killed_idle_worker_goes_to_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let [mut first, mut second, mut producer] = [1, 2, 3].map(|_| Client::start(dir.path()));
    assert_eq!(first.order("work q 1"), "works on");
    assert_eq!(second.order("work q 1"), "works on");
    first.kill();
    assert_eq!(producer.order("push q a"), "pushed");
    assert_eq!(second.line(), "news called");
}

#[test]
fn a_push_that_was_answered_survives_the_death_of_every_process() {
    let dir = tempfile::tempdir().unwrap();
    let mut producer = Client::start(dir.path());
    for text in ["a", "b", "c"] {
        assert_eq!(producer.order(&format!("push q {text}")), "pushed");
    }
    producer.kill();
    let mut worker = Client::start(dir.path());
    assert_eq!(worker.order("work q 5"), "works on a 1 b 1 c 1");
}

#[tokio::test]
async fn a_reboot_keeps_items_and_returns_those_in_work_with_their_delivery_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut a = Worker::open(dir.path());
    a.push("one").await;
    a.push("two").await;
    assert_eq!(a.work(1).await, " one 1");
    let db = rusqlite::Connection::open(dir.path().join("seinpaal.db")).unwrap();
    db.execute("UPDATE boot SET id = 'another'", []).unwrap();
    let mut b = Worker::open(dir.path());
    assert_eq!(b.work(3).await, " one 2 two 1");
}

/// Sessions are void after a reboot, and a queue that has nothing else goes with them.
#[tokio::test]
async fn of_a_queue_that_is_empty_and_not_configured_no_row_survives_a_reboot() {
    let dir = tempfile::tempdir().unwrap();
    let mut a = Worker::open(dir.path());
    a.push("one").await;
    let items = a.hand.pop("q", 1).await;
    let finish = Request::Finish { delivery: items[0].delivery, how: How::Acknowledge };
    a.hand.ask("q", finish).await;
    let paused = Request::Configure(Configure::Pause("why".to_owned()));
    a.hand.ask("paused", paused).await;
    let db = rusqlite::Connection::open(dir.path().join("seinpaal.db")).unwrap();
    db.execute("UPDATE boot SET id = 'another'", []).unwrap();
    drop(Worker::open(dir.path()));
    let mut find = db.prepare("SELECT name FROM queue").unwrap();
    let left = find.query_map([], |row| row.get(0)).unwrap().collect::<Result<Vec<String>, _>>();
    assert_eq!(left.unwrap(), ["paused"]);
}

/// A client that has the answer to a push finds the item on the disk as it was at that
/// confirmation.
#[tokio::test]
async fn a_push_is_answered_when_the_disk_has_it() {
    let (dir, disk) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (from, to) = (dir.path().to_owned(), disk.path().to_owned());
    let (begun, begins) = mpsc::channel();
    let sync = move || {
        begun.send(()).unwrap();
        for file in ["seinpaal.db", "seinpaal.db-wal"] {
            fs::copy(from.join(file), to.join(file))?;
        }
        Ok(())
    };
    let (inbox, (send, _news)) = (Inbox(unique()), unbounded_channel());
    let store =
        EmbeddedStore::open_with(dir.path(), OpenOptions::with_disk(sync), inbox, send).unwrap();
    let mut hand = Hand::new(store, inbox);
    hand.ask("q", Request::Push(push("kept"))).await;
    assert_eq!(begins.try_iter().count(), 1, "one push, one wait for the disk");
    let items = hand.pop("q", 1).await;
    let finish = Request::Finish { delivery: items[0].delivery, how: How::Acknowledge };
    hand.ask("q", finish).await;
    assert_eq!(begins.try_iter().count(), 0, "workers do not wait for the disk");
    // The power fails: the acknowledgement is lost, but the item is not.
    assert_eq!(Worker::open(disk.path()).work(1).await, " kept 1");
}

#[tokio::test]
async fn many_pushes_in_one_batch_wait_for_the_disk_once() {
    let dir = tempfile::tempdir().unwrap();
    let count = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&count);
    let sync = move || {
        counter.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    let (inbox, (send, _news)) = (Inbox(unique()), unbounded_channel());
    let store =
        EmbeddedStore::open_with(dir.path(), OpenOptions::with_disk(sync), inbox, send).unwrap();
    let pushes = (0..64).map(|_| Request::Push(push("x"))).collect();
    Hand::new(store, inbox).send("q", pushes).await.unwrap();
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_disk_that_fails_is_told_and_the_push_may_have_happened() {
    let dir = tempfile::tempdir().unwrap();
    let sync = || Err(io::Error::other("broken"));
    let (inbox, (send, _news)) = (Inbox(unique()), unbounded_channel());
    let store =
        EmbeddedStore::open_with(dir.path(), OpenOptions::with_disk(sync), inbox, send).unwrap();
    let mut hand = Hand::new(store, inbox);
    let error = hand.send("q", vec![Request::Push(push("x"))]).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.certainty()),
        (StoreErrorKind::Unreachable, Certainty::Unknown)
    );
    assert!(error.to_string().contains("look after that disk"), "{error}");
    assert_eq!(texts(&hand.pop("q", 1).await), " x 1");
}

#[tokio::test]
async fn queues_are_listed_in_order_if_there_is_anything_about_them() {
    let dir = tempfile::tempdir().unwrap();
    let mut a = Worker::open(dir.path());
    for queue in ["b/2", "b/10", "a", "b/done"] {
        a.hand.ask(queue, Request::Push(push("x"))).await;
    }
    let popped = a.hand.pop("b/done", 1).await;
    a.hand.ask("b/done", acknowledge(popped[0].delivery)).await;
    a.hand.ask("b/paused", Request::Configure(Configure::Pause("why".into()))).await;
    let listed = a.store.list_queues("b/").await.unwrap();
    let names: Vec<&str> = listed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["b/10", "b/2", "b/paused"]);
    assert_eq!(listed[0].1.ready, 1);
}

fn acknowledge(delivery: Delivery) -> Request {
    Request::Finish { delivery, how: How::Acknowledge }
}

#[tokio::test]
async fn a_queue_with_only_memories_left_costs_nothing_after_a_while() {
    let dir = tempfile::tempdir().unwrap();
    let now = Arc::new(AtomicU64::new(1_800_000_000 * SECOND));
    let a = Worker::open_with_clock(dir.path(), Clock::Manual(Arc::clone(&now)));
    let used = |number, requests| Batch {
        name: Name::new("used").unwrap(),
        session: Inbox(5),
        number,
        not_after: now.load(Ordering::Relaxed) + 30 * SECOND,
        seen: 0,
        requests,
    };
    let replies = a.store.call_queue(&used(1, vec![Request::Push(push("x"))])).await.unwrap();
    let Reply::Pushed { id } = replies.replies[0] else { panic!("{replies:?}") };
    a.store.call_queue(&used(2, vec![Request::Cancel { id, spares_work: false }])).await.unwrap();
    now.fetch_add(61 * SECOND, Ordering::Relaxed);
    let other = Batch { name: Name::new("other").unwrap(), ..used(1, Vec::new()) };
    a.store.call_queue(&other).await.unwrap();
    let db = rusqlite::Connection::open(dir.path().join("seinpaal.db")).unwrap();
    let left = |table: &str| -> i64 {
        let sql = format!(
            "SELECT count(*) FROM {table} WHERE queue IN
            (SELECT id FROM queue WHERE name = 'used')"
        );
        db.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!((left("session"), left("item"), left("payload")), (0, 0, 0));
    let names: i64 = db
        .query_row("SELECT count(*) FROM queue WHERE name = 'used'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(names, 0);
}
