use std::time::Duration;

use seinpaal_proto::{
    Acquire, Cause, Reply, Ticket,
    time::{UNBOUNDED, WAITER_TTL},
};

use crate::{
    CaseStage,
    client::granted,
    requests::{TTL, acquire, cancel, lasting, permits, release, want, want_now},
    stage::tickets,
};

const SECOND: Duration = Duration::from_secs(1);
const FORTY_YEARS: Duration = Duration::from_secs(40 * 365 * 86_400);
const HOUR: Duration = Duration::from_secs(3_600);

pub async fn a_lease_that_nobody_renews_ends(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    client.take_anonymously(&lasting(a, TTL)).await;
    stage.advance(TTL - SECOND);
    assert_eq!(client.holders().await, [a]);
    stage.advance(SECOND);
    client.take(&want_now(b)).await;
    assert_eq!(client.one(release(a)).await, Reply::Ended { ticket: a, cause: Cause::Expired });
}

pub async fn the_lease_of_a_client_that_listens_ends_too(stage: &CaseStage) {
    let mut client = stage.client().await;
    let [a] = tickets();
    client.take(&lasting(a, TTL)).await;
    stage.advance(TTL);
    client.settle().await;
    assert_eq!(client.told().await, (a, seinpaal_proto::What::Ended(Cause::Expired)));
    assert_eq!(client.holders().await, []);
}

pub async fn a_client_that_lives_holds_without_renewing(stage: &CaseStage) {
    let client = stage.client().await;
    let [a] = tickets();
    assert_eq!(client.take(&lasting(a, TTL)).await.valid_for, None);
    for _ in 0..3 {
        stage.advance(HOUR);
        assert_eq!(client.holders().await, [a]);
    }
}

pub async fn a_client_whose_clock_is_years_behind_is_treated_as_any(stage: &CaseStage) {
    stage.advance(FORTY_YEARS + FORTY_YEARS);
    a_lease_that_nobody_renews_ends(stage).await;
}

pub async fn a_client_whose_clock_is_years_ahead_is_treated_as_any(stage: &CaseStage) {
    stage.harness().set_now(1_000_000);
    a_lease_that_nobody_renews_ends(stage).await;
}

pub async fn each_lease_has_the_length_its_holder_named(stage: &CaseStage) {
    let client = stage.limited(3).await;
    let [long, short, middle] = tickets();
    client.take_anonymously(&lasting(long, TTL)).await;
    client.take_anonymously(&lasting(short, SECOND)).await;
    client.take_anonymously(&lasting(middle, 5 * SECOND)).await;
    stage.advance(SECOND);
    assert_eq!(client.holders().await, [long, middle]);
    stage.advance(4 * SECOND);
    assert_eq!(client.holders().await, [long]);
}

pub async fn a_ttl_of_a_day_outlives_a_short_one_asked_for_later(stage: &CaseStage) {
    let client = stage.limited(2).await;
    let [day, moment] = tickets();
    client.take_anonymously(&lasting(day, 24 * HOUR)).await;
    client.take_anonymously(&lasting(moment, Duration::from_millis(100))).await;
    stage.advance(23 * HOUR);
    assert_eq!(client.holders().await, [day]);
}

pub async fn what_a_dead_holder_held_is_free_at_once(stage: &CaseStage) {
    let (dying, mut waiter) = (stage.limited(2).await, stage.client().await);
    let [a, b] = tickets();
    dying.take(&permits(a, 2)).await;
    waiter.queue(&permits(b, 2)).await;
    stage.vanish(dying).await;
    waiter.told_of_grant(b).await;
}

pub async fn what_a_dead_holder_held_is_free_after_its_ttl_however_long_nobody_looked(
    stage: &CaseStage,
) {
    let (dying, other) = (stage.client().await, stage.client().await);
    let [a, b] = tickets();
    dying.take(&want(a)).await;
    stage.vanish(dying).await;
    stage.advance(TTL);
    other.take(&want_now(b)).await;
}

pub async fn a_dead_waiter_at_the_head_holds_up_nobody(stage: &CaseStage) {
    let (holder, dying) = (stage.limited(2).await, stage.client().await);
    let mut next = stage.client().await;
    let [a, b, c] = tickets();
    holder.take(&permits(a, 2)).await;
    dying.queue(&permits(b, 2)).await;
    next.queue(&want(c)).await;
    stage.vanish(dying).await;
    holder.release(a).await;
    next.told_of_grant(c).await;
}

pub async fn a_waiter_that_died_is_not_granted_later(stage: &CaseStage) {
    let (holder, dying) = (stage.client().await, stage.client().await);
    let [a, b] = tickets();
    holder.take(&want(a)).await;
    dying.queue(&want(b)).await;
    stage.vanish(dying).await;
    holder.release(a).await;
    stage.pass(Duration::from_micros(WAITER_TTL) + SECOND, &holder).await;
    let seen = holder.snapshot().await;
    assert_eq!((seen.held, seen.waiting_total), (0, 0));
}

pub async fn a_place_in_the_queue_ends_with_a_short_lease_of_its_own(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    client.take_anonymously(&lasting(a, HOUR)).await;
    client.anonymously(acquire(&want(b))).await;
    assert_eq!(client.waiters().await, [b]);
    stage.pass(Duration::from_micros(WAITER_TTL), &client).await;
    assert_eq!((client.holders().await, client.waiters().await), (vec![a], vec![]));
}

pub async fn a_waiter_that_asks_again_keeps_its_place(stage: &CaseStage) {
    let client = stage.client().await;
    let line: [Ticket; 3] = tickets();
    client.take_anonymously(&lasting(line[0], HOUR)).await;
    for _ in 0..6 {
        for ticket in &line[1..] {
            client.anonymously(acquire(&want(*ticket))).await;
        }
        stage.advance(5 * SECOND);
    }
    assert_eq!(client.waiters().await, line[1..]);
}

pub async fn a_clock_that_jumps_forward_ends_no_lease_whose_holder_listens(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    client.take(&want(a)).await;
    stage.advance(HOUR);
    let reply = client.acquire(&want_now(b)).await;
    assert!(matches!(reply, Reply::Busy { .. }), "{reply:?}");
    client.release(a).await;
}

pub async fn a_clock_that_jumps_backward_does_not_freeze_recovery(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b] = tickets();
    client.take_anonymously(&want(a)).await;
    stage.harness().set_now(stage.now() - 3_600_000_000);
    client.settle().await;
    stage.pass(TTL, &client).await;
    client.take(&want_now(b)).await;
}

pub async fn the_time_that_a_grant_is_valid_for_is_the_ttl_and_runs_down(stage: &CaseStage) {
    let client = stage.client().await;
    let [a] = tickets();
    let grant = client.take_anonymously(&lasting(a, TTL)).await;
    assert_eq!(grant.valid_for, Some(30_000_000));
    stage.advance(10 * SECOND);
    let again = granted(client.anonymously(acquire(&lasting(a, TTL))).await);
    assert_eq!((again.fence, again.valid_for), (grant.fence, Some(20_000_000)));
}

pub async fn a_name_that_was_used_up_is_forgotten(stage: &CaseStage) {
    let client = stage.client().await;
    let [a, b, c] = tickets();
    let brief = |ticket| Acquire { margin: UNBOUNDED, ..want(ticket) };
    client.take(&brief(a)).await;
    client.queue(&brief(b)).await;
    client.one(cancel(c)).await;
    client.release(a).await;
    client.release(b).await;
    stage.advance(TTL);
    client.settle().await;
    let reply = client.one(release(a)).await;
    assert_eq!(reply, Reply::Unknown { ticket: a });
    assert_eq!(client.store().list(stage.name()).await.unwrap(), []);
}
