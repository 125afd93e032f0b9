//! Idle workers that watch for what happens without a request.

use std::time::Duration;

use seinpaal_proto::queue::{Request, What};

use crate::{
    CaseStage,
    queue::{
        QueueClient,
        requests::{MINUTE, SECOND, delayed, item, waiting},
    },
};

/// Puts a worker into line. Returns when it is to look, if it is told.
async fn watch(worker: &QueueClient<'_>) -> Option<u64> {
    worker.send(vec![Request::Pop(waiting(1))]).await.look_in
}

pub async fn the_first_in_line_is_told_when_to_look_and_nobody_else(stage: &CaseStage) {
    let (first, second) = (stage.queue_client().await, stage.queue_client().await);
    first.push(delayed("a", 10 * SECOND)).await;
    assert_eq!(watch(&first).await, Some(10_000_000));
    stage.advance(SECOND);
    assert_eq!(watch(&second).await, None);
}

pub async fn nobody_is_told_to_look_when_nothing_can_happen(stage: &CaseStage) {
    let client = stage.queue_client().await;
    assert_eq!(watch(&client).await, None);
    assert_eq!(client.send(vec![]).await.look_in, None);
}

pub async fn an_item_that_falls_due_reaches_a_worker_that_looks(stage: &CaseStage) {
    let (first, mut second) = (stage.queue_client().await, stage.queue_client().await);
    first.push(delayed("a", 10 * SECOND)).await;
    first.push(delayed("b", 10 * SECOND)).await;
    let look_in = watch(&first).await.expect("it is the first");
    stage.advance(Duration::from_millis(1));
    watch(&second).await;
    stage.advance(Duration::from_micros(look_in) - Duration::from_millis(1));
    assert_eq!(first.texts(1).await, ["a"]);
    second.told_to_come().await;
    assert_eq!(second.texts(1).await, ["b"]);
}

pub async fn the_first_in_line_is_told_again_when_something_falls_due_sooner(stage: &CaseStage) {
    let (maker, mut first) = (stage.queue_client().await, stage.queue_client().await);
    watch(&first).await;
    maker.push(delayed("late", MINUTE)).await;
    assert_eq!(first.told().await, What::Watch { look_in: 60_000_000 });
    maker.push(delayed("later", 2 * MINUTE)).await;
    maker.push(delayed("soon", SECOND)).await;
    assert_eq!(first.told().await, What::Watch { look_in: 1_000_000 });
}

pub async fn the_next_in_line_looks_when_the_first_leaves(stage: &CaseStage) {
    let (first, mut second) = (stage.queue_client().await, stage.queue_client().await);
    first.push(delayed("a", MINUTE)).await;
    watch(&first).await;
    stage.advance(SECOND);
    watch(&second).await;
    first.one(Request::Leave).await;
    assert_eq!(second.told().await, What::Watch { look_in: 59_000_000 });
}

pub async fn the_first_in_line_looks_when_a_lease_can_end(stage: &CaseStage) {
    let (maker, first) = (stage.queue_client().await, stage.queue_client().await);
    maker.push(item("a")).await;
    maker.take().await;
    assert_eq!(watch(&first).await, Some(crate::requests::TTL_MICROS));
}

pub async fn a_first_in_line_that_does_not_look_is_followed_by_the_next(stage: &CaseStage) {
    let (maker, first) = (stage.queue_client().await, stage.queue_client().await);
    let mut second = stage.queue_client().await;
    maker.push(delayed("a", 10 * SECOND)).await;
    watch(&first).await;
    stage.advance(Duration::from_millis(1));
    watch(&second).await;
    stage.advance(12 * SECOND);
    maker.settle().await;
    second.told_to_come().await;
    assert_eq!(second.texts(1).await, ["a"]);
}

pub async fn the_first_in_line_looks_for_a_called_one_that_does_not_come(stage: &CaseStage) {
    let (maker, mut first) = (stage.queue_client().await, stage.queue_client().await);
    let mut second = stage.queue_client().await;
    watch(&first).await;
    stage.advance(Duration::from_millis(1));
    watch(&second).await;
    maker.push(item("a")).await;
    first.told_to_come().await;
    assert_eq!(second.told().await, What::Watch { look_in: 1_000_000 });
    stage.advance(SECOND);
    assert_eq!(second.texts(1).await, ["a"]);
}
