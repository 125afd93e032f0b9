//! A name at which thousands wait.

use std::collections::HashSet;

use seinpaal::store::{News, Store};
use seinpaal_proto::{
    Acquire, Batch, Kind, Limit, LimitRule, OnMismatch, Permits, Reply, Request, Ticket, What,
    time::SECOND,
};
use seinpaal_rig::RedisServer;

use super::super::requests::{Client, acquisition, is_granted};

const READERS: u32 = 2_500;

fn lock(who: u32, permits: Permits) -> Acquire {
    let ticket = Ticket(u128::from(who) << 64).series().ticket(1);
    let rule = LimitRule { limit: Limit::READERS, on_mismatch: OnMismatch::Refuse };
    Acquire {
        ticket,
        kind: Kind::RwLock,
        permits,
        limit: Some(rule),
        waiter_ttl: 600 * SECOND,
        ..acquisition(1, 600 * SECOND)
    }
}

/// Calls as a session does: again at once, for as long as work is left over. Says how many calls
/// there were.
async fn release_to_the_end(client: &Client, ticket: Ticket) -> u32 {
    let release = Request::Release { ticket, slots: None };
    let mut replies = client.store.call(&client.batch("n", vec![release])).await.unwrap();
    assert_eq!(replies.replies, [Reply::Released { ticket, left: 0 }]);
    let mut calls = 1;
    while replies.backlog {
        replies = client.store.call(&client.batch("n", Vec::new())).await.unwrap();
        calls += 1;
    }
    calls
}

#[tokio::test]
async fn a_writer_before_thousands_of_readers_lets_in_all_of_them_in_many_small_calls() {
    let server = RedisServer::start();
    let mut client = Client::connect(&server.socket_url(""), 1).await;
    let writer = lock(0, Permits::READERS);
    let ticket = writer.ticket;
    assert!(is_granted(&client.ask("n", Request::Acquire(writer)).await.unwrap()));
    let readers: Vec<_> =
        (1..=READERS).map(|who| Request::Acquire(lock(who, Permits::ONE))).collect();
    for some in readers.chunks(Batch::MOST) {
        let replies = client.store.call(&client.batch("n", some.to_vec())).await.unwrap().replies;
        assert!(replies.iter().all(|reply| matches!(reply, Reply::Queued { .. })), "{replies:?}");
    }
    let calls = release_to_the_end(&client, ticket).await;
    assert!(calls >= READERS / 128, "{calls}");
    let mut woken = HashSet::new();
    while woken.len() < READERS as usize {
        let News::Wakeup(wakeup) = client.news.recv().await.unwrap() else { panic!() };
        assert!(matches!(wakeup.what, What::Granted { .. }), "{wakeup:?}");
        woken.insert(wakeup.ticket);
    }
    let Reply::Snapshot(seen) = client.ask("n", Request::Inspect { rows: 0 }).await.unwrap() else {
        panic!()
    };
    assert_eq!((seen.held, seen.waiting_total), (READERS, 0));
}
