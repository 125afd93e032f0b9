use seinpaal_proto::{
    Acquire, Cause, Fence, LeaseId, Renew, Reply, Request, TicketReply, What, Whom,
    time::{Micros, SECOND, UNBOUNDED},
};

use crate::{
    CaseStage,
    client::{InboxClient, granted},
    requests::{
        TTL_MICROS, acquire, attach, cancel, detach, detach_grant, evict, permits, release, renew,
        renew_all, want,
    },
    stage::{lease, members, tickets},
};

pub async fn attaching_is_a_grant_with_a_fence_of_its_own_and_ends_the_one_before(
    stage: &CaseStage,
) {
    let (mut giver, mut taker) = (stage.limited(3).await, stage.client().await);
    let [a, b] = members();
    let before = giver.take(&permits(a, 2)).await;
    giver.take(&want(b)).await;
    let after = granted(taker.one(attach(a, lease())).await);
    assert!(after.fence > before.fence, "{after:?} after {before:?}");
    assert_eq!((after.slots, after.limit), (before.slots, 3));
    assert_eq!(giver.told().await, (a, What::Ended(Cause::Attached)));
    assert_eq!(giver.one(renew_all(a.lease(), &[a, b])).await, Reply::Differs);
    let renewed = giver.one(renew_all(a.lease(), &[b])).await;
    assert!(matches!(renewed, Reply::Renewed { .. }), "{renewed:?}");
    giver.one(evict(a)).await;
    assert_eq!(taker.told().await, (a, What::Ended(Cause::Evicted)));
}

pub async fn nothing_that_an_old_holder_sends_frees_or_keeps_the_permit_of_the_new_one(
    stage: &CaseStage,
) {
    let (giver, taker) = (stage.client().await, stage.client().await);
    let ([a], lease) = (tickets(), lease());
    giver.take(&want(a)).await;
    granted(taker.one(attach(a, lease)).await);
    let ended = Reply::Ended { ticket: a, cause: Cause::Attached };
    for request in [release(a), detach(a)] {
        assert_eq!(giver.one(request).await, ended);
    }
    giver.one(cancel(a)).await;
    let Reply::Tickets { tickets, .. } = giver.one(renew(crate::stage::lease(), &[a])).await else {
        panic!("renewed by ticket, answered otherwise")
    };
    assert_eq!(tickets, [TicketReply::Ended(Cause::Attached)]);
    let renewed = taker.one(renew_all(lease, &[a])).await;
    assert!(matches!(renewed, Reply::Renewed { .. }), "{renewed:?}");
    taker.release(a).await;
}

pub async fn a_late_copy_of_a_detach_changes_nothing_after_an_attach(stage: &CaseStage) {
    let client = stage.client().await;
    let ([a], lease) = (tickets(), lease());
    let first = client.take(&want(a)).await.fence;
    let detached = client.one(detach_grant(a, first)).await;
    assert!(matches!(detached, Reply::Renewed { .. }), "{detached:?}");
    granted(client.one(attach(a, lease)).await);
    let ended = Reply::Ended { ticket: a, cause: Cause::Attached };
    assert_eq!(client.one(detach_grant(a, first)).await, ended);
    let renewed = client.one(renew_all(lease, &[a])).await;
    assert!(matches!(renewed, Reply::Renewed { .. }), "{renewed:?}");
    client.release(a).await;
}

pub async fn the_same_attach_twice_is_one_grant(stage: &CaseStage) {
    let (giver, taker) = (stage.client().await, stage.client().await);
    let ([a], lease) = (tickets(), lease());
    giver.take(&want(a)).await;
    granted(taker.one(attach(a, lease)).await);
    let again = granted(taker.one(attach(a, lease)).await);
    let holders = taker.snapshot().await.holders;
    assert_eq!((holders.len(), holders[0].fence), (1, again.fence));
    taker.release(a).await;
    assert_eq!(taker.holders().await, []);
}

pub async fn of_two_that_attach_the_later_has_it_and_a_late_copy_takes_nothing_back(
    stage: &CaseStage,
) {
    let (giver, mut first) = (stage.client().await, stage.client().await);
    let (second, [a]) = (stage.client().await, tickets());
    let (early, late) = (lease(), lease());
    giver.take(&want(a)).await;
    assert!(matches!(giver.one(detach(a)).await, Reply::Renewed { .. }));
    granted(first.one(attach(a, early)).await);
    granted(second.one(attach(a, late)).await);
    assert_eq!(first.told().await, (a, What::Ended(Cause::Attached)));
    let copy = first.one(attach(a, early)).await;
    assert_eq!(copy, Reply::Ended { ticket: a, cause: Cause::Attached });
    let renewed = second.one(renew_all(late, &[a])).await;
    assert!(matches!(renewed, Reply::Renewed { .. }), "{renewed:?}");
}

pub async fn a_detached_permit_outlives_its_client_and_is_taken_up_by_attaching(stage: &CaseStage) {
    let (giver, taker) = (stage.client().await, stage.client().await);
    let [a] = tickets();
    let before = giver.take(&want(a)).await;
    assert_eq!(giver.one(detach(a)).await, Reply::Renewed { valid_for: Some(TTL_MICROS) });
    assert!(matches!(giver.one(detach(a)).await, Reply::Renewed { .. }), "sent twice");
    stage.vanish(giver).await;
    assert_eq!(taker.holders().await, [a]);
    let after = granted(taker.one(attach(a, lease())).await);
    assert!(after.fence > before.fence, "{after:?} after {before:?}");
}

/// The lease is renewed as nobody, as `seinpaal renew` does.
pub async fn a_renewal_without_a_ttl_lasts_for_that_of_the_acquire_and_shortens_nothing(
    stage: &CaseStage,
) {
    const LONG: Micros = 12 * SECOND;
    let client = stage.client().await;
    let [a] = tickets();
    client.take(&Acquire { ttl: LONG, ..want(a) }).await;
    let detach = Request::Detach { ticket: a, fence: Fence(UNBOUNDED), ttl: LONG, margin: SECOND };
    client.one(detach).await;
    let (lease, whom) = (LeaseId::from(a), Whom::Tickets(vec![a]));
    let renew = |ttl| Request::Renew(Renew { lease, ttl, margin: SECOND, whom: whom.clone() });
    for (ttl, at_least) in [(0, LONG), (2 * LONG, 2 * LONG), (0, LONG + LONG / 2)] {
        let Reply::Tickets { valid_for: Some(left), .. } = client.anonymously(renew(ttl)).await
        else {
            panic!("a lease without a client has an end")
        };
        assert!((at_least..=2 * LONG).contains(&left), "{ttl}: {left}");
    }
}

pub async fn an_attach_that_is_given_up_before_it_arrives_changes_nothing(stage: &CaseStage) {
    let (giver, taker) = (stage.client().await, stage.client().await);
    let ([a], lease) = (tickets(), lease());
    giver.take(&want(a)).await;
    let give_up = Request::Cancel { ticket: a, remember: TTL_MICROS, attach: Some(lease) };
    assert_eq!(taker.one(give_up).await, Reply::Cancelled { ticket: a });
    let late = taker.one(attach(a, lease)).await;
    assert_eq!(late, Reply::Ended { ticket: a, cause: Cause::Cancelled });
    giver.release(a).await;
}

pub async fn a_renewal_as_nobody_leaves_alone_what_a_client_keeps(stage: &CaseStage) {
    let client = stage.client().await;
    let [a] = tickets();
    let held = client.take(&want(a)).await;
    let Reply::Tickets { tickets, .. } = client.anonymously(renew(lease(), &[a])).await else {
        panic!("renewed by ticket, answered otherwise")
    };
    assert!(matches!(&tickets[..], [TicketReply::Held { fence, .. }] if *fence == held.fence));
    let renewed = client.one(renew_all(a.lease(), &[a])).await;
    assert!(matches!(renewed, Reply::Renewed { .. }), "{renewed:?}");
}

pub async fn a_holder_whose_ticket_somebody_gives_back_is_told(stage: &CaseStage) {
    let (mut holder, mut waiter): (InboxClient, InboxClient) =
        (stage.client().await, stage.client().await);
    let [a, b] = tickets();
    holder.take(&want(a)).await;
    waiter.one(acquire(&want(b))).await;
    for (client, ticket) in [(&mut waiter, b), (&mut holder, a)] {
        let released = Reply::Released { ticket, left: 0 };
        assert_eq!(client.anonymously(release(ticket)).await, released);
        assert_eq!(client.told().await, (ticket, What::Ended(Cause::Released)));
    }
}
