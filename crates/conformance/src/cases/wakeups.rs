use std::time::Duration;

use seinpaal_proto::{Acquire, Cause, Reply, Ticket, What, time::UNBOUNDED};

use crate::{
    CaseStage,
    requests::{acquire, evict, lasting, permits, release, want},
    stage::{source_of, tickets},
};

pub async fn a_release_wakes_the_winner_and_nobody_else(stage: &CaseStage) {
    let (holder, mut second) = (stage.client().await, stage.client().await);
    let mut third = stage.client().await;
    let [a, b, c] = tickets();
    holder.take(&want(a)).await;
    second.queue(&want(b)).await;
    third.queue(&want(c)).await;
    holder.release(a).await;
    second.told_of_grant(b).await;
    second.release(b).await;
    third.told_of_grant(c).await;
}

pub async fn a_wakeup_says_what_was_granted(stage: &CaseStage) {
    let (holder, mut waiter) = (stage.limited(3).await, stage.client().await);
    let [a, b] = tickets();
    holder.take(&permits(a, 2)).await;
    waiter.queue(&permits(b, 3)).await;
    holder.release(a).await;
    let (ticket, what) = waiter.told().await;
    let row = holder.snapshot().await.holders.remove(0);
    assert_eq!((ticket, &row.slots.to_string()[..]), (b, "0-2"));
    assert_eq!(what, What::Granted { fence: row.fence, slots: row.slots, limit: 3 });
}

pub async fn a_client_hears_of_its_own_other_tickets(stage: &CaseStage) {
    let mut client = stage.client().await;
    let [a, b] = tickets();
    let replies = client.send(vec![acquire(&want(a)), acquire(&want(b)), release(a)]).await.replies;
    assert!(matches!(replies[1], Reply::Queued { .. }), "{replies:?}");
    client.told_of_grant(b).await;
}

pub async fn a_holder_that_is_evicted_is_told(stage: &CaseStage) {
    let (mut holder, mut waiter) = (stage.client().await, stage.client().await);
    let [a, b] = tickets();
    holder.take(&want(a)).await;
    waiter.queue(&want(b)).await;
    assert_eq!(waiter.one(evict(a)).await, Reply::Evicted { ticket: a });
    assert_eq!(holder.told().await, (a, What::Ended(Cause::Evicted)));
    waiter.told_of_grant(b).await;
    let ended = Reply::Ended { ticket: a, cause: Cause::Evicted };
    assert_eq!(holder.one(release(a)).await, ended);
}

pub async fn a_waiter_that_is_evicted_is_told(stage: &CaseStage) {
    let (holder, mut waiter) = (stage.client().await, stage.client().await);
    let [a, b] = tickets();
    holder.take(&want(a)).await;
    waiter.queue(&want(b)).await;
    holder.one(evict(b)).await;
    assert_eq!(waiter.told().await, (b, What::Ended(Cause::Evicted)));
    assert_eq!(waiter.acquire(&want(b)).await, Reply::Ended { ticket: b, cause: Cause::Evicted });
}

pub async fn a_ticket_that_is_not_here_cannot_be_evicted(stage: &CaseStage) {
    let client = stage.client().await;
    let [a] = tickets();
    assert_eq!(client.one(evict(a)).await, Reply::Unknown { ticket: a });
}

pub async fn the_first_in_line_is_told_when_to_look_though_no_wakeup_comes(stage: &CaseStage) {
    let (dying, waiter) = (stage.client().await, stage.client().await);
    let other = stage.client().await;
    let ([a, c], b) = (tickets(), source_of(waiter.inbox()).ticket());
    dying.anonymously(acquire(&lasting(a, Duration::from_secs(2)))).await;
    let patient = |ticket| Acquire { margin: UNBOUNDED, ..want(ticket) };
    let first = waiter.send(vec![acquire(&patient(b))]).await;
    assert_eq!(first.look_in, Some(2_000_000));
    assert_eq!(other.send(vec![acquire(&patient(c))]).await.look_in, None);
    stage.advance(Duration::from_micros(first.look_in.unwrap()));
    waiter.take(&patient(b)).await;
}

pub async fn a_waiter_that_cannot_be_reached_is_passed_over_and_keeps_its_place(stage: &CaseStage) {
    let (holder, mut deaf) = (stage.client().await, stage.client().await);
    let mut next = stage.client().await;
    let [a, b, c, d] = tickets::<4>();
    holder.take(&want(a)).await;
    deaf.queue(&want(b)).await;
    next.queue(&want(c)).await;
    next.queue(&want(d)).await;
    stage.harness().set_hears(deaf.inbox(), false);
    holder.release(a).await;
    next.told_of_grant(c).await;
    stage.harness().set_hears(deaf.inbox(), true);
    deaf.told_to_look_again().await;
    deaf.queue(&want(b)).await;
    assert_eq!(next.waiters().await, [b, d]);
}

pub async fn a_hundred_grants_in_one_step_are_all_told(stage: &CaseStage) {
    let (holder, mut waiter) = (stage.limited(100).await, stage.client().await);
    let line: [Ticket; 101] = tickets();
    holder.take(&permits(line[0], 100)).await;
    for some in line[1..].chunks(50) {
        waiter.send(some.iter().map(|ticket| acquire(&want(*ticket))).collect()).await;
    }
    holder.release(line[0]).await;
    for ticket in &line[1..] {
        waiter.told_of_grant(*ticket).await;
    }
}
