use seinpaal_proto::{Acquire, Busy, Cause, Configure, Enqueue, OnMismatch, Reply, Request, What};

use crate::{
    CaseStage,
    requests::{TTL, lasting, limit, permits, stating, want},
    stage::tickets,
};

pub async fn the_limit_is_one_until_somebody_says_otherwise(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    assert_eq!(client.take(&want(a)).await.limit, 1);
    client.queue(&want(b)).await;
}

pub async fn the_limit_that_the_first_states_holds_for_all(stage: &CaseStage) {
    let (first, second) = (stage.client().await, stage.client().await);
    let [a, b] = tickets();
    first.take(&stating(a, 3, OnMismatch::Refuse)).await;
    assert_eq!(second.take(&want(b)).await.limit, 3);
}

pub async fn a_request_that_states_another_limit_is_told_both_numbers(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    client.take(&stating(a, 3, OnMismatch::Refuse)).await;
    let refused = Reply::OtherLimit { ticket: b, stored: 3, stated: 2, is_pinned: false };
    assert_eq!(client.acquire(&stating(b, 2, OnMismatch::Refuse)).await, refused);
    assert_eq!(client.holders().await, [a]);
}

pub async fn an_implied_limit_counts_like_a_stated_one_while_anybody_holds(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    client.take(&want(a)).await;
    let refused = Reply::OtherLimit { ticket: b, stored: 1, stated: 5, is_pinned: false };
    assert_eq!(client.acquire(&stating(b, 5, OnMismatch::Refuse)).await, refused);
}

pub async fn what_is_stated_goes_with_the_last_holder_at_once(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    client.take(&stating(a, 5, OnMismatch::Refuse)).await;
    client.release(a).await;
    assert_eq!(client.take(&stating(b, 1, OnMismatch::Refuse)).await.limit, 1);
}

pub async fn a_pinned_limit_is_adopted_unless_exactly_another_is_wanted(stage: &CaseStage) {
    let client = stage.limited(2).await;
    let [a, b] = tickets();
    assert_eq!(client.take(&stating(a, 3, OnMismatch::Refuse)).await.limit, 2);
    let refused = Reply::OtherLimit { ticket: b, stored: 2, stated: 3, is_pinned: true };
    assert_eq!(client.acquire(&stating(b, 3, OnMismatch::Exact)).await, refused);
    let seen = client.snapshot().await;
    assert_eq!((seen.limit, seen.stated, seen.pinned), (2, Some(3), Some(2)));
}

pub async fn a_limit_that_is_unset_is_let_go_at_once_and_the_queue_is_served(stage: &CaseStage) {
    let (operator, mut waiter) = (stage.limited(0).await, stage.client().await);
    let [a] = tickets();
    waiter.queue(&want(a)).await;
    let reply = operator.one(Request::Configure(Configure::Unpin)).await;
    assert_eq!(reply, Reply::Configured { limit: 1 });
    waiter.told_of_grant(a).await;
}

pub async fn a_request_that_adopts_goes_by_the_stored_limit(stage: &CaseStage) {
    let client = stage.limited(3).await;
    let [a] = tickets();
    assert_eq!(client.take(&stating(a, 1, OnMismatch::Adopt)).await.limit, 3);
}

pub async fn a_request_that_sets_the_limit_lets_waiters_in(stage: &CaseStage) {
    let (setter, mut waiter) = (stage.client().await, stage.client().await);
    let [a, b, c] = tickets();
    setter.take(&want(a)).await;
    waiter.queue(&want(b)).await;
    setter.take(&stating(c, 3, OnMismatch::Set)).await;
    waiter.told_of_grant(b).await;
}

pub async fn more_permits_than_exist_are_refused_and_never_queued(stage: &CaseStage) {
    let client = stage.limited(3).await;
    let [a] = tickets();
    let refused = Reply::TooMany { ticket: a, permits: 4, limit: 3 };
    assert_eq!(client.acquire(&permits(a, 4)).await, refused);
    assert_eq!(client.waiters().await, []);
}

pub async fn a_limit_below_the_held_permits_evicts_nobody_and_admits_nobody(stage: &CaseStage) {
    let client = stage.limited(3).await;
    let [a, b, c, d] = tickets();
    for ticket in [a, b, c] {
        client.take(&want(ticket)).await;
    }
    client.queue(&want(d)).await;
    client.one(limit(1)).await;
    assert_eq!(client.holders().await, [a, b, c]);
    client.release(a).await;
    client.release(b).await;
    assert_eq!(client.holders().await, [c]);
    client.release(c).await;
    assert_eq!(client.holders().await, [d]);
}

pub async fn raising_the_limit_serves_the_queue(stage: &CaseStage) {
    let (client, mut waiter) = (stage.client().await, stage.client().await);
    let [a, b, c, d] = tickets();
    client.take(&want(a)).await;
    for ticket in [b, c, d] {
        waiter.queue(&want(ticket)).await;
    }
    assert_eq!(client.one(limit(3)).await, Reply::Configured { limit: 3 });
    waiter.told_of_grant(b).await;
    waiter.told_of_grant(c).await;
    assert_eq!(client.waiters().await, [d]);
}

pub async fn a_limit_of_zero_admits_nobody_and_keeps_the_waiters(stage: &CaseStage) {
    let client = stage.limited(0).await;
    let [a, b] = tickets();
    client.queue(&permits(a, 2)).await;
    client.queue(&want(b)).await;
    client.one(limit(3)).await;
    assert_eq!(client.holders().await, [a, b]);
}

pub async fn a_waiter_that_can_never_be_served_any_more_is_told(stage: &CaseStage) {
    let (client, mut waiter) = (stage.limited(3).await, stage.client().await);
    let [a, b] = tickets();
    client.take(&want(a)).await;
    waiter.queue(&permits(b, 3)).await;
    client.one(limit(2)).await;
    assert_eq!(waiter.told().await, (b, What::Ended(Cause::TooMany)));
}

pub async fn a_limit_set_on_purpose_stays_when_nobody_is_here(stage: &CaseStage) {
    let client = stage.limited(7).await;
    let [a] = tickets();
    client.take(&lasting(a, TTL)).await;
    client.release(a).await;
    stage.advance(100 * TTL);
    let seen = client.snapshot().await;
    assert_eq!((seen.limit, seen.pinned), (7, Some(7)));
}

pub async fn a_limit_that_is_let_go_is_forgotten_with_the_name(stage: &CaseStage) {
    let client = stage.limited(7).await;
    client.one(Request::Configure(Configure::Unpin)).await;
    let seen = client.snapshot().await;
    assert_eq!((seen.limit, seen.pinned), (1, None));
}

pub async fn only_as_many_wait_as_the_caller_allows(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b, c] = tickets();
    client.take(&want(a)).await;
    client.queue(&want(b)).await;
    let short = Acquire { enqueue: Enqueue::Yes { max_waiting: Some(1) }, ..want(c) };
    let reply = client.acquire(&short).await;
    let too_many = matches!(reply, Reply::Busy { why: Busy::TooManyWaiting, waiting: 1, .. });
    assert!(too_many, "{reply:?}");
}
