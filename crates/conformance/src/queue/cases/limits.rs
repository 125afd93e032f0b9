use seinpaal_proto::queue::{Configure, Reply, Request};

use crate::{
    CaseStage,
    queue::requests::{HOUR, group_limit, item, limit, of_group, pause, renew, resume},
    requests::TTL,
};

pub async fn no_more_items_are_in_work_than_the_limit(stage: &CaseStage) {
    let (one, other) = (stage.queue_client().await, stage.queue_client().await);
    let configured = one.one(limit(3)).await;
    assert_eq!(configured, Reply::Configured { limit: Some(3), group_limit: None });
    one.push_all(&["a", "b", "c", "d"]).await;
    assert_eq!(one.texts(2).await, ["a", "b"]);
    assert_eq!(other.texts(2).await, ["c"]);
    assert_eq!(one.texts(1).await, [""; 0]);
}

pub async fn an_item_that_is_finished_makes_room_for_the_next(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.one(limit(1)).await;
    client.push_all(&["a", "b"]).await;
    let held = client.take().await;
    assert_eq!(client.texts(1).await, [""; 0]);
    client.acknowledge(held.delivery).await;
    assert_eq!(client.texts(9).await, ["b"]);
}

pub async fn a_limit_that_is_raised_lets_the_next_be_taken(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.one(limit(1)).await;
    client.push_all(&["a", "b", "c", "d"]).await;
    assert_eq!(client.texts(9).await, ["a"]);
    client.one(limit(3)).await;
    assert_eq!(client.texts(9).await, ["b", "c"]);
    client.one(Request::Configure(Configure::Limit(None))).await;
    assert_eq!(client.texts(9).await, ["d"]);
}

pub async fn a_limit_below_the_items_in_work_ends_and_admits_nothing(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push_all(&["a", "b", "c", "d"]).await;
    let held = client.pop(3).await;
    client.one(limit(1)).await;
    assert_eq!(client.counts().await, [1, 0, 3, 0]);
    for popped in &held[1..] {
        client.acknowledge(popped.delivery).await;
        assert_eq!(client.texts(1).await, [""; 0]);
    }
    client.acknowledge(held[0].delivery).await;
    assert_eq!(client.texts(1).await, ["d"]);
}

pub async fn a_limit_of_zero_delivers_nothing_and_keeps_the_items(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.one(limit(0)).await;
    client.push_all(&["a"]).await;
    assert_eq!(client.texts(1).await, [""; 0]);
    client.one(limit(1)).await;
    assert_eq!(client.texts(1).await, ["a"]);
}

pub async fn the_limit_of_the_queue_and_that_of_groups_hold_together(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.one(limit(2)).await;
    let configured = client.one(group_limit(1)).await;
    assert_eq!(configured, Reply::Configured { limit: Some(2), group_limit: Some(1) });
    for (group, text) in [("a", "a1"), ("a", "a2"), ("b", "b1"), ("c", "c1")] {
        client.push(of_group(group, text)).await;
    }
    let held = client.pop(9).await;
    assert_eq!(held.iter().map(|it| &it.payload[..]).collect::<Vec<_>>(), [b"a1", b"b1"]);
    client.acknowledge(held[0].delivery).await;
    assert_eq!(client.texts(9).await, ["a2"]);
}

pub async fn a_queue_that_is_paused_takes_items_and_delivers_none(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.one(pause("repairs")).await;
    client.push_all(&["a", "b"]).await;
    assert_eq!(client.texts(1).await, [""; 0]);
    assert_eq!(client.look().await.paused.as_deref(), Some("repairs"));
    client.one(resume()).await;
    assert_eq!(client.look().await.paused, None);
    assert_eq!(client.texts(9).await, ["a", "b"]);
}

pub async fn a_worker_keeps_its_item_when_the_queue_is_paused(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(item("a")).await;
    let held = client.take().await;
    client.one(pause("repairs")).await;
    let reply = client.one(renew(&[held.delivery])).await;
    assert!(matches!(&reply, Reply::Renewed { lost, .. } if lost.is_empty()), "{reply:?}");
    client.acknowledge(held.delivery).await;
}

pub async fn what_was_set_stays_when_nobody_is_here(stage: &CaseStage) {
    let client = stage.queue_client().await;
    for change in [limit(3), group_limit(2), pause("{why} 号")] {
        client.one(change).await;
    }
    stage.vanish_from_queue(client).await;
    stage.advance(24 * HOUR);
    let other = stage.queue_client().await;
    other.settle().await;
    let seen = other.look().await;
    assert_eq!((seen.limit, seen.group_limit), (Some(3), Some(2)));
    assert_eq!(seen.paused.as_deref(), Some("{why} 号"));
}

pub async fn workers_that_race_never_hold_more_than_the_limit(stage: &CaseStage) {
    let mut workers = Vec::new();
    for _ in 0..6 {
        workers.push(stage.queue_client().await);
    }
    workers[0].one(limit(2)).await;
    workers[0].push_all(&["x"; 40]).await;
    let rounds = workers.iter().map(|worker| async {
        let mut done = 0;
        for _ in 0..8 {
            let held = worker.pop(2).await;
            assert!(worker.look_at(0).await.in_work <= 2);
            done += held.len() as u32;
            for popped in held {
                worker.acknowledge(popped.delivery).await;
            }
        }
        done
    });
    let done: u32 = futures_util::future::join_all(rounds).await.into_iter().sum();
    stage.advance(TTL);
    let seen = workers[0].look_at(0).await;
    assert_eq!((seen.ready + done, seen.in_work), (40, 0));
    assert!(done >= 2, "the first pop finds the limit's number of items");
}
