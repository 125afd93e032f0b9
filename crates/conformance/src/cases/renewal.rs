use std::time::Duration;

use seinpaal_proto::{Acquire, Batch, Cause, Reply, TicketReply, time::UNBOUNDED};

use crate::{
    CaseStage,
    requests::{TTL, TTL_MICROS, acquire, evict, lasting, release, renew, renew_all, want},
    stage::{lease, members, tickets},
};

const INSTANT: Duration = Duration::from_micros(1);

pub async fn renewing_a_lease_extends_all_that_stands_under_it(stage: &CaseStage) {
    let client = stage.limited(2).await;
    let both = members::<2>();
    for ticket in both {
        client.take_anonymously(&lasting(ticket, TTL)).await;
    }
    stage.advance(TTL - INSTANT);
    let renewed = Reply::Renewed { valid_for: Some(TTL_MICROS) };
    assert_eq!(client.anonymously(renew_all(both[0].lease(), &both)).await, renewed);
    stage.advance(TTL - INSTANT);
    assert_eq!(client.holders().await, both);
}

pub async fn renewing_with_a_wrong_digest_renews_nothing(stage: &CaseStage) {
    let client = stage.limited(2).await;
    let [a, b, c] = members();
    for ticket in [a, b] {
        client.take_anonymously(&lasting(ticket, TTL)).await;
    }
    stage.advance(TTL - INSTANT);
    for wrong in [&[a][..], &[a, c], &[a, b, c]] {
        assert_eq!(client.anonymously(renew_all(a.lease(), wrong)).await, Reply::Differs);
    }
    stage.advance(INSTANT);
    assert_eq!(client.holders().await, []);
}

pub async fn renewing_by_ticket_tells_the_live_from_the_dead(stage: &CaseStage) {
    let client = stage.limited(4).await;
    let ([live, released, evicted, expired, unknown], lease) = (tickets(), lease());
    client.take_anonymously(&lasting(expired, TTL / 2)).await;
    for ticket in [live, released, evicted] {
        client.take_anonymously(&lasting(ticket, TTL)).await;
    }
    stage.advance(TTL / 2);
    client.anonymously(release(released)).await;
    client.one(evict(evicted)).await;
    let all = [live, released, evicted, expired, unknown];
    let Reply::Tickets { valid_for, tickets } = client.anonymously(renew(lease, &all)).await else {
        panic!("renewed by ticket, answered otherwise")
    };
    assert_eq!(valid_for, Some(TTL_MICROS));
    assert!(matches!(tickets[0], TicketReply::Held { .. }), "{tickets:?}");
    let over = [Cause::Released, Cause::Evicted, Cause::Expired].map(TicketReply::Ended);
    assert_eq!(tickets[1..4], over);
    assert_eq!(tickets[4], TicketReply::Unknown);
}

pub async fn renewing_never_revives_an_ended_ticket(stage: &CaseStage) {
    let client = stage.client().await;
    let [a] = tickets();
    client.take(&want(a)).await;
    client.release(a).await;
    assert_eq!(client.one(renew_all(a.lease(), &[a])).await, Reply::Gone);
    client.one(renew(a.lease(), &[a])).await;
    assert_eq!(client.holders().await, []);
}

pub async fn a_lease_of_another_client_cannot_be_renewed_as_a_whole(stage: &CaseStage) {
    let (holder, other) = (stage.client().await, stage.client().await);
    let [a] = tickets();
    holder.take(&want(a)).await;
    let renewal = renew_all(a.lease(), &[a]);
    for refused in [other.one(renewal.clone()).await, other.anonymously(renewal.clone()).await] {
        assert!(matches!(refused, Reply::Differs | Reply::Gone), "{refused:?}");
    }
    let renewed = holder.one(renewal).await;
    assert!(matches!(renewed, Reply::Renewed { .. }), "{renewed:?}");
}

pub async fn a_waiter_is_not_made_a_holder_by_a_renewal(stage: &CaseStage) {
    let client = stage.client().await;
    let ([a, b], lease) = (tickets(), lease());
    client.take(&want(a)).await;
    client.queue(&want(b)).await;
    let Reply::Tickets { tickets, .. } = client.one(renew(lease, &[b])).await else { panic!() };
    assert_eq!(tickets, [TicketReply::Waiting]);
    assert_eq!(client.holders().await, [a]);
}

pub async fn a_renewal_behind_a_release_proves_what_the_release_hands_over(stage: &CaseStage) {
    let mut client = stage.client().await;
    let [a, b] = tickets();
    client.take(&want(a)).await;
    client.queue(&want(b)).await;
    let replies = client.send([release(a), renew(b.lease(), &[b])].into()).await.replies;
    let [Reply::Released { left: 0, .. }, Reply::Tickets { valid_for, tickets }] = &*replies else {
        panic!("{replies:?}")
    };
    assert!(matches!(tickets[..], [TicketReply::Held { .. }]), "{tickets:?}");
    assert!(valid_for.is_none_or(|valid_for| valid_for > TTL_MICROS / 3 * 2), "{valid_for:?}");
    client.told_of_grant(b).await;
    assert_eq!(client.holders().await, [b]);
}

pub async fn the_places_in_the_queue_are_renewed_in_one_call(stage: &CaseStage) {
    let client = stage.client().await;
    let ([a], [b, c]) = (tickets(), members());
    client.take_anonymously(&lasting(a, 100 * TTL)).await;
    for ticket in [b, c] {
        let want = Acquire { margin: UNBOUNDED, ..want(ticket) };
        client.anonymously(acquire(&want)).await;
    }
    for _ in 0..3 {
        stage.pass(Duration::from_secs(14), &client).await;
        let reply = client.anonymously(renew_all(b.place(), &[b, c])).await;
        // A quorum tells no positions.
        assert!(
            matches!(reply, Reply::Waits { position: 1, .. } | Reply::Renewed { .. }),
            "{reply:?}"
        );
    }
    assert_eq!(client.waiters().await, [b, c]);
}

/// The tickets stand under as many leases before, and under one lease after.
pub async fn as_many_tickets_as_a_lease_may_have_are_renewed_in_one_request(stage: &CaseStage) {
    const MOST: usize = Batch::MOST_UNDER_A_LEASE;
    let client = stage.limited(MOST as u32).await;
    let (all, lease) = (tickets::<MOST>(), lease());
    client.send(all.iter().map(|ticket| acquire(&want(*ticket))).collect()).await;
    let Reply::Tickets { tickets, .. } = client.one(renew(lease, &all)).await else { panic!() };
    assert!(tickets.iter().all(|reply| matches!(reply, TicketReply::Held { .. })));
    let renewed = client.one(renew_all(lease, &all)).await;
    assert!(matches!(renewed, Reply::Renewed { .. }), "{renewed:?}");
}
