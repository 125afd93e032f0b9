use std::time::Duration;

use seinpaal_proto::{
    Contact, Fence,
    queue::{Delivery, How, Pop, Popped, Reply, Request},
    time::{Micros, margin},
};

use crate::{
    CaseStage,
    queue::{
        QueueClient,
        requests::{HOUR, SECOND, acknowledge, fail, give_back, item, limit, pop, renew},
    },
    requests::{TTL, TTL_MICROS},
};

/// Lets a worker take an item and die. Returns the delivery.
async fn die_with_item(stage: &CaseStage, maker: &QueueClient<'_>) -> Popped {
    let dying = stage.queue_client().await;
    maker.push(item("a")).await;
    let held = dying.take().await;
    stage.vanish_from_queue(dying).await;
    held
}

/// What a store says of a lease with this much time left to a client that lives.
fn valid_for(stage: &CaseStage, left: Micros) -> Option<Micros> {
    (stage.harness().contact() != Contact::Alive).then_some(left)
}

pub async fn an_item_whose_worker_died_is_delivered_again_at_once(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let held = die_with_item(stage, &client).await;
    let again = client.take().await;
    assert_eq!((again.delivery.id, again.attempt), (held.delivery.id, 2));
}

pub async fn an_item_whose_worker_died_is_delivered_again_after_its_ttl_with_a_higher_fence(
    stage: &CaseStage,
) {
    let client = stage.queue_client().await;
    let held = die_with_item(stage, &client).await;
    stage.advance(TTL);
    let again = client.take().await;
    assert_eq!((again.delivery.id, &again.payload[..]), (held.delivery.id, &b"a"[..]));
    assert_eq!((held.attempt, again.attempt), (1, 2));
    assert!(again.delivery.fence > held.delivery.fence);
}

pub async fn what_was_lost_is_first_again(stage: &CaseStage) {
    let client = stage.queue_client().await;
    die_with_item(stage, &client).await;
    client.push(item("b")).await;
    stage.advance(TTL);
    assert_eq!(client.texts(9).await, ["a", "b"]);
}

pub async fn what_is_renewed_and_acknowledged_in_one_call_is_gone(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let ids = client.push_all(&["a", "b"]).await;
    let held = client.pop(2).await.into_iter().map(|popped| popped.delivery).collect::<Vec<_>>();
    let both = vec![renew(&held), acknowledge(held[0])];
    let replies = client.send(both).await.replies;
    assert!(matches!(&replies[0], Reply::Renewed { lost, .. } if lost.is_empty()), "{replies:?}");
    assert_eq!(replies[1], Reply::Acknowledged { id: ids[0] });
    client.acknowledge(held[1]).await;
    client.settle().await;
    assert_eq!(client.counts().await, [0, 0, 0, 0]);
    stage.advance(2 * TTL);
    assert_eq!(client.pop(9).await, []);
    assert_eq!(client.finish(held[0], How::Acknowledge).await, Reply::Lost { id: ids[0] });
}

pub async fn a_late_end_of_a_delivery_is_lost_and_changes_nothing(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let Popped { delivery, .. } = die_with_item(stage, &client).await;
    stage.advance(TTL);
    let again = client.take().await;
    let lost = Reply::Lost { id: delivery.id };
    for how in [How::Acknowledge, give_back(SECOND), fail("late", SECOND)] {
        assert_eq!(client.finish(delivery, how).await, lost);
    }
    assert_eq!(client.counts().await, [0, 0, 1, 0]);
    client.acknowledge(again.delivery).await;
    assert_eq!(client.finish(again.delivery, How::Acknowledge).await, lost);
}

pub async fn a_lease_that_nobody_renews_ends_and_its_worker_is_told(stage: &CaseStage) {
    let (client, mut slow) = (stage.queue_client().await, stage.queue_client().await);
    client.push(item("a")).await;
    let held = slow.take().await;
    stage.advance(TTL - SECOND);
    assert_eq!(client.texts(1).await, [""; 0]);
    stage.advance(SECOND);
    assert_eq!(client.texts(1).await, ["a"]);
    slow.told_of_loss(held.delivery).await;
}

pub async fn each_delivery_lasts_as_long_as_its_worker_said(stage: &CaseStage) {
    let (client, slow) = (stage.queue_client().await, stage.queue_client().await);
    client.push_all(&["long", "short"]).await;
    slow.pop_as(Pop { ttl: TTL_MICROS * 10, ..pop(1) }).await;
    slow.pop_as(Pop { ttl: 1_000_000, ..pop(1) }).await;
    stage.advance(SECOND);
    assert_eq!(client.texts(9).await, ["short"]);
    stage.advance(TTL * 10 - 2 * SECOND);
    assert_eq!(client.texts(9).await, ["short"]);
    stage.advance(SECOND);
    assert_eq!(client.texts(9).await, ["long"]);
}

pub async fn a_worker_that_renews_keeps_its_items(stage: &CaseStage) {
    let (client, worker) = (stage.queue_client().await, stage.queue_client().await);
    client.push_all(&["a", "b"]).await;
    let held: Vec<_> = worker.pop(2).await.iter().map(|popped| popped.delivery).collect();
    for _ in 0..5 {
        stage.advance(TTL - SECOND);
        let renewed = Reply::Renewed { valid_for: valid_for(stage, TTL_MICROS), lost: vec![] };
        assert_eq!(worker.one(renew(&held)).await, renewed);
        assert_eq!(client.texts(1).await, [""; 0]);
    }
    for delivery in held {
        worker.acknowledge(delivery).await;
    }
}

pub async fn a_renewal_tells_which_deliveries_are_lost_and_keeps_the_others(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push_all(&["a", "b", "c"]).await;
    let held: Vec<_> = client.pop(3).await.iter().map(|popped| popped.delivery).collect();
    client.acknowledge(held[0]).await;
    client.one(Request::Cancel { id: held[1].id, spares_work: false }).await;
    let earlier = Delivery { fence: Fence(held[2].fence.0 - 1), ..held[2] };
    let Reply::Renewed { lost, .. } = client.one(renew(&[&held[..], &[earlier]].concat())).await
    else {
        panic!("not renewed")
    };
    assert_eq!(lost, [held[0], held[1], earlier]);
    client.acknowledge(held[2]).await;
}

pub async fn a_renewal_of_a_delivery_takes_it_over(stage: &CaseStage) {
    let (first, second) = (stage.queue_client().await, stage.queue_client().await);
    first.push(item("a")).await;
    let held = first.take().await.delivery;
    second.one(renew(&[held])).await;
    assert_eq!(second.look().await.work[0].by, second.inbox());
    stage.vanish_from_queue(first).await;
    stage.advance(TTL - SECOND);
    assert_eq!(second.texts(1).await, [""; 0]);
    second.acknowledge(held).await;
}

pub async fn five_hundred_deliveries_are_renewed_in_one_call(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push_all(&["x"; 500]).await;
    let mut held = Vec::new();
    for _ in 0..8 {
        held.extend(client.pop(64).await.iter().map(|popped| popped.delivery));
    }
    stage.advance(TTL - SECOND);
    let renewed = Reply::Renewed { valid_for: valid_for(stage, TTL_MICROS), lost: vec![] };
    assert_eq!(client.one(renew(&held)).await, renewed);
    stage.advance(TTL - SECOND);
    assert_eq!(client.counts().await, [0, 0, 500, 0]);
}

pub async fn what_a_pop_says_is_valid_runs_down(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(item("a")).await;
    let batch = client.batch(vec![Request::Pop(pop(1))]);
    for (passed, left) in [(0, 30_000_000), (10, 20_000_000)] {
        stage.advance(Duration::from_secs(passed));
        let reply = client.call(&batch).await.replies.remove(0);
        let Reply::Popped { valid_for: said, .. } = reply else { panic!("{reply:?}") };
        assert_eq!(said, valid_for(stage, left));
    }
}

pub async fn a_clock_that_jumps_forward_takes_no_item_from_a_worker_that_listens(
    stage: &CaseStage,
) {
    let (client, worker) = (stage.queue_client().await, stage.queue_client().await);
    client.push(item("a")).await;
    let held = worker.pop_as(Pop { margin: margin(TTL_MICROS), ..pop(1) }).await.remove(0);
    stage.advance(HOUR);
    assert_eq!(client.texts(1).await, [""; 0]);
    worker.acknowledge(held.delivery).await;
}

pub async fn a_clock_that_jumps_backward_does_not_freeze_recovery(stage: &CaseStage) {
    let client = stage.queue_client().await;
    die_with_item(stage, &client).await;
    stage.harness().set_now(stage.now() - 3_600_000_000);
    client.settle().await;
    stage.pass_at_queue(TTL, &client).await;
    assert_eq!(client.texts(1).await, ["a"]);
}

pub async fn what_a_dead_worker_had_counts_for_the_limit_until_it_is_free(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.one(limit(1)).await;
    die_with_item(stage, &client).await;
    client.push(item("b")).await;
    stage.advance(TTL);
    let held = client.pop(9).await;
    assert_eq!((held.len(), &held[0].payload[..]), (1, &b"a"[..]));
}

pub async fn hundreds_of_leases_that_end_at_once_are_ended_a_few_in_each_call(stage: &CaseStage) {
    let (client, dying) = (stage.queue_client().await, stage.queue_client().await);
    let texts: Vec<_> = (0..300).map(|number| number.to_string()).collect();
    client.push_all(&texts).await;
    for _ in 0..5 {
        dying.pop(64).await;
    }
    stage.vanish_from_queue(dying).await;
    stage.advance(TTL);
    client.settle().await;
    let mut again = Vec::new();
    for _ in 0..5 {
        again.extend(client.texts(64).await);
    }
    assert_eq!(again, texts);
}
