//! Znodes to which others may have written.

use seinpaal_proto::time::SECOND;
use seinpaal_proto::{
    Acquire, Attach, Batch, Configure, Contact, Contacts, Enqueue, Fence, Inbox, Kind, LeaseId,
    Limit, LimitRule, MemoryState, Name, OnMismatch, Permits, Priority, Renew, Request, SlotNames,
    Slots, Ticket, Whom, execute,
};

use seinpaal_store::packed::pack;
use seinpaal_zookeeper::{
    paths::{self, Paths},
    replica::Replica,
    write::replay,
};

use crate::must_be_one_line;

const NOW: u64 = 1_800_000_000 * SECOND;

/// Reads a base. A state that can be read packs to bytes that read the same, and the ledger runs on
/// it.
fn base(bytes: &[u8]) {
    let (mut state, mut hints) = (MemoryState::default(), Vec::new());
    if replay(bytes, &mut state, &mut hints).is_err() {
        return;
    }
    let packed = pack(&mut state);
    let mut again = MemoryState::default();
    replay(&packed, &mut again, &mut Vec::new()).expect("a packed state can be read");
    assert_eq!(pack(&mut again), packed);
    use_it(&mut again);
}

/// Reads a name's znodes. The first byte splits the rest into a base and a log.
pub(crate) fn node(bytes: &[u8]) {
    let Some((split, rest)) = bytes.split_first() else { return };
    base(rest);
    let (base, log) = rest.split_at(usize::from(*split).min(rest.len()));
    let _ = Replica::header(log);
    let mut replica = Replica::default();
    if replica.follow(1, log.to_vec(), Some(base.to_vec())).is_err() {
        return;
    }
    replica.undo().expect("a copy that was read once can be read again");
    assert!(replica.follow(1, log.to_vec(), None).is_ok());
}

fn use_it(state: &mut MemoryState) {
    let tickets = state.entries().map(|entry| entry.ticket).take(4).collect::<Vec<_>>();
    call(state, 0, asked_of(&tickets));
    for later in [1, 40, 100_000] {
        call(state, later, Vec::new());
    }
}

/// Returns every kind of request, about tickets that are there and about others.
fn asked_of(tickets: &[Ticket]) -> Vec<Request> {
    let ticket = tickets.first().copied().unwrap_or(Ticket(76));
    let (ttl, margin, lease) = (30 * SECOND, SECOND, LeaseId(1 << 100));
    let renew = |whom| Request::Renew(Renew { lease: ticket.lease(), ttl, margin, whom });
    let attach = Attach { ticket, lease, ttl, margin, not_after: None, about: String::new() };
    let rules = [OnMismatch::Refuse, OnMismatch::Adopt, OnMismatch::Set, OnMismatch::Exact];
    let limit = Limit::ONE;
    let stated = rules.map(|on_mismatch| Some(LimitRule { limit, on_mismatch }));
    let asks = (80..).zip([None].into_iter().chain(stated));
    let cancel = |ticket, attach| Request::Cancel { ticket, remember: SECOND, attach };
    let mut requests = vec![
        Request::Inspect { rows: 64 },
        renew(Whom::All { members: 1, digest: ticket.digest() }),
        renew(Whom::Tickets(tickets.to_vec())),
        Request::Attach(attach),
        Request::Detach { ticket, fence: Fence(NOW), ttl, margin },
        Request::Release { ticket, slots: Some(Slots::range(0, 1)) },
        Request::Configure(Configure::Limit(limit)),
        Request::Configure(Configure::Slots("a,b".parse().expect("names"))),
        Request::Configure(Configure::Pause("why".into())),
        Request::Configure(Configure::Unpin),
        Request::Configure(Configure::Resume),
    ];
    requests.extend(asks.map(|(n, limit)| Request::Acquire(acquire(Ticket(n), limit))));
    requests.extend(tickets.iter().map(|&ticket| Request::Release { ticket, slots: None }));
    requests.extend([cancel(Ticket(77), None), cancel(ticket, Some(lease))]);
    requests.extend([80, 81].map(|n| Request::Evict { ticket: Ticket(n) }));
    requests
}

fn acquire(ticket: Ticket, limit: Option<LimitRule>) -> Acquire {
    Acquire {
        ticket,
        kind: Kind::Semaphore,
        permits: Permits::ONE,
        wishes: SlotNames::none(),
        limit,
        enqueue: Enqueue::Yes { max_waiting: None },
        priority: Priority::default(),
        ttl: 30 * SECOND,
        margin: 8 * SECOND,
        waiter_ttl: 15 * SECOND,
        not_after: None,
        about: String::new(),
    }
}

fn call(state: &mut MemoryState, after: u64, requests: Vec<Request>) {
    let name = Name::new("gpus").expect("that is a name");
    let batch = Batch { name, inbox: Some(Inbox(1)), fence_seen: 0, requests };
    for _ in 0..64 {
        let Ok(outcome) = execute(state, &mut TwoKindsOfContact, NOW + after * SECOND, &batch);
        if !outcome.replies.backlog {
            return;
        }
    }
    panic!("the work at a name never ends");
}

/// Reads the name of a child of the names' znode.
pub(crate) fn name(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(name) = paths::decode(text) else { return };
    must_be_one_line(&name);
    let path = Paths::new("/root").name(&name);
    assert_eq!(path.strip_prefix("/root/names/"), Some(text));
}

struct TwoKindsOfContact;

impl Contacts for TwoKindsOfContact {
    fn contact(&mut self, inbox: Inbox) -> Contact {
        if inbox.0.is_multiple_of(2) { Contact::Listening } else { Contact::Silent }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_node_that_others_wrote_meets_every_kind_of_request() {
        let kinds: BTreeSet<_> =
            asked_of(&[Ticket(1)]).into_iter().map(|request| request.kind()).collect();
        assert_eq!(kinds, Request::KINDS.iter().copied().collect());
    }
}
