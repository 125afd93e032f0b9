use seinpaal_proto::queue::{How, ItemState, Reply, Request};

use crate::{
    CaseStage,
    queue::requests::{MINUTE, delayed, group_limit, item, limit, of_group},
};

pub async fn what_is_ready_can_be_cancelled(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let ids = client.push_all(&["a", "b", "c"]).await;
    let id = ids[1];
    assert_eq!(
        client.one(Request::Cancel { id, spares_work: false }).await,
        Reply::Cancelled { id, was: ItemState::Ready }
    );
    assert_eq!(client.one(Request::Cancel { id, spares_work: false }).await, Reply::Unknown { id });
    assert_eq!(client.texts(9).await, ["a", "c"]);
}

pub async fn what_is_delayed_can_be_cancelled(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let id = client.push(delayed("a", MINUTE)).await;
    let reply = client.one(Request::Cancel { id, spares_work: false }).await;
    assert_eq!(reply, Reply::Cancelled { id, was: ItemState::Delayed });
    stage.advance(MINUTE);
    assert_eq!(client.texts(1).await, [""; 0]);
}

pub async fn cancelling_an_item_in_work_tells_its_worker_and_voids_its_delivery(stage: &CaseStage) {
    let (maker, mut worker) = (stage.queue_client().await, stage.queue_client().await);
    let id = maker.push(item("a")).await;
    let held = worker.take().await;
    let reply = maker.one(Request::Cancel { id, spares_work: false }).await;
    assert_eq!(reply, Reply::Cancelled { id, was: ItemState::InWork });
    worker.told_of_loss(held.delivery).await;
    assert_eq!(worker.finish(held.delivery, How::Acknowledge).await, Reply::Lost { id });
    assert_eq!(maker.counts().await, [0; 4]);
}

pub async fn cancelling_an_item_in_work_makes_room_for_the_next(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.one(limit(1)).await;
    client.one(group_limit(1)).await;
    let id = client.push(of_group("a", "a1")).await;
    client.push(of_group("a", "a2")).await;
    client.take().await;
    client.one(Request::Cancel { id, spares_work: false }).await;
    assert_eq!(client.texts(9).await, ["a2"]);
}

pub async fn cancelling_the_first_of_a_group_brings_in_its_next_one(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.one(group_limit(1)).await;
    let id = client.push(of_group("a", "a1")).await;
    client.push(of_group("a", "a2")).await;
    client.one(Request::Cancel { id, spares_work: false }).await;
    assert_eq!(client.texts(9).await, ["a2"]);
    assert_eq!(client.counts().await, [0, 0, 1, 0]);
}

pub async fn a_cancel_that_spares_work_takes_what_waits_and_nothing_else(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let held = client.push(item("held")).await;
    client.take().await;
    let [ready, later] =
        [client.push(item("ready")).await, client.push(delayed("later", MINUTE)).await];
    let cancel = |id| client.one(Request::Cancel { id, spares_work: true });
    assert_eq!(cancel(held).await, Reply::Unknown { id: held });
    for (id, was) in [(ready, ItemState::Ready), (later, ItemState::Delayed)] {
        assert_eq!(cancel(id).await, Reply::Cancelled { id, was });
    }
    assert_eq!(client.counts().await, [0, 0, 1, 0]);
}
