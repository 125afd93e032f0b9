use std::collections::BTreeSet;

use seinpaal_proto::queue::{Reply, Request};

use crate::{
    CaseStage,
    queue::{
        client::{popped, text},
        requests::{AT_ONCE, MINUTE, SECOND, acknowledge, give_back, item, pop, ranked},
    },
};

pub async fn what_is_pushed_first_is_delivered_first(stage: &CaseStage) {
    let (maker, worker) = (stage.queue_client().await, stage.queue_client().await);
    maker.push_all(&["a", "b"]).await;
    worker.push(item("c")).await;
    maker.push(item("d")).await;
    assert_eq!(worker.texts(2).await, ["a", "b"]);
    assert_eq!(maker.texts(9).await, ["c", "d"]);
}

pub async fn what_is_acknowledged_is_gone(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push_all(&["a", "b"]).await;
    for popped in client.pop(2).await {
        client.acknowledge(popped.delivery).await;
    }
    assert_eq!(client.counts().await, [0; 4]);
    assert_eq!(client.texts(1).await, [""; 0]);
}

pub async fn an_item_is_in_work_once(stage: &CaseStage) {
    let workers = [stage.queue_client().await, stage.queue_client().await];
    workers[0].push_all(&["a", "b", "c"]).await;
    let mut delivered = Vec::new();
    for turn in 0..6 {
        delivered.extend(workers[turn % 2].texts(1).await);
    }
    assert_eq!(delivered, ["a", "b", "c"]);
}

pub async fn higher_priority_comes_first(stage: &CaseStage) {
    let client = stage.queue_client().await;
    for (text, priority) in [("low", -100), ("a", 0), ("high", 7), ("b", 0), ("highest", 100)] {
        client.push(ranked(text, priority)).await;
    }
    assert_eq!(client.texts(9).await, ["highest", "high", "a", "b", "low"]);
}

pub async fn a_long_wait_is_not_passed_by_higher_priority(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(item("old")).await;
    stage.advance(MINUTE + SECOND);
    client.push(ranked("one step", 1)).await;
    client.push(ranked("two steps", 2)).await;
    assert_eq!(client.texts(9).await, ["two steps", "old", "one step"]);
}

pub async fn what_is_given_back_is_first_again(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push_all(&["a", "b", "c"]).await;
    let held = client.pop(2).await;
    for popped in &held {
        let reply = client.finish(popped.delivery, give_back(AT_ONCE)).await;
        assert_eq!(reply, Reply::Returned { id: popped.delivery.id });
    }
    let again = client.pop(9).await;
    assert!(again.iter().all(|popped| popped.attempt == 1), "it counted as a delivery");
    assert_eq!(again.into_iter().map(text).collect::<Vec<_>>(), ["a", "b", "c"]);
}

pub async fn what_is_given_back_for_later_comes_when_it_is_due_behind_the_others(
    stage: &CaseStage,
) {
    let client = stage.queue_client().await;
    client.push_all(&["a", "b"]).await;
    let held = client.take().await;
    client.finish(held.delivery, give_back(SECOND)).await;
    assert_eq!(client.counts().await, [1, 1, 0, 0]);
    stage.advance(SECOND);
    let again = client.pop(9).await;
    assert_eq!(again[1].attempt, 1);
    assert_eq!(again.into_iter().map(text).collect::<Vec<_>>(), ["b", "a"]);
}

pub async fn what_a_batch_pushes_its_later_requests_can_take(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let batch = vec![Request::Push(item("a")), Request::Push(item("b")), Request::Pop(pop(9))];
    let taken = popped(client.send(batch).await.replies.remove(2));
    assert_eq!(taken.into_iter().map(text).collect::<Vec<_>>(), ["a", "b"]);
}

pub async fn finishing_one_and_taking_the_next_is_one_call(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push_all(&["a", "b", "c"]).await;
    client.one(crate::queue::requests::limit(1)).await;
    let mut held = client.take().await;
    for next in ["b", "c"] {
        let batch = vec![acknowledge(held.delivery), Request::Pop(pop(1))];
        let mut replies = client.send(batch).await.replies;
        assert_eq!(replies[0], Reply::Acknowledged { id: held.delivery.id });
        held = popped(replies.remove(1)).remove(0);
        assert_eq!(held.payload, next.as_bytes());
    }
}

pub async fn thousands_of_items_are_delivered_in_order(stage: &CaseStage) {
    let (maker, worker) = (stage.queue_client().await, stage.queue_client().await);
    let texts: Vec<_> = (0..3_000).map(|number| format!("item {number}")).collect();
    maker.push_all(&texts).await;
    let mut delivered = Vec::new();
    while delivered.len() < texts.len() {
        let held = worker.pop(64).await;
        assert!(!held.is_empty(), "only {} came", delivered.len());
        worker.send(held.iter().map(|popped| acknowledge(popped.delivery)).collect()).await;
        delivered.extend(held.into_iter().map(text));
    }
    assert_eq!(delivered, texts);
    assert_eq!(worker.counts().await, [0; 4]);
}

pub async fn of_workers_that_race_each_item_has_one(stage: &CaseStage) {
    let mut workers = Vec::new();
    for _ in 0..6 {
        workers.push(stage.queue_client().await);
    }
    let texts: Vec<_> = (0..60).map(|number| number.to_string()).collect();
    workers[0].push_all(&texts).await;
    let pops = workers.iter().map(|worker| async {
        let mut taken = Vec::new();
        for _ in 0..12 {
            taken.extend(worker.texts(1).await);
        }
        taken
    });
    let taken: Vec<_> = futures_util::future::join_all(pops).await.into_iter().flatten().collect();
    assert_eq!(taken.len(), 60);
    assert_eq!(taken.into_iter().collect::<BTreeSet<_>>(), texts.into_iter().collect());
}
