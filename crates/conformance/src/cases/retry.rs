use std::time::Duration;

use futures_util::{FutureExt, pin_mut};
use seinpaal_proto::{Acquire, Cause, Reply, Request};

use crate::{
    CaseStage, InboxClient,
    requests::{
        TTL, acquire, cancel, evict, lasting, limit, pause, permits, release, release_slots, renew,
        renew_all, resume, want,
    },
    stage::{lease, tickets},
};

/// Sends a request twice, as if the first reply had been lost.
async fn twice(client: &InboxClient, request: Request) -> [Reply; 2] {
    let first = client.one(request.clone()).await;
    [first, client.one(request).await]
}

pub async fn an_acquire_whose_reply_was_lost_is_one_grant(stage: &CaseStage) {
    let client = stage.limited(2).await;
    let [a] = tickets();
    let [first, second] = twice(&client, acquire(&want(a))).await;
    assert_eq!(first, second);
    assert_eq!(client.snapshot().await.held, 1);
}

pub async fn an_acquire_whose_reply_was_lost_is_one_place(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b, c] = tickets();
    client.take(&want(a)).await;
    let [first, second] = twice(&client, acquire(&want(b))).await;
    assert_eq!(first, second);
    client.queue(&want(c)).await;
    client.queue(&want(b)).await;
    assert_eq!(client.waiters().await, [b, c]);
}

pub async fn an_acquire_that_was_granted_meanwhile_is_told_so(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    client.take(&want(a)).await;
    client.queue(&want(b)).await;
    client.release(a).await;
    let grant = client.take(&want(b)).await;
    let seen = client.snapshot().await;
    assert_eq!((seen.held, seen.holders[0].fence), (1, grant.fence));
}

pub async fn a_release_whose_reply_was_lost_releases_once(stage: &CaseStage) {
    let client = stage.limited(2).await;
    let [a, b] = tickets();
    client.take(&want(a)).await;
    client.take(&want(b)).await;
    let [first, second] = twice(&client, release(a)).await;
    assert_eq!(first, Reply::Released { ticket: a, left: 0 });
    assert_eq!(second, Reply::Ended { ticket: a, cause: Cause::Released });
    assert_eq!(client.holders().await, [b]);
}

pub async fn slots_given_back_twice_are_given_back_once(stage: &CaseStage) {
    let client = stage.limited(3).await;
    let [a, b] = tickets();
    client.take(&permits(a, 3)).await;
    let left = Reply::Released { ticket: a, left: 2 };
    assert_eq!(client.one(release_slots(a, "0")).await, left);
    client.take(&want(b)).await;
    assert_eq!(client.one(release_slots(a, "0")).await, left);
    assert_eq!(client.snapshot().await.held, 3);
}

pub async fn every_other_request_sent_twice_is_answered_as_if_sent_once(stage: &CaseStage) {
    let client = stage.limited(4).await;
    let ([a, b, c], other) = (tickets(), lease());
    client.take(&permits(a, 3)).await;
    client.take(&want(b)).await;
    client.queue(&permits(c, 4)).await;
    let requests = [
        renew_all(a.lease(), &[a]),
        renew(other, &[a, b, c]),
        cancel(c),
        evict(b),
        pause("repairs"),
        resume(),
        limit(5),
        Request::Inspect { rows: 9 },
    ];
    for request in requests {
        let [first, second] = twice(&client, request.clone()).await;
        assert_eq!(first, second, "{request:?}");
    }
}

pub async fn an_acquire_that_arrives_again_after_the_release_makes_no_lease(stage: &CaseStage) {
    let client = stage.client().await;
    let [a] = tickets();
    client.take(&want(a)).await;
    client.release(a).await;
    let late = client.acquire(&want(a)).await;
    assert_eq!(late, Reply::Ended { ticket: a, cause: Cause::Released });
    assert_eq!(client.holders().await, []);
}

pub async fn numbers_of_one_series_are_granted_once_each(stage: &CaseStage) {
    let client = stage.client().await;
    let [first] = tickets();
    for number in 1..=3 {
        let ticket = first.series().ticket(number);
        client.take(&want(ticket)).await;
        client.release(ticket).await;
        let late = client.acquire(&want(ticket)).await;
        assert_eq!(late, Reply::Ended { ticket, cause: Cause::Released });
    }
    assert_eq!(client.holders().await, []);
}

pub async fn a_late_release_does_not_free_the_next_permit_of_its_client(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    client.take(&want(a)).await;
    client.release(a).await;
    client.take(&want(b)).await;
    client.one(release(a)).await;
    assert_eq!(client.holders().await, [b]);
}

pub async fn a_release_after_the_end_does_not_free_the_permit_of_another(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    client.take_anonymously(&lasting(a, TTL)).await;
    stage.advance(TTL);
    client.take(&want(b)).await;
    assert_eq!(client.one(release(a)).await, Reply::Ended { ticket: a, cause: Cause::Expired });
    assert_eq!(client.holders().await, [b]);
}

pub async fn a_request_that_comes_after_its_deadline_is_refused(stage: &CaseStage) {
    let client = stage.client().await;
    let [a] = tickets();
    let now = client.send(vec![]).await.now;
    assert_eq!(now, stage.now());
    let until = Acquire { not_after: Some(now + 1_000_000), ..want(a) };
    stage.advance(Duration::from_secs(2));
    assert_eq!(client.acquire(&until).await, Reply::TooLate { ticket: a });
    assert_eq!(client.holders().await, []);
}

/// A client needs the store's clock for the deadline of its very first request.
pub async fn a_store_tells_its_clock_when_it_is_opened(stage: &CaseStage) {
    stage.advance(Duration::from_secs(2));
    let client = stage.client().await;
    assert_eq!(client.store().first_reading().shows, stage.now());
}

pub async fn a_call_that_is_dropped_half_way_can_be_made_again(stage: &CaseStage) {
    let client = stage.limited(2).await;
    let [a] = tickets();
    // The call is dropped after each number of polls, so that it is cut off at each place where it
    // can wait.
    for polls in 0..6 {
        let batch = client.batch(vec![acquire(&want(a))]);
        let call = client.store().call(&batch);
        pin_mut!(call);
        for _ in 0..polls {
            if call.as_mut().now_or_never().is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    let grant = client.take(&want(a)).await;
    let seen = client.snapshot().await;
    assert_eq!((seen.held, seen.holders[0].fence), (1, grant.fence));
}
