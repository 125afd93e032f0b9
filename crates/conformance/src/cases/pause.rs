use seinpaal_proto::{Busy, Reply, TicketReply};

use crate::{
    CaseStage,
    requests::{TTL, pause, release, renew, resume, want, want_now},
    stage::{lease, tickets},
};

pub async fn a_holder_keeps_its_permit_when_the_name_is_paused(stage: &CaseStage) {
    let client = stage.limited(2).await;
    let [a] = tickets();
    client.take(&want(a)).await;
    client.one(pause("repairs")).await;
    let Reply::Tickets { tickets, .. } = client.one(renew(lease(), &[a])).await else { panic!() };
    assert!(matches!(tickets[0], TicketReply::Held { .. }), "{tickets:?}");
    assert_eq!(client.one(release(a)).await, Reply::Released { ticket: a, left: 0 });
}

pub async fn nobody_is_admitted_to_a_name_that_is_paused(stage: &CaseStage) {
    let client = stage.limited(2).await;
    let [a, b, c] = tickets();
    client.take(&want(a)).await;
    client.one(pause("repairs")).await;
    client.queue(&want(b)).await;
    let reply = client.acquire(&want_now(c)).await;
    assert!(matches!(reply, Reply::Busy { why: Busy::Paused, .. }), "{reply:?}");
    client.release(a).await;
    assert_eq!((client.holders().await, client.waiters().await), (vec![], vec![b]));
}

pub async fn resuming_serves_the_queue_in_order(stage: &CaseStage) {
    let (client, mut waiter) = (stage.limited(2).await, stage.client().await);
    let [a, b, c] = tickets();
    client.one(pause("repairs")).await;
    for ticket in [a, b, c] {
        waiter.queue(&want(ticket)).await;
    }
    client.one(resume()).await;
    waiter.told_of_grant(a).await;
    waiter.told_of_grant(b).await;
    assert_eq!(client.waiters().await, [c]);
}

pub async fn the_reason_is_shown_and_stays_when_nobody_is_here(stage: &CaseStage) {
    let client = stage.client().await;
    client.one(pause("Ümbau {7}")).await;
    stage.advance(100 * TTL);
    assert_eq!(client.snapshot().await.paused.as_deref(), Some("Ümbau {7}"));
    client.one(resume()).await;
    assert_eq!(client.snapshot().await.paused, None);
}
