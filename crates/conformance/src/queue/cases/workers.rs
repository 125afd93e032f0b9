//! Which worker is called for which items.

use std::time::Duration;

use seinpaal_proto::queue::{Configure, Request, What};

use crate::{
    CaseStage,
    queue::{
        QueueClient,
        requests::{
            AT_ONCE, MINUTE, SECOND, draining, fail, give_back, group_limit, item, limit, of_group,
            pause, resume,
        },
    },
};

const CALLED: [What; 1] = [What::Called];

/// Idle workers that want this many items each, in the order of their places.
async fn in_line<'a, const N: usize>(
    stage: &'a CaseStage,
    wants: [u32; N],
) -> [QueueClient<'a>; N] {
    let mut workers = Vec::new();
    for want in wants {
        let worker = stage.queue_client().await;
        worker.wait_for(want).await;
        workers.push(worker);
        stage.advance(Duration::from_millis(1));
    }
    workers.try_into().expect("as many as wanted")
}

pub async fn an_item_calls_one_worker_and_the_first_that_stood_in_line(stage: &CaseStage) {
    let maker = stage.queue_client().await;
    let [mut first, mut second, mut third] = in_line(stage, [1; 3]).await;
    maker.push(item("a")).await;
    assert_eq!(third.heard().await, []);
    assert_eq!(second.heard().await, []);
    assert_eq!(first.heard().await, CALLED);
}

pub async fn as_many_workers_are_called_as_there_are_items(stage: &CaseStage) {
    let maker = stage.queue_client().await;
    let [mut first, mut second, mut third] = in_line(stage, [1; 3]).await;
    maker.push_all(&["a", "b"]).await;
    assert_eq!(third.heard().await, []);
    first.told_to_come().await;
    second.told_to_come().await;
    assert_eq!((first.texts(1).await, second.texts(1).await), (vec!["a".into()], vec!["b".into()]));
    assert_eq!(first.heard().await, []);
}

pub async fn a_worker_that_wants_many_is_called_once_for_many(stage: &CaseStage) {
    let maker = stage.queue_client().await;
    let [mut first, mut second] = in_line(stage, [8; 2]).await;
    maker.push_all(&["x"; 5]).await;
    maker.push_all(&["x"; 3]).await;
    assert_eq!(second.heard().await, []);
    assert_eq!(first.heard().await, CALLED);
}

pub async fn more_items_than_the_called_want_call_the_next(stage: &CaseStage) {
    let maker = stage.queue_client().await;
    let [mut first, mut second, mut third] = in_line(stage, [2; 3]).await;
    maker.push_all(&["x"; 2]).await;
    maker.push(item("x")).await;
    assert_eq!(third.heard().await, []);
    first.told_to_come().await;
    second.told_to_come().await;
}

pub async fn a_worker_that_got_less_than_it_wanted_stands_in_line_for_the_rest(stage: &CaseStage) {
    let (maker, mut worker) = (stage.queue_client().await, stage.queue_client().await);
    maker.push(item("a")).await;
    assert_eq!(worker.pop_as(crate::queue::requests::waiting(3)).await.len(), 1);
    maker.push(item("b")).await;
    worker.told_to_come().await;
    assert_eq!(worker.texts(2).await, ["b"]);
}

pub async fn a_worker_that_does_not_wait_is_not_called(stage: &CaseStage) {
    let (maker, mut worker) = (stage.queue_client().await, stage.queue_client().await);
    worker.pop(3).await;
    maker.push(item("a")).await;
    worker.take().await;
    assert_eq!(worker.heard().await, []);
}

pub async fn a_worker_that_leaves_is_not_called(stage: &CaseStage) {
    let maker = stage.queue_client().await;
    let [mut first, mut second] = in_line(stage, [1; 2]).await;
    first.one(Request::Leave).await;
    maker.push(item("a")).await;
    second.told_to_come().await;
    second.take().await;
    assert_eq!(first.heard().await, []);
}

pub async fn a_worker_that_died_is_passed_over(stage: &CaseStage) {
    let maker = stage.queue_client().await;
    let [first, mut second] = in_line(stage, [1; 2]).await;
    stage.vanish_from_queue(first).await;
    maker.push(item("a")).await;
    second.told_to_come().await;
    assert_eq!(second.texts(1).await, ["a"]);
}

pub async fn a_worker_that_was_called_and_does_not_come_is_not_waited_for(stage: &CaseStage) {
    let maker = stage.queue_client().await;
    let [mut first, mut second] = in_line(stage, [1; 2]).await;
    maker.push(item("a")).await;
    first.told_to_come().await;
    stage.advance(SECOND);
    maker.settle().await;
    second.told_to_come().await;
    assert_eq!(second.texts(1).await, ["a"]);
}

pub async fn nobody_is_called_for_what_cannot_be_delivered(stage: &CaseStage) {
    let (maker, mut worker) = (stage.queue_client().await, stage.queue_client().await);
    maker.one(group_limit(1)).await;
    maker.push(of_group("g", "g1")).await;
    let held = worker.take().await;
    worker.wait_for(1).await;
    maker.push(of_group("g", "of a full group")).await;
    maker.one(limit(1)).await;
    maker.push(item("over the limit")).await;
    maker.one(pause("repairs")).await;
    maker.one(Request::Configure(Configure::Limit(None))).await;
    maker.one(Request::Cancel { id: held.delivery.id, spares_work: false }).await;
    maker.one(resume()).await;
    worker.told_of_loss(held.delivery).await;
    worker.told_to_come().await;
}

pub async fn room_in_the_queue_calls_a_worker(stage: &CaseStage) {
    let maker = stage.queue_client().await;
    maker.one(limit(1)).await;
    maker.push_all(&["a", "b", "c"]).await;
    let held = maker.take().await;
    let [mut first, mut second] = in_line(stage, [1; 2]).await;
    maker.acknowledge(held.delivery).await;
    first.told_to_come().await;
    assert_eq!(first.texts(1).await, ["b"]);
    maker.one(limit(2)).await;
    second.told_to_come().await;
    assert_eq!(second.texts(1).await, ["c"]);
}

pub async fn room_in_a_group_calls_a_worker(stage: &CaseStage) {
    let maker = stage.queue_client().await;
    maker.one(group_limit(1)).await;
    for text in ["g1", "g2", "g3"] {
        maker.push(of_group("g", text)).await;
    }
    let held = maker.take().await;
    let [mut first, mut second] = in_line(stage, [1; 2]).await;
    maker.acknowledge(held.delivery).await;
    first.told_to_come().await;
    assert_eq!(first.texts(1).await, ["g2"]);
    maker.one(group_limit(2)).await;
    second.told_to_come().await;
    assert_eq!(second.texts(1).await, ["g3"]);
}

pub async fn a_queue_that_is_resumed_calls_workers(stage: &CaseStage) {
    let maker = stage.queue_client().await;
    maker.one(pause("repairs")).await;
    maker.push_all(&["a", "b"]).await;
    let [mut first, mut second] = in_line(stage, [1; 2]).await;
    maker.one(resume()).await;
    first.told_to_come().await;
    second.told_to_come().await;
}

pub async fn what_comes_back_calls_a_worker(stage: &CaseStage) {
    let maker = stage.queue_client().await;
    maker.push_all(&["a", "b"]).await;
    let held = maker.pop(2).await;
    let [mut first, mut second] = in_line(stage, [1; 2]).await;
    maker.finish(held[0].delivery, give_back(AT_ONCE)).await;
    first.told_to_come().await;
    assert_eq!(first.texts(1).await, ["a"]);
    maker.finish(held[1].delivery, fail("no", AT_ONCE)).await;
    second.told_to_come().await;
    assert_eq!(second.texts(1).await, ["b"]);
}

pub async fn what_a_dead_worker_had_calls_another(stage: &CaseStage) {
    let (maker, dying) = (stage.queue_client().await, stage.queue_client().await);
    maker.push(item("a")).await;
    dying.take().await;
    let [mut worker] = in_line(stage, [1]).await;
    stage.vanish_from_queue(dying).await;
    stage.advance(crate::requests::TTL);
    maker.settle().await;
    worker.told_to_come().await;
    assert_eq!(worker.texts(1).await, ["a"]);
}

pub async fn workers_that_drain_are_called_when_nothing_is_left_and_others_are_not(
    stage: &CaseStage,
) {
    let maker = stage.queue_client().await;
    maker.push(item("a")).await;
    let held = maker.take().await;
    let [mut patient] = in_line(stage, [1]).await;
    let mut draining_ones = [stage.queue_client().await, stage.queue_client().await];
    for worker in &draining_ones {
        assert_eq!(worker.pop_as(draining(1)).await, []);
    }
    maker.acknowledge(held.delivery).await;
    for worker in &mut draining_ones {
        worker.told_to_come().await;
    }
    assert_eq!(patient.heard().await, []);
}

pub async fn a_place_ends_when_its_worker_is_not_heard_from(stage: &CaseStage) {
    let maker = stage.queue_client().await;
    let [silent, kept] = in_line(stage, [1; 2]).await;
    for _ in 0..3 {
        stage.advance(MINUTE);
        kept.wait_for(1).await;
    }
    maker.settle().await;
    assert_eq!(maker.look().await.idle, 1);
    let mut kept = kept;
    maker.push(item("a")).await;
    kept.told_to_come().await;
    kept.take().await;
    let mut silent = silent;
    assert_eq!(silent.heard().await, []);
}

pub async fn a_hundred_idle_workers_are_called_once_each_for_a_hundred_items(stage: &CaseStage) {
    let maker = stage.queue_client().await;
    let mut workers = Vec::new();
    for _ in 0..100 {
        let worker = stage.queue_client().await;
        worker.wait_for(1).await;
        workers.push(worker);
    }
    maker.push_all(&["x"; 100]).await;
    for worker in &mut workers {
        worker.told_to_come().await;
        assert_eq!(worker.texts(1).await, ["x"]);
    }
    assert_eq!(maker.counts().await, [0, 0, 100, 0]);
}
