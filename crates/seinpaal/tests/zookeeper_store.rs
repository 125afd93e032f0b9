//! The ZooKeeper store, with cases that other stores do not have: its znodes, and its errors.

#[path = "support/zookeeper.rs"]
mod support;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use seinpaal::{
    Diagnosis,
    store::{Certainty, Store, StoreError, StoreErrorKind},
};
use seinpaal_proto::{
    Batch, Fence, Inbox, Reply, Request,
    time::{MILLISECOND, SECOND},
};
use seinpaal_rig::ZookeeperEnsemble;
use seinpaal_store::packed::Packer;
use support::{Client, acquire, children, granted, release, ticket};

const SECRET: &str = "s3cret";
const BEGINNING: u64 = 1_000_000_000_000_000;

fn url(chroot: &str) -> String {
    format!("{}/store/{chroot}", ZookeeperEnsemble::shared().url())
}

async fn refusal(url: &str) -> StoreError {
    let Err(error) = Client::try_connect(url, 1, None).await else { panic!("{url} was accepted") };
    let text = format!("{error} {error:?}");
    assert!(!text.contains(SECRET), "{text}");
    assert!(!error.to_string().contains('\n'), "{error}");
    assert_eq!(error.certainty(), Certainty::NotExecuted);
    error
}

#[tokio::test]
async fn a_chroot_that_is_missing_is_made_and_one_that_is_there_is_used() {
    let url = url("chroot/a/b");
    let first = Client::connect(&url, 1).await;
    granted(first.ask("n", acquire(1)).await.unwrap());
    let second = Client::connect(&url, 2).await;
    let reply = second.ask("n", acquire(2)).await.unwrap();
    assert!(matches!(reply, Reply::Queued { waiting: 1, .. }), "{reply:?}");
    assert_eq!(children("/store/chroot/a/b/names").await, ["n"]);
}

#[tokio::test]
async fn chroots_do_not_share_permits() {
    let (one, other) = (Client::connect(&url("x"), 1).await, Client::connect(&url("y"), 1).await);
    granted(one.ask("n", acquire(1)).await.unwrap());
    granted(other.ask("n", acquire(2)).await.unwrap());
}

#[tokio::test]
async fn what_is_kept_for_a_user_is_closed_to_others() {
    let with = |login: &str| url("login").replace("zookeeper://", &format!("zookeeper://{login}"));
    let right = Client::connect(&with(&format!("me:{SECRET}@")), 1).await;
    granted(right.ask("n", acquire(1)).await.unwrap());
    for login in [format!("me:not{SECRET}@"), format!("you:{SECRET}@"), String::new()] {
        assert_eq!(refusal(&with(&login)).await.kind(), StoreErrorKind::Forbidden);
    }
    Client::connect(&with(&format!("me:{SECRET}@")), 2).await;
}

#[tokio::test]
async fn where_nothing_listens_is_said_to_be_unreachable() {
    let error =
        refusal(&format!("zookeeper://me:{SECRET}@127.0.0.1:1/x?connect-timeout=200ms")).await;
    assert_eq!(error.kind(), StoreErrorKind::Unreachable);
    assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
}

#[tokio::test]
async fn fences_grow_over_a_name_that_was_forgotten_though_the_clock_is_set_back() {
    let clock = Arc::new(AtomicU64::new(BEGINNING));
    let client = Client::try_connect(&url("floor"), 1, Some(clock.clone())).await.unwrap();
    let mut last = Fence(0);
    for round in 0..5 {
        let grant = granted(client.ask("n", acquire(round)).await.unwrap());
        assert!(grant.fence > last, "{:?} after {last:?}", grant.fence);
        last = grant.fence;
        client.ask("n", release(round)).await.unwrap();
        // A name is not forgotten before the clock has passed its last fence.
        clock.store(last.0 + 61 * SECOND, Ordering::SeqCst);
        client.settle("n").await;
        assert_eq!(children("/store/floor/names").await, [""; 0]);
        clock.fetch_sub(3_600 * SECOND, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn nothing_is_left_behind_when_all_have_left_and_are_forgotten() {
    let clock = Arc::new(AtomicU64::new(BEGINNING));
    let client = Client::try_connect(&url("rest"), 1, Some(clock.clone())).await.unwrap();
    for name in ["a", "b/c", "d e"] {
        granted(client.ask(name, acquire(1)).await.unwrap());
        client.ask(name, release(1)).await.unwrap();
    }
    assert_eq!(children("/store/rest/names").await.len(), 3);
    clock.fetch_add(61 * SECOND, Ordering::SeqCst);
    let other = Client::try_connect(&url("rest"), 2, Some(clock)).await.unwrap();
    drop(client);
    // Any client that is there cleans up old names, and not the clients that used them.
    until(async || children("/store/rest/names").await.is_empty()).await;
    drop(other);
    until(async || children("/store/rest/inboxes").await.is_empty()).await;
}

async fn until(condition: impl AsyncFn() -> bool) {
    let met = async { while !condition().await {} };
    tokio::time::timeout(Duration::from_secs(60), met).await.expect("it comes to that");
}

#[tokio::test]
async fn a_client_that_comes_back_to_a_name_that_came_back_does_not_take_one_for_the_other() {
    let clock = Arc::new(AtomicU64::new(BEGINNING));
    let here = Client::try_connect(&url("again"), 1, Some(clock.clone())).await.unwrap();
    let there = Client::try_connect(&url("again"), 2, Some(clock.clone())).await.unwrap();
    granted(here.ask("n", acquire(1)).await.unwrap());
    here.ask("n", release(1)).await.unwrap();
    clock.fetch_add(61 * SECOND, Ordering::SeqCst);
    there.settle("n").await;
    granted(there.ask("n", acquire(2)).await.unwrap());
    there.ask("n", release(2)).await.unwrap();
    // There were as many writes as before, so the znode has the version that `here` remembers.
    let reply = here.ask("n", release(2)).await.unwrap();
    assert!(matches!(reply, Reply::Ended { ticket: it, .. } if it == ticket(2)), "{reply:?}");
}

#[tokio::test]
async fn waiters_beyond_the_most_are_refused_and_the_others_are_served() {
    let client = Client::connect(&url("full"), 1).await;
    granted(client.ask("n", acquire(1)).await.unwrap());
    let mut next = 2_u128;
    let error = loop {
        let spread = |i: u128| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_0c83_2d1b_5a67) >> 1;
        let requests = (next..next + 64).map(|i| acquire(spread(i))).collect();
        match client.store.call(&client.batch("n", requests)).await {
            Ok(_) => next += 64,
            Err(error) => break error,
        }
    };
    assert_eq!((error.kind(), error.certainty()), (StoreErrorKind::Full, Certainty::NotExecuted));
    // Waiters are added one by one, until not even one more fits.
    let spread = |i: u128| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_0c83_2d1b_5a67) >> 1;
    while client.ask("n", acquire(spread(next))).await.is_ok() {
        next += 1;
    }
    println!("{next} waiters fit");
    assert!(next > 6_000, "only {next} fit");
    let reply = client.ask("n", release(1)).await.unwrap();
    assert_eq!(reply, Reply::Released { ticket: ticket(1), left: 0 });
    let Reply::Snapshot(seen) = client.ask("n", Request::Inspect { rows: 1 }).await.unwrap() else {
        panic!("no snapshot")
    };
    assert_eq!((seen.held, seen.waiting_total), (1, next as u32 - 3));
}

#[tokio::test]
async fn no_lease_is_promised_for_longer_than_the_session_is_sure_to_last() {
    let client = Client::connect(&format!("{}?session=3s", url("promise")), 1).await;
    let grant = granted(client.ask("n", acquire(1)).await.unwrap());
    assert_eq!(grant.valid_for, Some(1_500 * MILLISECOND));
    assert_eq!(client.store.longest_lease(), Some(1_500 * MILLISECOND));
}

#[tokio::test]
async fn the_clock_is_the_leaders_and_moves_on() {
    let client = Client::connect(&url("clock"), 1).await;
    let empty = || client.batch("n", vec![]);
    let first = client.store.call(&empty()).await.unwrap().now;
    let mut last = first;
    while last < first + 20 * MILLISECOND {
        let now = client.store.call(&empty()).await.unwrap().now;
        assert!(now >= last || last - now < 50 * MILLISECOND, "{last} then {now}");
        last = now;
    }
}

#[tokio::test]
async fn what_somebody_else_put_there_is_said_to_be_damaged() {
    let client = Client::connect(&url("damage"), 1).await;
    support::put("/store/damage/names/n", b"not ours").await;
    let error = client.ask("n", acquire(1)).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    granted(client.ask("other", acquire(1)).await.unwrap());
    assert_eq!(client.store.list("").await.unwrap().len(), 1);
}

#[tokio::test]
async fn data_of_another_version_is_reported_and_left_unchanged() {
    let client = Client::connect(&url("version"), 1).await;
    support::put("/store/version/names/n", &[9, 0, 0, 0]).await;
    let error = client.ask("n", acquire(1)).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::OtherVersion);
    let said = error.to_string();
    assert!(said.contains("format 9, this one has ") && !said.contains("delete"), "{said}");
    granted(client.ask("other", acquire(1)).await.unwrap());
    assert_eq!(client.store.list("").await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_batch_that_is_empty_makes_nothing() {
    let client = Client::connect(&url("empty"), 1).await;
    let batch = Batch { inbox: Some(Inbox(1)), ..client.batch("n", vec![]) };
    client.store.call(&batch).await.unwrap();
    assert_eq!(children("/store/empty/names").await, [""; 0]);
}

/// The byte that marks a removed entry in a record of the log.
const NO_ENTRY: u8 = 7;

#[tokio::test]
async fn a_ledger_that_contradicts_itself_is_found_and_hides_no_other() {
    let client = Client::connect(&url("examined"), 1).await;
    for name in ["bad", "good"] {
        granted(client.ask(name, acquire(1)).await.unwrap());
    }
    let seen = client.store.examine(10).await.unwrap();
    assert_eq!((seen.names, seen.is_clean()), (2, true), "{seen:?}");
    // One more record: the holder's entry is gone, and the head counts it.
    let mut record = Packer::new(BEGINNING);
    record.byte(NO_ENTRY);
    record.id(ticket(1).0);
    let record = record.into_bytes();
    let mut length = Packer::bare();
    length.number(record.len() as u64);
    let more = [length.into_bytes(), record].concat();
    support::append("/store/examined/names/bad", &more).await;
    support::put("/store/examined/names/foreign", b"not ours").await;
    let seen = client.store.examine(10).await.unwrap();
    let found: Vec<_> = seen.contradictions.iter().map(ToString::to_string).collect();
    assert_eq!((seen.names, found.len()), (3, 2), "{found:?}");
    assert!(found[0].starts_with("the name bad: "), "{found:?}");
    assert!(found[1].starts_with("the name foreign: "), "{found:?}");
}

#[tokio::test]
async fn a_diagnosis_tells_of_each_server_its_version_and_the_leaders_clock() {
    let client = Client::connect(&url("ensemble"), 1).await;
    let Diagnosis { facts, advice, .. } = client.store.diagnose().await.unwrap();
    let fact = |what: &str| facts.iter().find(|fact| fact.what == what).unwrap().value.clone();
    assert!(fact("version").starts_with("ZooKeeper 3."), "{facts:?}");
    assert!(fact("servers").ends_with(" standalone") && !fact("clock").is_empty(), "{facts:?}");
    assert!(advice.len() == 1 && !advice[0].is_risk, "{advice:?}");
    // A second server that does not run.
    let two = url("ensemble").replacen("/store/", ",127.0.0.1:1/store/", 1);
    let client = Client::connect(&two, 2).await;
    let advice = client.store.diagnose().await.unwrap().advice;
    let risks: Vec<_> = advice.into_iter().filter(|it| it.is_risk).collect();
    assert!(risks.len() == 1 && risks[0].text.contains("127.0.0.1:1"), "{risks:?}");
}
