//! The embedded store seen from one process.
#![cfg(all(feature = "embedded", target_os = "linux"))]

mod processes;

use std::{
    fs,
    path::Path,
    sync::{Arc, atomic::AtomicU64},
};

use processes::{
    client::{acquire, ask, files, ticket},
    unique,
};
use rustix::fs::{CWD, Mode, mkfifoat};
use seinpaal::store::{
    News, Presence, Store,
    clock::Clock,
    embedded::{EmbeddedStore, OpenOptions},
};
use seinpaal_conformance::forbid_scans;
use seinpaal_proto::{
    Batch, Cause, Configure, Fence, Inbox, Limit, Name, Reply, Request, Ticket, What,
};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The files of a client that is alive.
fn sign(inbox: Inbox) -> [String; 2] {
    [inbox.to_string(), format!("{inbox}.hangup")]
}

struct Client {
    inbox: Inbox,
    store: Arc<EmbeddedStore>,
    news: UnboundedReceiver<News>,
}

impl Client {
    /// The ticket that the next news reports as granted.
    async fn granted(&mut self) -> Ticket {
        match self.news.recv().await {
            Some(News::Wakeup(wakeup)) if matches!(wakeup.what, What::Granted { .. }) => {
                wakeup.ticket
            }
            other => panic!("no grant: {other:?}"),
        }
    }

    fn open(dir: &Path) -> Self {
        Self::open_with_clock(dir, Clock::System)
    }

    fn open_with_clock(dir: &Path, clock: Clock) -> Self {
        let inbox = Inbox(unique());
        let (send, news) = unbounded_channel();
        let options =
            OpenOptions { clock, on_connection: Some(forbid_scans), ..OpenOptions::default() };
        Self { inbox, store: EmbeddedStore::open_with(dir, options, inbox, send).unwrap(), news }
    }

    async fn ask(&self, name: &str, request: Request) -> Reply {
        ask(&self.store, self.inbox, name, request).await.unwrap()
    }

    async fn fence(&self, name: &str, ticket: u128) -> Fence {
        match self.ask(name, acquire(ticket, 1, false)).await {
            Reply::Granted(grant) => grant.fence,
            other => panic!("not granted: {other:?}"),
        }
    }
}

fn release(number: u128) -> Request {
    Request::Release { ticket: ticket(number), slots: None }
}

/// Makes a reboot as the store sees it: the kernel has another boot id.
fn reboot(dir: &Path) {
    let db = rusqlite::Connection::open(dir.join("seinpaal.db")).unwrap();
    db.execute("UPDATE boot SET id = 'another'", []).unwrap();
}

#[tokio::test]
async fn a_release_grants_to_the_first_in_line_and_tells_it() {
    let dir = tempfile::tempdir().unwrap();
    let (a, mut b) = (Client::open(dir.path()), Client::open(dir.path()));
    a.fence("n", 1).await;
    assert!(matches!(b.ask("n", acquire(2, 1, true)).await, Reply::Queued { .. }));
    assert!(matches!(a.ask("n", release(1)).await, Reply::Released { .. }));
    assert_eq!(b.granted().await, ticket(2));
    let Reply::Granted(grant) = b.ask("n", acquire(2, 1, true)).await else { panic!("no grant") };
    assert_eq!(grant.valid_for, None, "as long as it lives");
}

#[tokio::test]
async fn a_client_is_told_of_its_own_tickets_too() {
    let dir = tempfile::tempdir().unwrap();
    let mut a = Client::open(dir.path());
    a.fence("n", 1).await;
    assert!(matches!(a.ask("n", acquire(2, 1, true)).await, Reply::Queued { .. }));
    a.ask("n", Request::Evict { ticket: ticket(1) }).await;
    let Some(News::Wakeup(wakeup)) = a.news.recv().await else { panic!("no wakeup") };
    assert_eq!((wakeup.ticket, wakeup.what), (ticket(1), What::Ended(Cause::Evicted)));
    assert_eq!(a.granted().await, ticket(2));
}

#[tokio::test]
async fn a_dropped_store_frees_what_it_held() {
    let dir = tempfile::tempdir().unwrap();
    let (a, mut b) = (Client::open(dir.path()), Client::open(dir.path()));
    a.fence("n", 1).await;
    assert!(matches!(b.ask("n", acquire(2, 1, true)).await, Reply::Queued { .. }));
    drop(a);
    assert_eq!(b.granted().await, ticket(2));
    assert_eq!(files(&dir.path().join("presence")), sign(b.inbox));
}

#[tokio::test]
async fn a_child_is_on_record_until_it_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let a = Client::open(dir.path());
    let record = || fs::read_to_string(dir.path().join("presence").join(a.inbox.to_string()));
    a.store.forget_child().unwrap();
    a.store.record_child(std::process::id()).unwrap();
    let me = format!(" {} ", std::process::id());
    assert_eq!(record().unwrap().matches(&me).count(), 2, "{:?}", record());
    a.store.forget_child().unwrap();
    assert_eq!(record().unwrap(), "", "the descriptors alone count");
}

#[tokio::test]
async fn a_process_that_opens_and_closes_the_file_of_a_holder_ends_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (Client::open(dir.path()), Client::open(dir.path()));
    a.fence("n", 1).await;
    let file = dir.path().join("presence").join(a.inbox.to_string());
    drop(fs::File::options().read(true).write(true).open(&file).unwrap());
    fs::copy(&file, dir.path().join("copy")).unwrap();
    assert!(matches!(b.ask("n", acquire(2, 1, false)).await, Reply::Busy { .. }));
}

#[tokio::test]
async fn a_holder_whose_sign_of_life_is_of_an_earlier_build_is_not_taken_for_dead() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (Client::open(dir.path()), Client::open(dir.path()));
    a.fence("n", 1).await;
    let file = dir.path().join("presence").join(a.inbox.to_string());
    fs::remove_file(&file).unwrap();
    mkfifoat(CWD, &file, Mode::RUSR | Mode::WUSR).unwrap();
    assert!(matches!(b.ask("n", acquire(2, 1, true)).await, Reply::Queued { .. }));
    a.ask("n", Request::Release { ticket: ticket(1), slots: None }).await;
    let mut b = b;
    assert_eq!(b.granted().await, ticket(2));
}

#[tokio::test]
async fn a_death_is_noticed_at_every_name_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let (a, mut b) = (Client::open(dir.path()), Client::open(dir.path()));
    for (name, ticket) in [("x", 1), ("y", 2)] {
        a.fence(name, ticket).await;
        assert!(matches!(b.ask(name, acquire(ticket + 10, 1, true)).await, Reply::Queued { .. }));
    }
    drop(a);
    let mut tickets = Vec::new();
    for _ in 0..2 {
        tickets.push(b.granted().await);
    }
    tickets.sort_unstable();
    assert_eq!(tickets, [11, 12].map(ticket));
}

#[tokio::test]
async fn a_reboot_voids_leases_and_keeps_what_was_configured() {
    let dir = tempfile::tempdir().unwrap();
    let a = Client::open(dir.path());
    let before = a.fence("pinned", 1).await;
    let also_before = a.fence("plain", 2).await;
    let limit = Configure::Limit(Limit::new(1).unwrap());
    a.ask("pinned", Request::Configure(limit)).await;
    reboot(dir.path());
    let b = Client::open(dir.path());
    let listed = b.store.list("").await.unwrap();
    let [(name, snapshot)] = &listed[..] else { panic!("{listed:?}") };
    assert_eq!((name.as_str(), snapshot.limit, snapshot.pinned), ("pinned", 1, Some(1)));
    assert_eq!((snapshot.held, snapshot.holders_total), (0, 0));
    assert!(b.fence("pinned", 3).await > before, "the lease is void, the fence grows");
    assert!(b.fence("plain", 4).await > also_before);
}

#[tokio::test]
async fn a_limit_of_nothing_stays_over_a_reboot_and_of_other_names_no_row_does() {
    let dir = tempfile::tempdir().unwrap();
    let a = Client::open(dir.path());
    let limit = Configure::Limit(Limit::new(0).unwrap());
    a.ask("closed", Request::Configure(limit)).await;
    a.fence("plain", 1).await;
    reboot(dir.path());
    let listed = Client::open(dir.path()).store.list("").await.unwrap();
    let pinned: Vec<_> = listed.iter().map(|(name, it)| (name.as_str(), it.pinned)).collect();
    assert_eq!(pinned, [("closed", Some(0))]);
    let db = rusqlite::Connection::open(dir.path().join("seinpaal.db")).unwrap();
    let sql = "SELECT count(*) FROM small";
    let names: i64 = db.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(names, 1);
}

#[tokio::test]
async fn fences_grow_over_a_reboot_that_set_the_wall_clock_back() {
    let dir = tempfile::tempdir().unwrap();
    let clock = |now| Clock::Manual(Arc::new(AtomicU64::new(now)));
    let far = 4_000_000_000_000_000; // the year 2096
    let before = Client::open_with_clock(dir.path(), clock(far)).fence("n", 1).await;
    reboot(dir.path());
    assert!(Client::open(dir.path()).fence("n", 2).await > before);
}

#[tokio::test]
async fn names_are_listed_in_order_if_there_is_anything_about_them() {
    let dir = tempfile::tempdir().unwrap();
    let a = Client::open(dir.path());
    for (name, ticket) in [("b/2", 1), ("b/10", 2), ("a", 3), ("c", 4), ("b/idle", 5)] {
        a.fence(name, ticket).await;
    }
    a.ask("b/idle", release(5)).await;
    a.ask("b/10", acquire(6, 1, true)).await;
    a.ask("b/paused", Request::Configure(Configure::Pause("why".to_owned()))).await;
    let listed = a.store.list("b/").await.unwrap();
    let names: Vec<&str> = listed.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["b/10", "b/2", "b/paused"]);
    assert_eq!((listed[0].1.holders_total, listed[0].1.waiters.len()), (1, 1));
    assert!(listed[0].1.holders.is_empty());
}

#[tokio::test]
async fn names_that_nobody_uses_any_more_go_one_by_one_as_others_are_used() {
    let dir = tempfile::tempdir().unwrap();
    let now = Arc::new(AtomicU64::new(1_000_000));
    let a = Client::open_with_clock(dir.path(), Clock::Manual(Arc::clone(&now)));
    for ticket in 1..=20 {
        let name = format!("user {ticket}");
        a.fence(&name, ticket).await;
        a.ask(&name, release(ticket)).await;
    }
    let db = rusqlite::Connection::open(dir.path().join("seinpaal.db")).unwrap();
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM small"), 20);
    now.store(u64::pow(10, 12), std::sync::atomic::Ordering::SeqCst);
    for _ in 0..10 {
        a.ask("another", Request::Inspect { rows: 0 }).await;
    }
    for table in ["small", "small_of"] {
        assert_eq!(count(&format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
    assert_eq!(count("SELECT count(*) FROM sqlite_schema WHERE name IN ('name', 'memory')"), 0);
}

#[tokio::test]
async fn leases_without_a_client_run_out_by_time_and_those_with_one_do_not() {
    let dir = tempfile::tempdir().unwrap();
    let now = Arc::new(AtomicU64::new(1_000_000));
    let a = Client::open_with_clock(dir.path(), Clock::Manual(Arc::clone(&now)));
    let detached = Batch {
        name: Name::new("detached").unwrap(),
        inbox: None,
        fence_seen: 0,
        requests: vec![acquire(1, 1, false)],
    };
    a.store.call(&detached).await.unwrap();
    a.fence("own", 2).await;
    now.store(u64::pow(10, 12), std::sync::atomic::Ordering::SeqCst);
    let b = Client::open_with_clock(dir.path(), Clock::Manual(now));
    // The ledger's clock is bounded by the margin: several looks bring it to the end of the lease.
    let mut reply = b.ask("detached", acquire(3, 1, true)).await;
    for _ in 0..8 {
        reply = b.ask("detached", acquire(3, 1, true)).await;
    }
    assert!(matches!(reply, Reply::Granted(_)), "{reply:?}");
    assert!(matches!(b.ask("own", acquire(4, 1, false)).await, Reply::Busy { .. }));
}

#[tokio::test]
async fn a_directory_with_a_very_long_path_works() {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("d".repeat(200)).join("e".repeat(200));
    let (a, mut b) = (Client::open(&deep), Client::open(&deep));
    a.fence("n", 1).await;
    b.ask("n", acquire(2, 1, true)).await;
    a.ask("n", release(1)).await;
    assert_eq!(b.granted().await, ticket(2));
}
