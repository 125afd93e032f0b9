//! The cost of permits in calls.

use alloc::{collections::VecDeque, vec::Vec};
use std::format;

use super::{TTL, net::Net, replies, want};
use crate::{
    id::{Fence, Inbox, Ticket},
    name::Name,
    reply::{Busy, Grant, Replies, Reply},
    request::Request,
    session::{CallFailure, Session, SessionConfig},
    time::SECOND,
};

#[test]
fn an_uncontended_permit_costs_two_calls() {
    let mut net = Net::new(1, 7);
    let ticket = net.acquire(0, want(1, 1, TTL));
    net.run_for(SECOND);
    assert!(net.holds(0, ticket));
    net.release(0, ticket);
    net.run_for(SECOND);
    assert_eq!(net.calls, 2);
    assert!(net.sessions[0].is_idle());
}

#[test]
fn a_contended_permit_costs_three_calls_and_a_wakeup() {
    let mut net = Net::new(2, 7);
    let first = net.acquire(0, want(1, 1, TTL));
    net.run_for(SECOND);
    let second = net.acquire(1, want(1, 1, TTL));
    net.run_for(SECOND);
    assert!(net.holds(0, first) && !net.holds(1, second));
    net.release(0, first);
    net.run_for(SECOND);
    assert!(net.holds(1, second));
    assert_eq!(
        net.calls, 4,
        "two acquire, one releases, one proves the permit that was handed over"
    );
}

#[test]
fn requests_of_many_tasks_share_calls_and_a_renewal() {
    let mut net = Net::new(1, 7);
    let tickets: Vec<_> = (0..1000).map(|_| net.acquire(0, want(1, 1000, TTL))).collect();
    net.run_for(SECOND);
    assert!(tickets.iter().all(|&ticket| net.holds(0, ticket)));
    assert!(net.calls <= 16, "{} calls", net.calls);
    let before = net.calls;
    net.run_for(60 * SECOND);
    assert!(tickets.iter().all(|&ticket| net.holds(0, ticket)));
    assert!(net.calls - before <= 18, "{} renewals a minute", net.calls - before);
}

#[test]
fn a_thousand_waiters_of_one_client_cost_little_more_than_a_look_a_second() {
    let mut net = Net::new(2, 7);
    net.acquire(0, want(1, 1, TTL));
    net.run_for(SECOND);
    for _ in 0..1000 {
        net.acquire(1, want(1, 1, TTL));
    }
    net.run_for(5 * SECOND);
    let before = net.calls;
    net.run_for(60 * SECOND);
    assert!(net.calls - before <= 80, "{} calls a minute", net.calls - before);
}

#[test]
fn more_leases_than_one_call_renews_outlast_a_disagreement() {
    const PERMITS: u32 = 6_000;
    let mut net = Net::new(1, 7);
    let tickets: Vec<_> = (0..PERMITS).map(|_| net.acquire(0, want(1, PERMITS, TTL))).collect();
    net.run_for(5 * SECOND);
    net.forget_in_session(0, tickets[7]); // the store counts one more than the session does
    net.run_for(2 * TTL);
    let held = tickets.iter().filter(|&&ticket| net.holds(0, ticket)).count();
    assert_eq!((held, net.largest <= crate::Batch::MOST), (PERMITS as usize - 1, true));
}

fn grant(ticket: Ticket) -> Grant {
    let (fence, slots, names) = (Fence(1), "0".parse().unwrap(), crate::SlotNames::none());
    Grant { ticket, fence, slots, names, limit: 1, valid_for: Some(TTL) }
}

#[test]
fn of_very_many_requests_at_once_some_are_under_way_and_renewals_go_first() {
    let mut session = Session::new(Inbox(7), SessionConfig::default());
    let held = session.acquire(0, &Name::new("held").unwrap(), want(1, 1, TTL));
    let call = session.poll_call(0).unwrap();
    session.handle_replies(0, call.id, replies(Reply::Granted(grant(held))));
    for n in 0..5_000 {
        session.acquire(SECOND, &Name::new(&format!("n{n}")).unwrap(), want(1, 1, TTL));
    }
    let calls: Vec<_> = core::iter::from_fn(|| session.poll_call(SECOND)).collect();
    assert!(calls.len() < 1_000, "{} calls at once", calls.len());
    assert!(session.poll_timeout().unwrap() > SECOND, "nothing to do before an answer");

    let renewal = session.poll_call(TTL / 3).unwrap();
    assert!(matches!(&*renewal.batch.requests, [Request::Renew(_)]), "{renewal:?}");
    let busy = |ticket| Reply::Busy { ticket, why: Busy::Full, limit: 1, held: 1, waiting: 0 };
    let [Request::Acquire(want)] = &*calls[0].batch.requests else { panic!() };
    session.handle_replies(TTL / 3, calls[0].id, replies(busy(want.ticket)));
    let failure = CallFailure { maybe_executed: true, is_passing: true, is_full: false };
    session.handle_failure(TTL / 3, renewal.id, failure);
    let next = session.poll_call(TTL / 3).unwrap();
    let [Request::Acquire(want)] = &*next.batch.requests else { panic!("{next:?}") };
    assert_eq!(
        want.not_after,
        Some((TTL / 3 - SECOND) + 10 * SECOND),
        "the deadline counts from when the request was sent"
    );
}

/// Returns a session at whose names requests wait for their turn, and which holds a permit at one
/// more name, whose renewal comes due meanwhile.
#[test]
fn a_quiet_name_is_renewed_while_thousands_of_busy_names_want_calls() {
    let mut session = Session::new(Inbox(7), SessionConfig::default());
    let quiet = Name::new("quiet").unwrap();
    let names: Vec<Name> = (0..5_000).map(|n| Name::new(&format!("n{n:04}")).unwrap()).collect();
    for name in names.iter().chain([&quiet]) {
        session.acquire(0, name, want(1, 1, TTL));
        let call = session.poll_call(0).unwrap();
        let [Request::Acquire(want)] = &*call.batch.requests else { panic!() };
        session.handle_replies(0, call.id, replies(Reply::Granted(grant(want.ticket))));
    }
    for name in &names {
        session.acquire(SECOND, name, want(1, 1, TTL));
    }
    let mut calls: VecDeque<_> = core::iter::from_fn(|| session.poll_call(SECOND)).collect();
    assert!(
        calls.len() > 4_000,
        "the calls under way are as many as there may be: {}",
        calls.len()
    );
    // Each answer finds the next request of its name waiting.
    let mut is_renewed = false;
    for now in (TTL / 3..).take(2 * names.len()) {
        let call = calls.pop_front().unwrap();
        let name = call.batch.name.clone();
        is_renewed |= name == quiet;
        let answers = call.batch.requests.iter().map(|request| match request {
            Request::Acquire(want) => {
                let ticket = want.ticket;
                Reply::Busy { ticket, why: Busy::Full, limit: 1, held: 1, waiting: 0 }
            }
            _ => Reply::Renewed { valid_for: Some(TTL) },
        });
        let replies = answers.collect();
        let answers = Replies { now: 0, replies, backlog: false, look_in: None };
        session.acquire(now, &name, want(1, 1, TTL));
        session.handle_replies(now, call.id, answers);
        calls.extend(core::iter::from_fn(|| session.poll_call(now)));
    }
    assert!(is_renewed);
}

#[test]
fn ttls_that_were_used_once_leave_nothing_behind() {
    let mut session = Session::new(Inbox(7), SessionConfig::default());
    let name = Name::new("n").unwrap();
    for n in 0..10_000 {
        let ticket = session.acquire(0, &name, want(1, 1, TTL + n));
        session.cancel(0, ticket); // nothing was sent
        let kept: usize = session.shelf.iter().map(|(_, kept)| kept.len()).sum();
        assert!(kept <= 64, "{kept} series after {n} ttls");
    }
}
