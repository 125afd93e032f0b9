//! The embedded store: what happens when clients at the head of a line die with those that hold,
//! and where many hold.
#![cfg(all(feature = "embedded", target_os = "linux"))]

mod processes;

use std::{path::Path, sync::Arc, thread, time::Instant};

use processes::{
    BOUND, Client,
    client::{acquire, ask},
};
use seinpaal::store::{News, embedded::EmbeddedStore};
use seinpaal_proto::{Inbox, Reply, Wakeup, What};
use tokio::{sync::mpsc::unbounded_channel, time::timeout};

#[test]
fn a_client_process() {
    processes::client::run();
}

/// The holder dies last: by then nobody lives who watches it.
#[test]
fn a_waiter_is_served_though_the_holder_and_all_before_it_in_line_were_killed() {
    let dir = tempfile::tempdir().unwrap();
    let _first = first_that_sweeps(dir.path());
    let mut dead: Vec<Client> = (0..6).map(|_| Client::start(dir.path())).collect();
    for (ticket, client) in dead.iter_mut().enumerate() {
        let said = client.order(&format!("acquire n 1 {ticket}"));
        assert_eq!(said, if ticket == 0 { "granted" } else { "queued" });
    }
    let mut last = Client::start(dir.path());
    assert_eq!(last.order("acquire n 1 9"), "queued");
    dead.into_iter().rev().for_each(Client::kill);
    assert_eq!(last.line(), "news granted");
}

/// The first client of a store, once it has cleared away all that are dead. For five minutes from
/// then on nobody finds them that way.
fn first_that_sweeps(dir: &Path) -> Client {
    let first = Client::start(dir);
    let db = rusqlite::Connection::open(dir.join("seinpaal.db")).unwrap();
    let swept = || db.query_row("SELECT swept FROM boot", [], |row| row.get::<_, i64>(0)).unwrap();
    let begin = Instant::now();
    while swept() == 0 {
        assert!(begin.elapsed() < BOUND, "nobody clears away the dead");
        thread::yield_now();
    }
    first
}

#[test]
fn a_client_with_many_places_in_line_is_one_of_those_that_watch_the_holder() {
    let dir = tempfile::tempdir().unwrap();
    let _first = first_that_sweeps(dir.path());
    let [mut holder, mut many, mut last] = [(); 3].map(|()| Client::that_is_only_told(dir.path()));
    assert_eq!(holder.order("acquire n 1 1"), "granted");
    for ticket in 2..6 {
        assert_eq!(many.order(&format!("acquire n 1 {ticket}")), "queued");
    }
    assert_eq!(last.order("acquire n 1 9"), "queued");
    many.kill();
    holder.kill();
    assert_eq!(last.line(), "news granted");
}

/// A hundred clients of this process that hold a permit each, in the order of their ids.
async fn hundred_holders(dir: &Path) -> Vec<Arc<EmbeddedStore>> {
    let mut holders = Vec::new();
    for n in 0..100 {
        let (inbox, (news, _)) = (Inbox((n + 2) << 96), unbounded_channel());
        let store = EmbeddedStore::open(dir, inbox, news).unwrap();
        let granted = ask(&store, inbox, "n", acquire(n + 2, 100, false)).await.unwrap();
        assert!(matches!(granted, Reply::Granted(_)), "{granted:?}");
        holders.push(store);
    }
    holders
}

#[tokio::test]
async fn of_a_hundred_holders_the_end_of_any_makes_way_for_the_first_in_line() {
    let dir = tempfile::tempdir().unwrap();
    let mut holders = hundred_holders(dir.path()).await;
    for ticket in 200..204 {
        let (inbox, (news, mut told)) = (Inbox(ticket), unbounded_channel());
        let waiter = EmbeddedStore::open(dir.path(), inbox, news).unwrap();
        let queued = ask(&waiter, inbox, "n", acquire(ticket, 100, true)).await.unwrap();
        assert!(matches!(queued, Reply::Queued { .. }), "{queued:?}");
        drop(holders.remove(33 * (ticket as usize - 200)));
        let told = timeout(BOUND, told.recv()).await.expect("nobody tells it");
        assert!(matches!(told, Some(News::Wakeup(Wakeup { what: What::Granted { .. }, .. }))));
        holders.push(waiter);
    }
}

#[tokio::test]
async fn of_a_hundred_holders_the_end_of_any_lets_a_newcomer_in_that_will_not_wait() {
    let dir = tempfile::tempdir().unwrap();
    let mut holders = hundred_holders(dir.path()).await;
    let (inbox, (news, _)) = (Inbox(1), unbounded_channel());
    let newcomer = EmbeddedStore::open(dir.path(), inbox, news).unwrap();
    for (ticket, end) in [(200, 99), (202, 50), (204, 0)] {
        let busy = ask(&newcomer, inbox, "n", acquire(ticket, 100, false)).await.unwrap();
        assert!(matches!(busy, Reply::Busy { .. }), "{busy:?}");
        drop(holders.remove(end));
        let granted = ask(&newcomer, inbox, "n", acquire(ticket + 1, 100, false)).await.unwrap();
        assert!(matches!(granted, Reply::Granted(_)), "{granted:?}");
    }
}

/// The first idle worker is told when somebody begins to work. It dies before that one does.
#[test]
fn what_a_killed_worker_worked_on_is_given_out_though_the_first_idle_worker_was_killed_too() {
    let dir = tempfile::tempdir().unwrap();
    let _first = first_that_sweeps(dir.path());
    let mut idle: Vec<Client> = (0..5).map(|_| Client::start(dir.path())).collect();
    let mut last = Client::start(dir.path());
    for client in idle.iter_mut().chain([&mut last]) {
        assert_eq!(client.order("work q 1"), "works on");
    }
    let mut producer = Client::start(dir.path());
    assert_eq!(producer.order("push q a"), "pushed");
    assert_eq!(idle[0].line(), "news called");
    assert_eq!(idle[0].order("work q 1"), "works on a 1");
    idle.into_iter().rev().for_each(Client::kill);
    assert_eq!(last.line(), "news called");
    assert_eq!(last.order("work q 1"), "works on a 2");
}

/// These look only when they are told. The first idle worker goes to the end of the line.
#[test]
fn the_next_idle_worker_watches_when_the_first_one_has_asked_again() {
    let dir = tempfile::tempdir().unwrap();
    let [mut works, mut first, mut next] = [(); 3].map(|()| Client::that_is_only_told(dir.path()));
    for client in [&mut works, &mut first, &mut next] {
        assert_eq!(client.order("work q 1"), "works on");
    }
    let mut producer = Client::start(dir.path());
    assert_eq!(producer.order("push q a"), "pushed");
    assert_eq!(works.line(), "news called");
    assert_eq!(works.order("work q 1"), "works on a 1");
    assert_eq!(first.order("work q 1"), "works on");
    first.kill();
    works.kill();
    assert_eq!(next.line(), "news called");
    assert_eq!(next.order("work q 1"), "works on a 2");
}
