use seinpaal_proto::queue::{Batch, Reply, Request};

use crate::{
    CaseStage,
    queue::{
        QueueClient,
        client::popped,
        requests::{AT_ONCE, HOUR, SECOND, fail, give_back, item, pop},
    },
};

/// Pushes an item and takes it. Returns its number, and that of its delivery.
async fn numbers(client: &QueueClient<'_>) -> [u64; 2] {
    client.push(item("a")).await;
    let held = client.take().await.delivery;
    client.acknowledge(held).await;
    [held.id.0, held.fence.0]
}

pub async fn numbers_of_items_and_fences_of_deliveries_grow_together(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let mut last = 0;
    for _ in 0..20 {
        for number in numbers(&client).await {
            assert!(number > last);
            last = number;
        }
    }
}

pub async fn items_of_one_batch_have_numbers_and_fences_of_their_own(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let ids = client.push_all(&["x"; 64]).await;
    let fences: Vec<_> = client.pop(64).await.iter().map(|it| it.delivery.fence.0).collect();
    let all: Vec<_> = ids.iter().map(|id| id.0).chain(fences).collect();
    assert_eq!(all.len(), 128);
    assert!(all.is_sorted_by(|one, next| one < next), "{all:?}");
}

pub async fn every_delivery_of_an_item_has_a_greater_fence(stage: &CaseStage) {
    let client = stage.queue_client().await;
    client.push(item("a")).await;
    let mut last = None;
    for how in [give_back(AT_ONCE), fail("no", SECOND), give_back(SECOND), fail("no", AT_ONCE)] {
        let held = client.take().await.delivery;
        assert!(last < Some(held.fence));
        last = Some(held.fence);
        client.finish(held, how).await;
        stage.advance(SECOND);
    }
}

pub async fn numbers_grow_though_the_clock_jumps_back(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let before = numbers(&client).await;
    stage.harness().set_now(stage.now() - 3_600_000_000);
    let after = numbers(&client).await;
    assert!(before[1] < after[0], "{before:?}, then {after:?}");
}

pub async fn numbers_grow_over_an_idle_time_in_which_all_was_forgotten(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let before = numbers(&client).await;
    stage.advance(HOUR);
    client.settle().await;
    assert_eq!(client.store().list_queues(stage.name()).await.unwrap(), []);
    let after = numbers(&client).await;
    assert!(before[1] < after[0], "{before:?}, then {after:?}");
}

pub async fn a_number_that_a_client_has_seen_is_never_given_again(stage: &CaseStage) {
    let client = stage.queue_client().await;
    let seen = stage.now() + 3_600_000_000;
    let requests = vec![Request::Push(item("a")), Request::Pop(pop(1))];
    let mut replies = client.call(&Batch { seen, ..client.batch(requests) }).await.replies;
    let held = popped(replies.pop().unwrap()).remove(0);
    assert_eq!(replies, [Reply::Pushed { id: held.delivery.id }]);
    assert!(seen < held.delivery.id.0 && held.delivery.id.0 < held.delivery.fence.0);
}
