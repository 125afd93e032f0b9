//! Sessions, a ledger and a virtual clock, joined by links that lose, delay, repeat and reorder.

mod alarms;
mod asking;
mod attach;
mod causes;
mod ends;
mod failures;
mod net;
mod schedule;
mod series;
mod silence;

use alloc::vec::Vec;
use std::format;

use self::net::{Fate, Net};
use crate::{
    count::{Limit, Permits, Priority},
    id::{Fence, Inbox, Ticket},
    kind::Kind,
    name::Name,
    reply::{Busy, Grant, Replies, Reply, TicketReply, Wakeup, What},
    request::{Enqueue, LimitRule, OnMismatch, Request, Whom},
    session::{ClockBound, Config, Event, Failure, Refusal, Session, Wish},
    time::{MILLISECOND, Micros, SECOND},
};

fn wish(permits: u32, limit: u32, ttl: Micros) -> Wish {
    let limit = Limit::new(limit).unwrap();
    Wish {
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
fn an_uncontended_permit_costs_two_calls() {
    let mut net = Net::new(1, 7);
    let ticket = net.acquire(0, wish(1, 1, TTL));
    net.run_for(SECOND);
    assert!(net.holds(0, ticket));
    net.release(0, ticket);
    net.run_for(SECOND);
    assert_eq!(net.calls, 2);
    assert!(net.sessions[0].is_idle());
}

#[test]
fn the_very_first_request_has_a_deadline_on_the_clock_that_the_store_told_when_it_was_opened() {
    let mut session = Session::new(Inbox(7), Config::default());
    session.learn_clock(1_000 * SECOND, 5 * SECOND);
    session.acquire(6 * SECOND, &Name::new("n").unwrap(), wish(1, 1, TTL));
    let call = session.poll_call(6 * SECOND).unwrap();
    let [Request::Acquire(ask)] = call.batch.requests.as_slice() else { panic!("{call:?}") };
    assert_eq!(ask.not_after, Some(1_011 * SECOND));
}

#[test]
fn a_place_that_is_given_up_while_the_store_is_silent_is_gone_once_it_is_back() {
    let mut net = Net::new(2, 7);
    let first = net.acquire(0, wish(1, 1, TTL));
    net.run_for(SECOND);
    let second = net.acquire(1, wish(1, 1, SECOND));
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
fn a_contended_permit_costs_three_calls_and_a_wakeup() {
    let mut net = Net::new(2, 7);
    let first = net.acquire(0, wish(1, 1, TTL));
    net.run_for(SECOND);
    let second = net.acquire(1, wish(1, 1, TTL));
    net.run_for(SECOND);
    assert!(net.holds(0, first) && !net.holds(1, second));
    net.release(0, first);
    net.run_for(SECOND);
    assert!(net.holds(1, second));
    assert_eq!(net.calls, 4, "two acquire, one releases, one proves what was handed over");
}

#[test]
fn requests_of_many_tasks_share_calls_and_a_renewal() {
    let mut net = Net::new(1, 7);
    let tickets: Vec<_> = (0..1000).map(|_| net.acquire(0, wish(1, 1000, TTL))).collect();
    net.run_for(SECOND);
    assert!(tickets.iter().all(|&ticket| net.holds(0, ticket)));
    assert!(net.calls <= 16, "{} calls", net.calls);
    let before = net.calls;
    net.run_for(60 * SECOND);
    assert!(tickets.iter().all(|&ticket| net.holds(0, ticket)));
    assert!(net.calls - before <= 8, "{} renewals a minute", net.calls - before);
}

#[test]
fn a_thousand_waiters_of_one_client_cost_a_call_every_five_seconds() {
    let mut net = Net::new(2, 7);
    net.acquire(0, wish(1, 1, TTL));
    net.run_for(SECOND);
    for _ in 0..1000 {
        net.acquire(1, wish(1, 1, TTL));
    }
    net.run_for(5 * SECOND);
    let before = net.calls;
    net.run_for(60 * SECOND);
    assert!(net.calls - before <= 20, "{} calls a minute", net.calls - before);
}

#[test]
fn a_lost_wakeup_costs_time_and_no_more() {
    let mut net = Net::new(2, 7);
    let first = net.acquire(0, wish(1, 1, TTL));
    net.run_for(SECOND);
    let second = net.acquire(1, wish(1, 1, TTL));
    net.run_for(SECOND);
    net.fate = Fate { lose_wakeups: true, ..Fate::default() };
    net.release(0, first);
    net.run_for(6 * SECOND);
    assert!(net.holds(1, second));
}

#[test]
fn a_silent_store_means_danger_and_then_loss_before_the_lease_ends() {
    let mut net = Net::new(1, 7);
    let ticket = net.acquire(0, wish(1, 1, TTL));
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
    let first = net.acquire(0, wish(1, 1, SECOND));
    net.run_for(SECOND);
    let second = net.acquire(1, wish(1, 1, SECOND));
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
    let both = net.acquire(0, wish(2, 2, ttl));
    net.run_for(SECOND);
    let first = net.acquire(1, wish(1, 2, ttl));
    let second = net.acquire(2, wish(1, 2, ttl)); // not first in line, so it looks every five seconds only
    net.run_for(4_900 * MILLISECOND);
    net.release(0, both);
    net.run_for(SECOND / 2);
    assert!(net.holds(1, first) && net.holds(2, second));
}

#[test]
fn a_store_that_lost_its_memory_is_found_out_at_the_next_renewal() {
    let mut net = Net::new(1, 7);
    let ticket = net.acquire(0, wish(1, 1, TTL));
    net.run_for(SECOND);
    let fence = net.fence(ticket);
    net.forget_everything();
    net.run_for(TTL / 2);
    assert!(!net.holds(0, ticket));
    let again = net.acquire(0, wish(1, 1, TTL));
    net.run_for(SECOND);
    assert!(net.fence(again) > fence);
}

#[test]
fn a_deadline_ends_the_wait_and_names_the_store_that_is_silent() {
    let mut net = Net::new(1, 7);
    net.fate = Fate { lose_requests: 100, ..Fate::default() };
    let deadline = net.now + 3 * SECOND;
    net.acquire(0, Wish { deadline: Some(deadline), ..wish(1, 1, TTL) });
    net.run_for(4 * SECOND);
    let refused = net.told.iter().find_map(|(_, at, event)| match event {
        Event::Refused { refusal: Refusal::Silence, .. } => Some(*at),
        _ => None,
    });
    assert!(refused.is_some_and(|at| at <= deadline + MILLISECOND));
}

#[test]
fn a_permit_lost_by_one_of_many_does_not_keep_its_place_for_ever() {
    let mut net = Net::new(2, 7);
    let kept = net.acquire(0, wish(1, 2, TTL));
    let zombie = net.acquire(0, wish(1, 2, TTL));
    net.run_for(SECOND);
    net.forget_in_session(0, zombie);
    let waiter = net.acquire(1, wish(1, 2, TTL));
    net.run_for(3 * TTL);
    assert!(net.holds(0, kept), "the other permit is renewed");
    assert!(net.holds(1, waiter), "what the session does not know of runs out");
}

#[test]
fn forty_thousand_permits_of_one_client_outlast_a_disagreement() {
    let mut net = Net::new(1, 7);
    let tickets: Vec<_> = (0..40_000).map(|_| net.acquire(0, wish(1, 40_000, TTL))).collect();
    net.run_for(5 * SECOND);
    net.forget_in_session(0, tickets[7]); // the store counts one more than the session does
    net.run_for(2 * TTL);
    let held = tickets.iter().filter(|&&ticket| net.holds(0, ticket)).count();
    assert_eq!((held, net.largest <= crate::Batch::MOST), (39_999, true));
}

/// Clients come and go over bad links; what they believe never adds up to more than the limit, and once
/// the links are good again everybody is served and nothing is left.
#[test]
fn over_lossy_repeating_reordering_links_belief_never_exceeds_the_limit() {
    for seed in 1..=60 {
        let mut net = Net::new(4, seed);
        let ttl = if seed % 2 == 0 { 2 * SECOND } else { TTL };
        net.fate =
            Fate { lose_requests: 15, lose_replies: 15, repeat: 15, slow: true, ..Fate::default() };
        net.fate.lose_wakeups = seed % 3 == 0;
        for _ in 0..400 {
            net.do_something(3, ttl);
            net.check(3);
        }
        net.fate = Fate::default();
        for _ in 0..600 {
            net.release_everything();
            net.run_for(SECOND);
            net.check(3);
        }
        // An untouched name's clock stands still: what a late copy of a request left there needs looking at.
        for _ in 0..60 {
            net.run_for(SECOND);
            net.touch();
        }
        assert!(net.waits().is_empty(), "seed {seed}: {:?} still wait", net.waits());
        assert!(net.state.is_empty(), "seed {seed}: something is left: {:?}", net.state);
        assert!(net.sessions.iter().all(crate::session::Session::is_idle), "seed {seed}");
    }
}

/// The most permits that clients believe to hold after the holder of the only one was cut off, with the
/// smallest margin that there is.
fn believed_after_a_cut(count_from_reply: bool) -> u32 {
    let config = Config { clock_bound: ClockBound::Off, ..Config::default() };
    let mut net = Net::with(2, 7, &config);
    net.fate = Fate { lag: 300 * MILLISECOND, count_from_reply, ..Fate::default() };
    net.acquire(0, wish(1, 1, 3 * SECOND));
    net.run_for(700 * MILLISECOND); // granted, and not yet renewed
    net.fate = Fate { cut_off: Some(0), count_from_reply, ..Fate::default() };
    net.acquire(1, wish(1, 1, 3 * SECOND));
    let moments = (0..600).map(|_| {
        net.run_for(10 * MILLISECOND);
        net.believed()
    });
    moments.max().unwrap_or(0)
}

#[test]
fn a_session_that_counted_from_the_reply_would_be_found_out() {
    assert_eq!(believed_after_a_cut(false), 1);
    assert_eq!(believed_after_a_cut(true), 2);
}

#[test]
fn a_store_that_is_back_is_asked_at_once() {
    let (mut session, name) = (Session::new(Inbox(7), Config::default()), Name::new("n").unwrap());
    session.acquire(0, &name, wish(1, 1, TTL));
    let mut now = 0;
    for _ in 0..8 {
        now = session.poll_timeout().unwrap();
        let call = session.poll_call(now).unwrap();
        let failure = Failure { maybe_executed: true, is_passing: true, is_full: false };
        session.handle_failure(now, call.id, failure);
    }
    assert!(session.poll_call(now).is_none());
    session.look_again(now);
    assert!(session.poll_call(now).is_some());
}

#[test]
fn a_grant_learned_by_a_wakeup_is_handed_over_once_a_renewal_has_proved_it_and_its_fence() {
    let (mut session, ticket) = waiting();
    session.handle_wakeup(SECOND, granted(ticket, 1));
    let call = session.poll_call(SECOND).unwrap();
    assert!(proves(&call.batch.requests, ticket), "{:?}", call.batch.requests);
    assert!(session.poll_event().is_none());

    let held = TicketReply::Held {
        fence: Fence(2),
        slots: "0".parse().unwrap(),
        names: crate::SlotNames::none(),
        asks: Vec::new(),
    };
    let proof = Reply::Tickets { valid_for: Some(TTL), tickets: [held].into() };
    session.handle_replies(SECOND, call.id, replies(proof));
    let event = session.poll_event();
    assert!(matches!(event, Some(Event::Acquired { fence: Fence(2), .. })), "{event:?}");
}

#[test]
fn a_wakeup_that_comes_before_the_answer_is_not_lost() {
    let (mut session, name) = (Session::new(Inbox(7), Config::default()), Name::new("n").unwrap());
    let ticket = session.acquire(0, &name, wish(1, 1, TTL));
    let call = session.poll_call(0).unwrap();
    session.handle_wakeup(0, granted(ticket, 1));
    session.handle_replies(0, call.id, replies(Reply::Queued { ticket, waiting: 1, limit: 1 }));
    let call = session.poll_call(0).unwrap();
    assert!(proves(&call.batch.requests, ticket), "{:?}", call.batch.requests);
}

#[test]
fn a_ticket_whose_grant_was_undone_waits_on() {
    let (mut session, ticket) = waiting();
    session.handle_wakeup(SECOND, granted(ticket, 1));
    let call = session.poll_call(SECOND).unwrap();
    let proof = Reply::Tickets { valid_for: Some(TTL), tickets: [TicketReply::Waiting].into() };
    session.handle_replies(SECOND, call.id, replies(proof));
    let call = session.poll_call(SECOND).unwrap();
    assert!(matches!(&*call.batch.requests, [Request::Renew(place)] if place.ttl < TTL));
    session.handle_replies(SECOND, call.id, replies(Reply::Renewed { valid_for: Some(TTL) }));
    assert!(session.poll_event().is_none());
    assert!(session.poll_call(SECOND).is_none(), "asked once more, not for ever");
}

/// A session with a ticket in line.
fn waiting() -> (Session, Ticket) {
    let (mut session, name) = (Session::new(Inbox(7), Config::default()), Name::new("n").unwrap());
    let ticket = session.acquire(0, &name, wish(1, 1, TTL));
    let call = session.poll_call(0).unwrap();
    session.handle_replies(0, call.id, replies(Reply::Queued { ticket, waiting: 1, limit: 1 }));
    assert!(matches!(session.poll_event(), Some(Event::Queued { .. })));
    (session, ticket)
}

/// Whether this is a renewal of the ticket by name.
fn proves(requests: &[Request], ticket: Ticket) -> bool {
    let [Request::Renew(renew)] = requests else { return false };
    renew.whom == Whom::Tickets([ticket].into())
}

#[test]
fn a_grant_to_a_ticket_that_has_left_is_given_back_at_once() {
    let mut session = Session::new(Inbox(7), Config::default());
    let ticket = left(&mut session);
    // As after a fail-over to a master that knows nothing of that.
    session.handle_wakeup(SECOND, granted(ticket, 9));
    let call = session.poll_call(SECOND).unwrap();
    assert_eq!(call.batch.requests, [Request::Release { ticket, slots: None }]);
    session.handle_replies(SECOND, call.id, replies(Reply::Released { ticket, left: 0 }));
    assert!(session.is_idle());
}

#[test]
fn a_failover_that_forgets_who_has_left_the_line_holds_up_nobody() {
    let mut net = Net::new(5, 7);
    let first = net.acquire(0, wish(1, 1, TTL));
    net.run_for(SECOND);
    let line: Vec<_> = (1..5).map(|who| (who, net.acquire(who, wish(1, 1, TTL)))).collect();
    net.run_for(SECOND);
    let replica = net.state.clone();
    line[..3].iter().for_each(|&(who, ticket)| net.cancel(who, ticket));
    net.run_for(SECOND);
    net.state = replica;
    net.release(0, first);
    net.run_for(SECOND);
    let (who, last) = line[3];
    assert!(net.holds(who, last));
}

/// A ticket that stood in line and was cancelled.
fn left(session: &mut Session) -> Ticket {
    let ticket = session.acquire(0, &Name::new("n").unwrap(), wish(1, 1, TTL));
    let call = session.poll_call(0).unwrap();
    session.handle_replies(0, call.id, replies(Reply::Queued { ticket, waiting: 1, limit: 1 }));
    session.cancel(0, ticket);
    let call = session.poll_call(0).unwrap();
    session.handle_replies(0, call.id, replies(Reply::Cancelled { ticket }));
    assert!(session.is_idle());
    ticket
}

fn granted(ticket: Ticket, fence: u64) -> Wakeup {
    let slots = "0".parse().unwrap();
    let what = What::Granted { fence: Fence(fence), slots, limit: 1 };
    Wakeup { inbox: Inbox(7), name: Name::new("n").unwrap(), ticket, what }
}

fn replies(reply: Reply) -> Replies {
    Replies { now: 0, replies: [reply].into(), backlog: false, look_in: None }
}

#[test]
fn of_very_many_requests_at_once_some_are_under_way_and_renewals_go_first() {
    let mut session = Session::new(Inbox(7), Config::default());
    let held = session.acquire(0, &Name::new("held").unwrap(), wish(1, 1, TTL));
    let call = session.poll_call(0).unwrap();
    let slots = "0".parse().unwrap();
    let grant = Grant {
        ticket: held,
        fence: Fence(1),
        slots,
        names: crate::SlotNames::none(),
        limit: 1,
        valid_for: Some(TTL),
    };
    session.handle_replies(0, call.id, replies(Reply::Granted(grant)));
    for n in 0..5_000 {
        session.acquire(SECOND, &Name::new(&format!("n{n}")).unwrap(), wish(1, 1, TTL));
    }
    let calls: Vec<_> = core::iter::from_fn(|| session.poll_call(SECOND)).collect();
    assert!(calls.len() < 1_000, "{} calls at once", calls.len());
    assert!(session.poll_timeout().unwrap() > SECOND, "nothing to do before an answer");

    let renewal = session.poll_call(TTL / 3).unwrap();
    assert!(matches!(&*renewal.batch.requests, [Request::Renew(_)]), "{renewal:?}");
    let busy = |ticket| Reply::Busy { ticket, why: Busy::Full, limit: 1, held: 1, waiting: 0 };
    let [Request::Acquire(ask)] = &*calls[0].batch.requests else { panic!() };
    session.handle_replies(TTL / 3, calls[0].id, replies(busy(ask.ticket)));
    let failure = Failure { maybe_executed: true, is_passing: true, is_full: false };
    session.handle_failure(TTL / 3, renewal.id, failure);
    let next = session.poll_call(TTL / 3).unwrap();
    let [Request::Acquire(ask)] = &*next.batch.requests else { panic!("{next:?}") };
    assert_eq!(ask.not_after, Some((TTL / 3 - SECOND) + 10 * SECOND), "from when it was sent");
}
