//! Sessions, a ledger and a virtual clock, joined by links that lose, delay, repeat and reorder.

mod ahead;
mod alarms;
mod attach;
mod causes;
mod cost;
mod ends;
mod failures;
mod lossy;
mod net;
mod schedule;
mod series;
mod silence;
mod wakeups;

use std::{format, vec::Vec};

use self::net::{Fate, Net};
use crate::{
    count::{Limit, Permits, Priority},
    id::{Fence, Inbox, Ticket},
    kind::Kind,
    name::Name,
    reply::{Replies, Reply, Wakeup, What},
    request::{Enqueue, LimitRule, OnMismatch, Request},
    session::{AcquireRefusal, CallFailure, Event, Session, SessionConfig, Want},
    time::{MILLISECOND, Micros, SECOND},
};

fn want(permits: u32, limit: u32, ttl: Micros) -> Want {
    let limit = Limit::new(limit).unwrap();
    Want {
        kind: Kind::Semaphore,
        permits: Permits::new(permits).unwrap(),
        wishes: crate::SlotNames::none(),
        limit: Some(LimitRule { limit, on_mismatch: OnMismatch::Refuse }),
        enqueue: Enqueue::Yes { max_waiting: None },
        priority: Priority::default(),
        ttl,
        deadline: None,
        about: "".into(),
    }
}

const TTL: Micros = 30 * SECOND;

#[test]
fn the_very_first_request_has_a_deadline_on_the_clock_that_the_store_told_when_it_was_opened() {
    let mut session = Session::new(Inbox(7), SessionConfig::default());
    session.learn_clock(1_000 * SECOND, 5 * SECOND);
    session.acquire(6 * SECOND, &Name::new("n").unwrap(), want(1, 1, TTL));
    let call = session.poll_call(6 * SECOND).unwrap();
    let [Request::Acquire(want)] = call.batch.requests.as_slice() else { panic!("{call:?}") };
    assert_eq!(want.not_after, Some(1_011 * SECOND));
}

#[test]
fn a_place_that_is_given_up_while_the_store_is_silent_is_gone_once_it_is_back() {
    let mut net = Net::new(2, 7);
    let first = net.acquire(0, want(1, 1, TTL));
    net.run_for(SECOND);
    let second = net.acquire(1, want(1, 1, SECOND));
    net.run_for(SECOND);
    assert_eq!(net.waiting(), 1);
    net.fate = Fate { cut_off: Some(1), ..Fate::default() };
    net.cancel(1, second);
    net.run_for(8 * SECOND); // longer than the lease would have been, shorter than the place
    net.fate = Fate::default();
    net.run_for(3 * SECOND);
    assert_eq!(net.waiting(), 0);
    assert!(net.holds(0, first) && net.sessions[1].is_idle());
}

#[test]
fn a_silent_store_means_danger_and_then_loss_before_the_lease_ends() {
    let mut net = Net::new(1, 7);
    let ticket = net.acquire(0, want(1, 1, TTL));
    net.run_for(SECOND);
    net.fate = Fate { lose_requests: 100, ..Fate::default() };
    net.run_for(TTL);
    let of =
        |name: &str| net.told.iter().find(|(_, _, event)| format!("{event:?}").starts_with(name));
    let (danger, lost) = (of("Danger").unwrap().1, of("Lost").unwrap().1);
    let granted = net.granted_at(ticket);
    assert!(danger < lost && lost < granted + TTL, "{danger} {lost} {granted}");
    assert!(!net.holds(0, ticket));
}

#[test]
fn a_ttl_shorter_than_the_look_at_ones_place_is_renewed_before_it_is_handed_over() {
    let mut net = Net::new(2, 7);
    let first = net.acquire(0, want(1, 1, SECOND));
    net.run_for(SECOND);
    let second = net.acquire(1, want(1, 1, SECOND));
    net.run_for(4 * SECOND);
    assert!(net.holds(0, first));
    net.release(0, first);
    net.run_for(SECOND / 2);
    assert!(net.holds(1, second));
    net.run_for(20 * SECOND);
    assert!(net.holds(1, second), "renewed over and over");
}

#[test]
fn a_grant_that_is_too_old_to_believe_in_is_renewed_and_not_given_up() {
    let mut net = Net::new(3, 7);
    let ttl = 4 * SECOND;
    let both = net.acquire(0, want(2, 2, ttl));
    net.run_for(SECOND);
    let first = net.acquire(1, want(1, 2, ttl));
    let second = net.acquire(2, want(1, 2, ttl)); // not first in line, so it looks every five seconds only
    net.run_for(4_900 * MILLISECOND);
    net.release(0, both);
    net.run_for(SECOND / 2);
    assert!(net.holds(1, first) && net.holds(2, second));
}

#[test]
fn a_store_that_lost_its_memory_is_found_out_at_the_next_renewal() {
    let mut net = Net::new(1, 7);
    let ticket = net.acquire(0, want(1, 1, TTL));
    net.run_for(SECOND);
    let fence = net.fence(ticket);
    net.forget_everything();
    net.run_for(TTL / 2);
    assert!(!net.holds(0, ticket));
    let again = net.acquire(0, want(1, 1, TTL));
    net.run_for(SECOND);
    assert!(net.fence(again) > fence);
}

#[test]
fn a_deadline_ends_the_wait_and_names_the_store_that_is_silent() {
    let mut net = Net::new(1, 7);
    net.fate = Fate { lose_requests: 100, ..Fate::default() };
    let deadline = net.now + 3 * SECOND;
    net.acquire(0, Want { deadline: Some(deadline), ..want(1, 1, TTL) });
    net.run_for(4 * SECOND);
    let refused = net.told.iter().find_map(|(_, at, event)| match event {
        Event::Refused { refusal: AcquireRefusal::Silence, .. } => Some(*at),
        _ => None,
    });
    assert!(refused.is_some_and(|at| at <= deadline + MILLISECOND));
}

#[test]
fn a_permit_lost_by_one_of_many_does_not_keep_its_place_for_ever() {
    let mut net = Net::new(2, 7);
    let kept = net.acquire(0, want(1, 2, TTL));
    let zombie = net.acquire(0, want(1, 2, TTL));
    net.run_for(SECOND);
    net.forget_in_session(0, zombie);
    let waiter = net.acquire(1, want(1, 2, TTL));
    net.run_for(3 * TTL);
    assert!(net.holds(0, kept), "the other permit is renewed");
    assert!(net.holds(1, waiter), "a permit that the session does not know of runs out");
}

#[test]
fn a_store_that_is_back_is_asked_at_once() {
    let (mut session, name) =
        (Session::new(Inbox(7), SessionConfig::default()), Name::new("n").unwrap());
    session.acquire(0, &name, want(1, 1, TTL));
    let mut now = 0;
    for _ in 0..8 {
        now = session.poll_timeout().unwrap();
        let call = session.poll_call(now).unwrap();
        let failure = CallFailure { maybe_executed: true, is_passing: true, is_full: false };
        session.handle_failure(now, call.id, failure);
    }
    assert!(session.poll_call(now).is_none());
    session.look_again(now);
    assert!(session.poll_call(now).is_some());
}

/// Returns a session with a ticket in line.
fn waiting() -> (Session, Ticket) {
    let (mut session, name) =
        (Session::new(Inbox(7), SessionConfig::default()), Name::new("n").unwrap());
    let ticket = session.acquire(0, &name, want(1, 1, TTL));
    let call = session.poll_call(0).unwrap();
    session.handle_replies(0, call.id, replies(Reply::Queued { ticket, waiting: 1, limit: 1 }));
    assert!(matches!(session.poll_event(), Some(Event::Queued { .. })));
    (session, ticket)
}

fn granted(ticket: Ticket, fence: u64) -> Wakeup {
    let slots = "0".parse().unwrap();
    let what = What::Granted { fence: Fence(fence), slots, limit: 1 };
    Wakeup { inbox: Inbox(7), name: Name::new("n").unwrap(), ticket, what }
}

fn replies(reply: Reply) -> Replies {
    all([reply].into())
}

fn all(replies: Vec<Reply>) -> Replies {
    Replies { now: 0, replies, backlog: false, look_in: None }
}
