use crate::{
    CaseStage,
    requests::{limit, permits, release_slots, want},
    stage::tickets,
};

pub async fn the_lowest_free_slots_are_given_first(stage: &CaseStage) {
    let client = stage.limited(6).await;
    let [a, b, c, d, e] = tickets();
    assert_eq!(client.take(&permits(a, 2)).await.slots.to_string(), "0-1");
    assert_eq!(client.take(&want(b)).await.slots.to_string(), "2");
    assert_eq!(client.take(&permits(c, 2)).await.slots.to_string(), "3-4");
    client.release(a).await;
    assert_eq!(client.take(&want(d)).await.slots.to_string(), "0");
    assert_eq!(client.take(&permits(e, 2)).await.slots.to_string(), "1,5");
}

pub async fn some_slots_can_be_given_back_and_the_rest_stays(stage: &CaseStage) {
    let (holder, mut next) = (stage.limited(4).await, stage.client().await);
    let [a, b] = tickets();
    holder.take(&permits(a, 4)).await;
    next.queue(&permits(b, 2)).await;
    holder.one(release_slots(a, "1,3")).await;
    next.told_of_grant(b).await;
    let rows = next.snapshot().await.holders;
    let slots: Vec<_> = rows.iter().map(|row| (row.ticket, row.slots.to_string())).collect();
    assert_eq!(slots, [(a, "0,2".to_owned()), (b, "1,3".to_owned())]);
}

pub async fn slots_that_another_holds_are_not_given_back(stage: &CaseStage) {
    let client = stage.limited(3).await;
    let [a, b] = tickets();
    client.take(&want(a)).await;
    client.take(&permits(b, 2)).await;
    client.one(release_slots(a, "1-2")).await;
    assert_eq!(client.snapshot().await.held, 3);
}

pub async fn slots_stay_below_a_limit_that_was_lowered(stage: &CaseStage) {
    let client = stage.limited(4).await;
    let [a, b, c] = tickets();
    client.take(&permits(a, 3)).await;
    client.take(&want(b)).await;
    client.one(limit(2)).await;
    client.release(a).await;
    assert_eq!(client.take(&want(c)).await.slots.to_string(), "0");
}

pub async fn slots_begin_at_zero_again_when_everybody_has_left(stage: &CaseStage) {
    let client = stage.limited(5).await;
    let [a, b, c] = tickets();
    client.take(&want(a)).await;
    client.take(&permits(b, 3)).await;
    client.release(a).await;
    client.release(b).await;
    assert_eq!(client.take(&permits(c, 5)).await.slots.to_string(), "0-4");
}

pub async fn ten_thousand_permits_are_had_in_one_request(stage: &CaseStage) {
    let client = stage.limited(10_000).await;
    let [a, b] = tickets();
    assert_eq!(client.take(&permits(a, 10_000)).await.slots.to_string(), "0-9999");
    client.queue(&want(b)).await;
    client.release(a).await;
    assert_eq!(client.holders().await, [b]);
}
