use seinpaal_proto::{Acquire, Cause, Reply, Ticket, TicketReply, What};

use crate::{
    CaseStage,
    client::InboxClient,
    requests::{ask_holder, evict, renew, renew_all, want},
    stage::{lease, tickets},
};

/// The people that have asked for a ticket, as the answer to its renewal says.
async fn told_by_renewal(
    holder: &InboxClient,
    lease: seinpaal_proto::LeaseId,
    of: Ticket,
) -> Vec<String> {
    let Reply::Tickets { tickets, .. } = holder.one(renew(lease, &[of])).await else {
        panic!("renewed by ticket, answered otherwise")
    };
    let [TicketReply::Held { asks, .. }] = &tickets[..] else { panic!("{tickets:?}") };
    asks.iter().map(|ask| ask.by().to_owned()).collect()
}

pub async fn a_holder_that_is_asked_is_told_and_holds_on(stage: &CaseStage) {
    let (mut holder, [a]) = (stage.client().await, tickets());
    holder.take(&want(a)).await;
    assert_eq!(holder.anonymously(ask_holder(a, "eve")).await, Reply::Asked { ticket: a });
    assert_eq!(holder.told().await, (a, What::Asked));
    assert_eq!(told_by_renewal(&holder, want(a).lease, a).await, ["eve"]);
    assert_eq!(holder.holders().await, [a]);
    holder.release(a).await;
}

pub async fn a_holder_that_hears_no_wakeup_is_told_by_its_renewal(stage: &CaseStage) {
    let (holder, [a, b], shared) = (stage.limited(2).await, tickets(), lease());
    for ticket in [a, b] {
        holder.take(&Acquire { lease: shared, ..want(ticket) }).await;
    }
    for by in ["eve", "bob", "eve"] {
        assert_eq!(holder.anonymously(ask_holder(a, by)).await, Reply::Asked { ticket: a });
    }
    assert_eq!(holder.one(renew_all(shared, &[a, b])).await, Reply::Differs);
    assert_eq!(told_by_renewal(&holder, shared, a).await, ["eve", "bob"]);
    assert_eq!(told_by_renewal(&holder, shared, a).await, ["eve", "bob"], "a reply may be lost");
    // It stays apart for as long as it is held, and the rest is renewed as a whole.
    let renewed = holder.one(renew_all(shared, &[b])).await;
    assert!(matches!(renewed, Reply::Renewed { .. }), "{renewed:?}");
    assert_eq!(holder.one(renew_all(shared, &[a, b])).await, Reply::Differs);
}

pub async fn only_a_ticket_that_holds_can_be_asked_for(stage: &CaseStage) {
    let (holder, waiter) = (stage.client().await, stage.client().await);
    let [a, b, c] = tickets();
    holder.take(&want(a)).await;
    waiter.queue(&want(b)).await;
    let waits = holder.anonymously(ask_holder(b, "eve")).await;
    assert!(matches!(waits, Reply::Queued { ticket, .. } if ticket == b), "{waits:?}");
    assert_eq!(holder.anonymously(ask_holder(c, "eve")).await, Reply::Unknown { ticket: c });
    holder.one(evict(a)).await;
    let ended = Reply::Ended { ticket: a, cause: Cause::Evicted };
    assert_eq!(holder.anonymously(ask_holder(a, "eve")).await, ended);
}

pub async fn people_see_what_was_asked_until_the_grant_ends(stage: &CaseStage) {
    let (holder, [a, b]) = (stage.client().await, tickets());
    holder.take(&want(a)).await;
    holder.anonymously(ask_holder(a, "eve")).await;
    let snapshot = holder.snapshot().await;
    let asks: Vec<_> = snapshot.holders[0].asks().collect();
    assert!(matches!(&asks[..], [(ask, _)] if ask.by() == "eve"), "{asks:?}");
    holder.release(a).await;
    holder.take(&want(b)).await;
    assert_eq!(holder.snapshot().await.holders[0].asks().count(), 0);
}
