//! Hash slots that move to another node while names in them are in use.

use seinpaal::{
    Seinpaal,
    store::{Certainty, News, StoreErrorKind},
};
use seinpaal_proto::{Reply, Request};
use seinpaal_rig::RedisCluster;

use super::{
    Scene, insist, keys, next,
    requests::{Client, TTL, acquire, is_granted, release, ticket},
    told_of_grant,
};

#[tokio::test]
async fn a_hash_slot_that_moves_key_by_key_loses_no_holder_and_no_waiter() {
    let cluster = RedisCluster::start_with(3, 0, &[]);
    let Scene { holder, mut waiter, hash_slot, from, to } = Scene::at(&cluster, "moved", 1).await;
    let [records, order] = keys("moved");

    cluster.begin_move(hash_slot, from, to);
    assert!(matches!(insist(&waiter, "moved", acquire(2)).await, Reply::Queued { .. }));

    // Half of the keys are here and half are there. So no waiter can be served, and nothing was
    // executed.
    cluster.move_keys(from, to, &[&records]);
    let error = holder.ask("moved", release(1)).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unreachable, "{error}");
    assert_eq!(error.certainty(), Certainty::NotExecuted, "{error}");

    // All keys are at the new node, but the hash slot is still at the old one. A client there has
    // to say `ASKING` each time.
    cluster.move_keys(from, to, &[&order]);
    cluster.nodes()[to].say(&["SCRIPT", "FLUSH"]);
    assert!(matches!(insist(&waiter, "moved", acquire(2)).await, Reply::Queued { .. }));
    // The waiter listens at the old node, and is not passed over for that.
    assert!(matches!(insist(&holder, "moved", release(1)).await, Reply::Released { .. }));
    assert!(is_granted(&insist(&waiter, "moved", acquire(2)).await));
    let queued = insist(&holder, "moved", acquire(3)).await;
    assert!(matches!(queued, Reply::Queued { waiting: 1, .. }), "{queued:?}");

    cluster.end_move(hash_slot, from, to);
    assert_eq!(next(&mut waiter).await, News::LookAgain);
    let mut next_one = holder;
    assert_eq!(next(&mut next_one).await, News::LookAgain);
    assert!(matches!(waiter.release("moved", 2).await, Reply::Released { .. }));
    told_of_grant(&mut next_one, 3).await;
}

/// A client whose tasks do not run: it is connected, and notices nothing.
fn frozen_waiter(url: &str, name: &str, ticket: u128) -> (tokio::runtime::Runtime, Client) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let waiter = runtime.block_on(async {
        let waiter = Client::connect(url, 77).await;
        let queued = waiter.acquire(name, ticket).await;
        assert!(matches!(queued, Reply::Queued { .. }), "{queued:?}");
        waiter
    });
    (runtime, waiter)
}

#[test]
fn a_waiter_that_has_not_found_the_new_node_yet_is_not_passed_over() {
    let cluster = RedisCluster::start_with(3, 0, &[]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Scene { holder, waiter, hash_slot, from, to } =
        runtime.block_on(Scene::at(&cluster, "slow", 1));
    let cancel = Request::Cancel { ticket: ticket(2), remember: TTL, attach: None };
    runtime.block_on(waiter.ask("slow", cancel)).unwrap();
    let (slow_runtime, slow) = frozen_waiter(&cluster.url(), "slow", 3);
    cluster.move_hash_slot(hash_slot, from, to);
    let released = runtime.block_on(insist(&holder, "slow", release(1)));
    assert!(matches!(released, Reply::Released { .. }), "{released:?}");
    // Another client asks in vain, which shows that the slow waiter was granted.
    let queued = runtime.block_on(insist(&holder, "slow", acquire(4)));
    assert!(matches!(queued, Reply::Queued { waiting: 1, .. }), "{queued:?}");
    assert!(is_granted(&slow_runtime.block_on(insist(&slow, "slow", acquire(3)))));
}

#[tokio::test]
async fn a_request_waits_for_the_second_half_of_its_keys() {
    let cluster = RedisCluster::start_with(3, 0, &[]);
    let Scene { holder, hash_slot, from, to, .. } = Scene::at(&cluster, "half", 1).await;
    let [records, order] = keys("half");
    cluster.begin_move(hash_slot, from, to);
    cluster.move_keys(from, to, &[&records]);
    let released = holder.ask("half", release(1));
    let rest = async {
        tokio::task::yield_now().await;
        cluster.move_keys(from, to, &[&order]);
    };
    let (released, ()) = tokio::join!(released, rest);
    assert!(matches!(released.unwrap(), Reply::Released { .. }));
}

#[tokio::test]
async fn slots_move_round_and_round_while_permits_are_handed_on() {
    let cluster = std::sync::Arc::new(RedisCluster::start_with(3, 0, &[]));
    let seinpaal = [
        Seinpaal::connect(&cluster.url()).await.unwrap(),
        Seinpaal::connect(&cluster.url()).await.unwrap(),
    ];
    let (hash_slot, mut from) = (cluster.hash_slot_of("{busy}"), cluster.owner_of("{busy}"));
    let movers = cluster.clone();
    let moving = tokio::task::spawn_blocking(move || {
        for _ in 0..6 {
            let to = (from + 1) % 3;
            movers.move_hash_slot(hash_slot, from, to);
            from = to;
        }
    });
    let mut handed_on = 0;
    while !moving.is_finished() {
        let asked = (0..8).map(|i| {
            let semaphore = seinpaal[i % 2].semaphore("busy").limit(2);
            tokio::spawn(async move { semaphore.acquire().await.unwrap().release().await })
        });
        for released in asked.collect::<Vec<_>>() {
            released.await.unwrap().unwrap();
            handed_on += 1;
        }
    }
    moving.await.unwrap();
    assert!(handed_on > 0);
    let seen = seinpaal[0].semaphore("busy").snapshot().await.unwrap();
    assert_eq!((seen.permits_held, seen.waiting_total), (0, 0));
}

#[tokio::test]
async fn a_node_that_is_added_gets_hash_slots_and_is_found() {
    let mut cluster = RedisCluster::start_with(3, 0, &[]);
    let Scene { mut holder, mut waiter, hash_slot, from, .. } =
        Scene::at(&cluster, "new home", 1).await;
    let added = cluster.add_master();
    cluster.move_hash_slot(hash_slot, from, added);
    assert_eq!(next(&mut waiter).await, News::LookAgain);
    assert_eq!(next(&mut holder).await, News::LookAgain);
    assert!(matches!(holder.release("new home", 1).await, Reply::Released { .. }));
    told_of_grant(&mut waiter, 2).await;
}
