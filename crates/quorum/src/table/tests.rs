//! Reports that a ticket has ended, and proofs that it has not.

use seinpaal_proto::{
    Enqueue, Fence, Kind, Priority, Renew, SlotNames,
    time::{SECOND, WAITER_TTL},
};
use tokio::time::advance;

use super::*;

const TICKET: Ticket = Ticket(1);
const LEASE: LeaseId = LeaseId(2);
/// Of three nodes.
const MAJORITY: usize = 2;

fn name() -> Name {
    Name::new("n").unwrap()
}

fn held() -> HeldGrant {
    let want = Acquire {
        ticket: TICKET,
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        wishes: SlotNames::none(),
        limit: None,
        enqueue: Enqueue::No,
        priority: Priority::default(),
        ttl: 30 * SECOND,
        margin: SECOND,
        waiter_ttl: WAITER_TTL,
        not_after: None,
        about: String::new(),
    };
    HeldGrant { want, lease: LEASE, slots: Slots::range(0, 1), fence: 7 }
}

/// A renewal, and the answer of a majority by which the ticket has not ended.
fn renewal(whom: Whom) -> (Request, Reply) {
    let there =
        TicketReply::Held { fence: Fence(7), slots: Slots::range(0, 1), names: SlotNames::none() };
    let reply = match whom {
        Whom::All { .. } => Reply::Renewed { valid_for: None },
        Whom::Tickets(_) => Reply::Tickets { valid_for: None, tickets: vec![there] },
    };
    (Request::Renew(Renew { lease: LEASE, ttl: 30 * SECOND, margin: SECOND, whom }), reply)
}

fn renewed(table: &mut TicketTable, whom: Whom, sent: Instant) {
    let (request, reply) = renewal(whom);
    let (inbox, requests) = (Some(seinpaal_proto::Inbox(1)), vec![request]);
    let batch = Batch { name: name(), inbox, fence_seen: 0, requests };
    table.note(&batch, &batch.requests[0], &reply, sent);
}

/// A renewal of the whole lease, and one of the ticket.
fn renewals() -> [Whom; 2] {
    [Whom::All { members: 1, digest: TICKET.digest() }, Whom::Tickets(vec![TICKET])]
}

fn table() -> TicketTable {
    let mut table = TicketTable::default();
    table.grant(&name(), held());
    table
}

#[tokio::test(start_paused = true)]
async fn ends_that_are_reported_while_a_renewal_is_under_way_still_count() {
    for whom in renewals() {
        let (mut table, sent) = (table(), Instant::now());
        assert!(!table.ends(&name(), TICKET, 0, MAJORITY));
        renewed(&mut table, whom, sent);
        assert!(table.ends(&name(), TICKET, 1, MAJORITY));
    }
}

#[tokio::test(start_paused = true)]
async fn ends_that_were_reported_before_a_renewal_was_sent_do_not_count() {
    for whom in renewals() {
        let mut table = table();
        assert!(!table.ends(&name(), TICKET, 0, MAJORITY));
        advance(Duration::from_millis(1)).await;
        renewed(&mut table, whom, Instant::now());
        assert!(!table.ends(&name(), TICKET, 1, MAJORITY));
        assert!(table.ends(&name(), TICKET, 0, MAJORITY), "the node has said so again");
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_that_a_node_reports_before_it_is_mended_does_not_count() {
    for whom in renewals() {
        let (mut table, sent) = (table(), Instant::now());
        assert!(!table.ends(&name(), TICKET, 0, MAJORITY));
        table.mend(&name(), TICKET, &[0]);
        renewed(&mut table, whom, sent);
        assert!(!table.ends(&name(), TICKET, 1, MAJORITY));
    }
}
