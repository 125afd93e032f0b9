use std::time::Duration;

use seinpaal_proto::{
    Priority,
    queue::{Due, Push, Request},
};

use crate::{
    CaseStage,
    queue::requests::{AT_ONCE, HOUR, SECOND, delayed, item, ranked},
};

const MILLISECOND: Duration = Duration::from_millis(1);

pub async fn a_delayed_item_comes_to_the_millisecond(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(delayed("a", Duration::from_millis(1_500))).await;
    stage.advance(Duration::from_millis(1_499));
    assert_eq!(client.texts(1).await, [""; 0]);
    assert_eq!(client.counts().await, [0, 1, 0, 0]);
    stage.advance(MILLISECOND);
    assert_eq!(client.texts(1).await, ["a"]);
}

pub async fn an_item_can_be_due_at_an_instant_of_the_stores_clock(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let now = client.send(vec![]).await.now;
    assert_eq!(now, stage.now());
    client.push(Push { due: Due::At(now + 2_000_000), ..item("a") }).await;
    stage.advance(Duration::from_millis(1_999));
    assert_eq!(client.texts(1).await, [""; 0]);
    stage.advance(MILLISECOND);
    assert_eq!(client.texts(1).await, ["a"]);
}

pub async fn what_was_due_in_the_past_is_ready_at_once_and_passes_nobody(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(item("a")).await;
    client.push(Push { due: Due::At(stage.now() - 3_600_000_000), ..item("b") }).await;
    client.push(Push { due: Due::At(0), ..item("c") }).await;
    client.push(delayed("d", AT_ONCE)).await;
    assert_eq!(client.texts(9).await, ["a", "b", "c", "d"]);
}

pub async fn delayed_items_come_in_the_order_in_which_they_fall_due(stage: &CaseStage) {
    let client = stage.queue_client().await;
    for (text, millis) in [("c", 3), ("a", 1), ("d", 3), ("b", 2)] {
        client.push(delayed(text, Duration::from_millis(millis))).await;
    }
    stage.advance(SECOND);
    assert_eq!(client.texts(9).await, ["a", "b", "c", "d"]);
}

pub async fn items_due_at_one_moment_come_in_the_order_of_their_pushes(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let due = stage.now() + 1_000_000;
    let texts: Vec<_> = (0..100).map(|number| number.to_string()).collect();
    for some in texts.chunks(50) {
        let push = |text: &String| Request::Push(Push { due: Due::At(due), ..item(text) });
        client.send(some.iter().map(push).collect()).await;
        stage.advance(Duration::from_millis(10));
    }
    stage.advance(SECOND);
    let mut delivered = client.texts(64).await;
    delivered.extend(client.texts(64).await);
    assert_eq!(delivered, texts);
}

pub async fn a_delayed_item_stands_where_it_fell_due(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(delayed("delayed", 10 * SECOND)).await;
    stage.advance(5 * SECOND);
    client.push(item("before")).await;
    stage.advance(6 * SECOND);
    client.push(item("after")).await;
    assert_eq!(client.texts(9).await, ["before", "delayed", "after"]);
}

pub async fn a_delayed_item_has_its_priority_when_it_comes(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(item("a")).await;
    let high = Priority::new(5).unwrap();
    client.push(Push { priority: high, ..delayed("high", SECOND) }).await;
    client.push(ranked("higher", 6)).await;
    stage.advance(SECOND);
    assert_eq!(client.texts(9).await, ["higher", "high", "a"]);
}

pub async fn an_item_can_be_due_in_years(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(delayed("a", 24 * 365 * 10 * HOUR)).await;
    stage.advance(24 * 365 * 9 * HOUR);
    assert_eq!(client.texts(1).await, [""; 0]);
    stage.advance(24 * 365 * HOUR);
    assert_eq!(client.texts(1).await, ["a"]);
}

pub async fn more_items_due_at_once_than_one_call_looks_at_come_one_call_after_the_other(
    stage: &CaseStage,
) {
    let client = stage.queue_client().await;
    for _ in 0..5 {
        client.send(vec![Request::Push(delayed("x", SECOND)); 60]).await;
    }
    stage.advance(SECOND);
    let first = client.send(vec![]).await;
    assert!(first.backlog, "300 items at once");
    // The look is a call, too, and each call makes 128 of them ready.
    assert_eq!(client.look_at(0).await.delayed, 300 - 2 * 128);
    client.settle().await;
    assert_eq!(client.counts().await, [300, 0, 0, 0]);
}

pub async fn a_clock_that_is_set_back_delays_what_is_not_due_and_takes_nothing_back(
    stage: &CaseStage,
) {
    let client = stage.queue_client().await;
    client.push(delayed("a", SECOND)).await;
    client.push(delayed("b", 3 * SECOND)).await;
    stage.advance(2 * SECOND);
    client.settle().await;
    stage.harness().set_now(stage.now() - 3_600_000_000);
    assert_eq!(client.counts().await, [1, 1, 0, 0]);
    stage.advance(HOUR + SECOND);
    assert_eq!(client.texts(9).await, ["a", "b"]);
}
