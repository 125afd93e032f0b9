use futures_util::future::join;
use seinpaal_proto::{Cause, Reply};

use crate::{
    CaseStage,
    requests::{TTL, acquire, cancel, permits, release, want},
    stage::tickets,
};

pub async fn a_waiter_that_cancels_is_never_granted(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    client.take(&want(a)).await;
    client.queue(&want(b)).await;
    assert_eq!(client.one(cancel(b)).await, Reply::Cancelled { ticket: b });
    client.release(a).await;
    assert_eq!(client.holders().await, []);
    assert_eq!(client.acquire(&want(b)).await, Reply::Ended { ticket: b, cause: Cause::Cancelled });
}

pub async fn a_cancel_that_comes_after_the_grant_gives_the_permit_back(stage: &CaseStage) {
    let (holder, mut next) = (stage.client().await, stage.client().await);
    let [a, b, c] = tickets();
    holder.take(&want(a)).await;
    holder.queue(&want(b)).await;
    next.queue(&want(c)).await;
    holder.release(a).await;
    holder.one(cancel(b)).await;
    next.told_of_grant(c).await;
}

pub async fn a_cancel_that_races_a_grant_leaves_nothing_behind(stage: &CaseStage) {
    let (holder, fickle) = (stage.client().await, stage.client().await);
    let mut next = stage.client().await;
    for _ in 0..20 {
        let [a, b, c] = tickets();
        holder.take(&want(a)).await;
        fickle.queue(&want(b)).await;
        next.queue(&want(c)).await;
        join(holder.release(a), fickle.one(cancel(b))).await;
        next.told_of_grant(c).await;
        next.release(c).await;
    }
    assert_eq!(holder.snapshot().await.held, 0);
}

pub async fn a_cancel_that_overtakes_its_acquire_wins(stage: &CaseStage) {
    let client = stage.client().await;
    let [a] = tickets();
    client.one(cancel(a)).await;
    assert_eq!(client.acquire(&want(a)).await, Reply::Ended { ticket: a, cause: Cause::Cancelled });
    assert_eq!(client.holders().await, []);
    stage.advance(TTL);
    client.settle().await;
    client.take(&want(a)).await;
}

pub async fn cancelling_the_large_request_at_the_head_lets_the_small_ones_in(stage: &CaseStage) {
    let client = stage.limited(3).await;
    let [a, b, c, d] = tickets();
    client.take(&want(a)).await;
    client.queue(&permits(b, 3)).await;
    client.queue(&want(c)).await;
    client.queue(&want(d)).await;
    client.one(cancel(b)).await;
    assert_eq!(client.holders().await, [a, c, d]);
}

pub async fn cancelling_a_held_ticket_gives_it_back(stage: &CaseStage) {
    let client = stage.client().await;
    let [a] = tickets();
    client.take(&want(a)).await;
    client.one(cancel(a)).await;
    assert_eq!(client.holders().await, []);
    assert_eq!(client.one(release(a)).await, Reply::Ended { ticket: a, cause: Cause::Cancelled });
}

pub async fn a_request_and_its_cancel_in_one_call_leave_nothing(stage: &CaseStage) {
    let client = stage.limited(2).await;
    let [a] = tickets();
    client.send(vec![acquire(&permits(a, 2)), cancel(a)]).await;
    let seen = client.snapshot().await;
    assert_eq!((seen.held, seen.waiting_total), (0, 0));
}
