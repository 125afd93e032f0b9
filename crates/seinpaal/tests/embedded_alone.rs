//! The embedded store that begins without a thread of its own: it starts a thread when it needs
//! one, and leaves as little behind as with one.
#![cfg(all(feature = "embedded", target_os = "linux"))]

mod processes;

use std::{
    fs::{self, File},
    os::unix::fs::MetadataExt,
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use processes::{
    client::{acquire, ask, ticket},
    unique,
};
use rustix::fs::{FlockOperation, flock};
use seinpaal::store::{News, Store, embedded::EmbeddedStore};
use seinpaal_proto::{Batch, Cause, Inbox, Name, Reply, Request, Ticket, What};
use seinpaal_rig::until;
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    task::spawn_blocking,
    time::timeout,
};

/// Far longer than any step here takes.
const BOUND: Duration = Duration::from_secs(30);

#[test]
fn a_client_process() {
    processes::client::run();
}

/// A directory with a store in it. A new gate looks as if a client had to wait at it a moment ago,
/// and then a store is not opened without a thread. So the gate gets an old date.
fn made() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    EmbeddedStore::open(dir.path(), Inbox(unique()), unbounded_channel().0).unwrap();
    let gate = File::options().write(true).open(dir.path().join("gate")).unwrap();
    gate.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    dir
}

async fn open(dir: &Path) -> (Arc<EmbeddedStore>, Inbox, UnboundedReceiver<News>) {
    let (inbox, (news, heard)) = (Inbox(unique()), unbounded_channel());
    let opening = timeout(BOUND, EmbeddedStore::open_soon(dir, inbox, news));
    (opening.await.unwrap().unwrap(), inbox, heard)
}

fn in_place(store: &EmbeddedStore, me: Inbox, request: Request) -> Option<Reply> {
    let requests = vec![request];
    let batch = Batch { name: Name::new("n").unwrap(), inbox: Some(me), fence_seen: 0, requests };
    let mut replies = store.call_in_place(&batch)?.unwrap().replies;
    replies.pop()
}

/// Executes a request in place if possible, as the driver does.
async fn call(store: &EmbeddedStore, me: Inbox, request: Request) -> Reply {
    match in_place(store, me, request.clone()) {
        Some(reply) => reply,
        None => ask(store, me, "n", request).await.unwrap(),
    }
}

fn is_there(dir: &Path, dead: Inbox) -> bool {
    ["presence", "inbox"].iter().any(|folder| dir.join(folder).join(dead.to_string()).exists())
}

/// Returns whether a process waits for the lock of the gate. `->` marks such processes
/// (proc_locks(5)).
fn is_waited_at(gate: &File) -> bool {
    let inode = gate.metadata().unwrap().ino().to_string();
    let locks = fs::read_to_string("/proc/locks").unwrap();
    let mut waiting = locks.lines().filter(|lock| lock.contains("-> FLOCK"));
    waiting.any(|lock| lock.split_whitespace().any(|word| word.split(':').nth(2) == Some(&inode)))
}

#[tokio::test]
async fn a_store_that_comes_and_goes_clears_away_what_the_dead_left() {
    let dir = made();
    let dead = Inbox(unique());
    fs::write(dir.path().join("presence").join(dead.to_string()), "").unwrap();
    fs::write(dir.path().join("inbox").join(dead.to_string()), "").unwrap();
    let (store, me, _heard) = open(dir.path()).await;
    let granted = call(&store, me, acquire(1, 1, false)).await;
    assert!(matches!(granted, Reply::Granted(_)), "{granted:?}");
    call(&store, me, Request::Release { ticket: ticket(1), slots: None }).await;
    drop(store);
    until("what the dead and the store had is gone", || {
        !is_there(dir.path(), dead) && !is_there(dir.path(), me)
    });
}

#[tokio::test]
async fn a_holder_that_asks_for_nothing_more_hears_of_an_eviction() {
    let dir = made();
    let (store, me, mut heard) = open(dir.path()).await;
    call(&store, me, acquire(1, 1, false)).await;
    let other = Inbox(unique());
    let operator = EmbeddedStore::open(dir.path(), other, unbounded_channel().0).unwrap();
    let ticket = ticket(1);
    ask(&operator, other, "n", Request::Evict { ticket }).await.unwrap();
    let news = timeout(BOUND, heard.recv()).await.expect("it hears nothing").unwrap();
    let News::Wakeup(wakeup) = news else { panic!("{news:?}") };
    assert_eq!(wakeup.ticket, ticket);
    assert!(matches!(wakeup.what, What::Ended(Cause::Evicted)), "{:?}", wakeup.what);
}

#[tokio::test]
async fn a_store_whose_gate_is_locked_is_opened_once_the_gate_is_free() {
    let dir = made();
    let gate = File::open(dir.path().join("gate")).unwrap();
    flock(&gate, FlockOperation::LockExclusive).unwrap();
    let path = dir.path().to_owned();
    let opening = tokio::spawn(async move { open(&path).await });
    let gate = spawn_blocking(move || {
        until("somebody waits at the gate", || is_waited_at(&gate));
        gate
    });
    let gate = gate.await.unwrap();
    assert!(!opening.is_finished());
    flock(&gate, FlockOperation::Unlock).unwrap();
    let (store, me, _heard) = opening.await.unwrap();
    let granted = ask(&store, me, "n", acquire(1, 1, false)).await.unwrap();
    assert!(matches!(granted, Reply::Granted(_)), "{granted:?}");
}

#[tokio::test]
async fn a_request_that_waits_is_granted_when_the_holder_leaves() {
    let dir = made();
    let (holder, its, _unheard) = open(dir.path()).await;
    call(&holder, its, acquire(1, 1, false)).await;
    let (waiter, me, mut heard) = open(dir.path()).await;
    assert_eq!(in_place(&waiter, me, acquire(2, 1, true)), None, "it would have to look who lives");
    let queued = ask(&waiter, me, "n", acquire(2, 1, true)).await.unwrap();
    assert!(matches!(queued, Reply::Queued { .. }), "{queued:?}");
    drop(holder);
    let news = timeout(BOUND, heard.recv()).await.expect("it hears nothing").unwrap();
    let News::Wakeup(wakeup) = news else { panic!("{news:?}") };
    assert!(matches!(wakeup.what, What::Granted { .. }), "{:?}", wakeup.what);
}

#[tokio::test]
async fn a_name_that_many_programs_use_one_after_another_stays_small() {
    let dir = made();
    for program in 1..=150 {
        let (me, (news, _heard)) = (Inbox(unique()), unbounded_channel());
        let opening = EmbeddedStore::open_until_exit(dir.path(), me, news);
        let store = timeout(BOUND, opening).await.unwrap().unwrap();
        let ticket = Ticket(program << 32 | 1); // of a series of its own
        let granted = call(&store, me, acquire(ticket.0, 1, false)).await;
        assert!(matches!(granted, Reply::Granted(_)), "{granted:?}");
        call(&store, me, Request::Release { ticket, slots: None }).await;
    }
    let db = rusqlite::Connection::open(dir.path().join("seinpaal.db")).unwrap();
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'name'";
    let large: i64 = db.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(large, 0, "there are tables for large names");
}
