//! Requests about permits, of every kind, before and after rows are damaged.

use seinpaal_proto::{
    Acquire, Attach, Configure, Enqueue, Fence, Kind, LeaseId, Limit, LimitRule, OnMismatch,
    Permits, Priority, Renew, Request, Slots, Ticket, Whom,
    time::{SECOND, UNBOUNDED},
};

/// Requests, with the number of seconds after which they come.
pub(super) type TimedRequests = (u64, Vec<Request>);

/// Returns the requests that fill a database with holders, waiters, a ticket that changed hands,
/// one without an owner, ended tickets and free slots.
pub(super) fn filling() -> Vec<TimedRequests> {
    let acquire = |ticket: u64| {
        let acquire = acquire(u128::from(ticket), 1 + ticket as u32 % 3, OnMismatch::Set);
        (ticket - 1, vec![Request::Acquire(acquire)])
    };
    let mut asked: Vec<TimedRequests> = (1..=9).map(acquire).collect();
    let pause = Request::Configure(Configure::Pause("why".into()));
    let pin = Request::Configure(Configure::Limit(limit(9)));
    let detach = Request::Detach {
        ticket: ticket(4),
        fence: Fence(UNBOUNDED),
        ttl: 30 * SECOND,
        margin: SECOND,
    };
    asked.push((9, vec![release(2), release(1), pause, pin, attach(3), detach]));
    asked
}

/// Returns the requests of an ordinary day: asking, renewing, leaving, changing hands, looking,
/// steering.
pub(super) fn day() -> Vec<TimedRequests> {
    let (lease, ttl, margin) = (ticket(3).lease(), 30 * SECOND, SECOND);
    let renew = |whom| Request::Renew(Renew { lease, ttl, margin, whom });
    let all = renew(Whom::All { members: 2, digest: 7 });
    let each = renew(Whom::Tickets((1..=9).map(ticket).collect()));
    let rules = [OnMismatch::Refuse, OnMismatch::Adopt, OnMismatch::Exact, OnMismatch::Set];
    let want = |(nth, rule): (u128, _)| Request::Acquire(acquire(10 + nth, 2, rule));
    let mut asking: Vec<Request> = (0..).zip(rules).map(want).collect();
    asking.push(Request::Acquire(Acquire { limit: None, ..acquire(14, 1, OnMismatch::Set) }));
    let some = Request::Release { ticket: ticket(3), slots: Some(Slots::range(0, 1)) };
    let cancel = |ticket, attach| Request::Cancel { ticket, remember: SECOND, attach };
    let leaving = vec![
        cancel(ticket(9), None),
        cancel(ticket(5), Some(LeaseId(1 << 100))),
        some,
        release(3),
        Request::Evict { ticket: ticket(4) },
    ];
    let resume = Request::Configure(Configure::Resume);
    let unpin = Request::Configure(Configure::Unpin);
    let names = Request::Configure(Configure::Slots("a,b".parse().expect("names")));
    vec![
        (10, vec![Request::Inspect { rows: 64 }, resume, unpin, names]),
        (11, asking.into_iter().chain([all, each]).collect()),
        (12, vec![attach(4), attach(5)]),
        (13, leaving),
    ]
}

/// Returns the ticket of a number. There are four series, each with a lease of its own.
const fn ticket(number: u128) -> Ticket {
    Ticket((1 + number % 4) << 32 | number)
}

fn release(number: u128) -> Request {
    Request::Release { ticket: ticket(number), slots: None }
}

fn limit(count: u32) -> Limit {
    Limit::new(count).expect("in range")
}

fn attach(number: u128) -> Request {
    Request::Attach(Attach {
        ticket: ticket(number),
        lease: LeaseId(1 << 100 | number),
        ttl: 30 * SECOND,
        margin: 8 * SECOND,
        not_after: None,
        about: format!("heir\u{1f}{number}"),
    })
}

fn acquire(number: u128, permits: u32, on_mismatch: OnMismatch) -> Acquire {
    Acquire {
        ticket: ticket(number),
        kind: Kind::Semaphore,
        permits: Permits::new(permits).expect("in range"),
        wishes: seinpaal_proto::SlotNames::none(),
        limit: Some(LimitRule { limit: limit(8), on_mismatch }),
        enqueue: Enqueue::Yes { max_waiting: None },
        priority: Priority::default(),
        ttl: 30 * SECOND,
        margin: 8 * SECOND,
        waiter_ttl: 15 * SECOND,
        not_after: None,
        about: format!("client\u{1f}{number}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn damaged_rows_meet_every_kind_of_request() {
        let requests = filling().into_iter().chain(day()).flat_map(|(_, requests)| requests);
        let kinds: BTreeSet<_> = requests.map(|request| request.kind()).collect();
        assert_eq!(kinds, Request::KINDS.iter().copied().collect());
    }
}
