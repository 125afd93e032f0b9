use std::time::Duration;

use seinpaal_proto::{Acquire, Batch, Fence, Ticket, time::UNBOUNDED};

use crate::{
    CaseStage,
    client::granted,
    requests::{TTL, acquire, permits, want},
    stage::tickets,
};

pub async fn every_grant_has_a_greater_fence_than_all_before(stage: &CaseStage) {
    let client = stage.limited(2).await;
    let mut last = Fence(0);
    for _ in 0..10 {
        let [a] = tickets();
        let fence = client.take(&want(a)).await.fence;
        assert!(fence > last);
        last = fence;
        client.release(a).await;
    }
}

pub async fn grants_made_in_one_step_have_fences_of_their_own(stage: &CaseStage) {
    let client = stage.limited(3).await;
    let line: [Ticket; 4] = tickets();
    client.take(&permits(line[0], 3)).await;
    for ticket in &line[1..] {
        client.queue(&want(*ticket)).await;
    }
    client.release(line[0]).await;
    let fences: Vec<_> = client.snapshot().await.holders.iter().map(|row| row.fence).collect();
    assert!(fences.len() == 3 && fences.windows(2).all(|two| two[0] < two[1]), "{fences:?}");
}

pub async fn fences_grow_over_an_idle_time_in_which_all_was_forgotten(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    let before = client.take(&Acquire { margin: UNBOUNDED, ..want(a) }).await.fence;
    client.release(a).await;
    stage.advance(100 * TTL);
    client.settle().await;
    assert!(client.take(&want(b)).await.fence > before);
}

pub async fn fences_grow_over_the_end_of_a_lease(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    let before = client.take_anonymously(&want(a)).await.fence;
    stage.advance(TTL);
    assert!(client.take(&want(b)).await.fence > before);
}

pub async fn fences_grow_though_the_clock_jumps_back(stage: &CaseStage) {
    let client = stage.limited(2).await;
    let [a, b] = tickets();
    let before = client.take(&want(a)).await.fence;
    stage.harness().set_now(stage.now() - 3_600_000_000);
    assert!(client.take(&want(b)).await.fence > before);
}

pub async fn a_fence_that_a_client_has_seen_is_never_given_again(stage: &CaseStage) {
    let client = stage.client().await;
    let [a] = tickets();
    stage.advance(Duration::from_secs(1));
    let seen = stage.now() + 1_000_000;
    let batch = Batch { fence_seen: seen, ..client.batch(vec![acquire(&want(a))]) };
    let reply = client.call(&batch).await.replies.remove(0);
    assert_eq!(granted(reply).fence, Fence(seen + 1));
}

pub async fn within_a_slot_fences_grow(stage: &CaseStage) {
    let client = stage.limited(2).await;
    let [a, b, c] = tickets();
    let first = client.take(&want(a)).await;
    client.take(&want(b)).await;
    client.release(a).await;
    let second = client.take(&want(c)).await;
    assert_eq!(first.slots, second.slots);
    assert!(second.fence > first.fence);
}
