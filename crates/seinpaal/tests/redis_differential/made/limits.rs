//! A limit is stated for the first time while somebody waits.

use seinpaal_proto::{
    Acquire, Configure, Enqueue, LeaseId, Limit, LimitRule, OnMismatch, Ticket, time::SECOND,
};

use super::{
    super::history::{Event, Sketch, inbox},
    calls::{acquire, by, call, look, release, renew, sketch},
};

/// While a limit of 1 is pinned, one session holds and another waits, and neither states a limit.
/// After the unpin a third session states a higher one. That lets in the waiter, and then the third
/// session.
pub(super) fn stated_after_an_unpin() -> Vec<Vec<Event>> {
    let rules = [OnMismatch::Refuse, OnMismatch::Adopt, OnMismatch::Exact, OnMismatch::Set];
    let histories = rules.into_iter().flat_map(|on_mismatch| {
        [1, 2, 5].map(|limit| LimitRule { limit: Limit::new(limit).unwrap(), on_mismatch })
    });
    histories.map(stated_as).collect()
}

fn stated_as(rule: LimitRule) -> Vec<Event> {
    let configure = |change| call(1, [Sketch::Configure(change)]);
    let waits = |who, limit| by(who, 1, vec![sketch(waiter(who, limit))]);
    let here = [0, 1, 2].map(|who| Event::Listen(inbox(who)));
    let pinned = configure(Configure::Limit(Limit::ONE));
    let begun = [pinned, waits(0, None), waits(1, None), configure(Configure::Unpin)];
    let then = [waits(2, Some(rule)), call(1, [renew(60 * SECOND)]), call(1, [release(1)])];
    here.into_iter().chain(begun).chain(then).chain([look(1)]).collect()
}

fn waiter(who: u64, limit: Option<LimitRule>) -> Acquire {
    let series = Ticket(u128::from(who) << 64).series();
    Acquire {
        ticket: series.ticket(1),
        lease: series.ticket(0).into(),
        limit,
        enqueue: Enqueue::Yes { max_waiting: None },
        ttl: 60 * SECOND,
        margin: 60 * SECOND,
        waiter_lease: LeaseId(u128::from(200 + who) << 64),
        waiter_ttl: 60 * SECOND,
        ..acquire(1)
    }
}
