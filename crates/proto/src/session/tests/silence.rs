//! A connection that dies without notice: requests over it are not answered and fail only much
//! later. A renewal does not wait for that.

use alloc::{format, vec::Vec};

use super::{
    alarms::ttls,
    net::{Fate, Net},
    replies, want,
};
use crate::{
    id::{Fence, Inbox, Ticket},
    name::Name,
    reply::{Grant, Reply, TicketReply},
    request::{Request, Whom},
    session::{Call, Event, Session, SessionConfig},
    time::{MILLISECOND, Micros, SECOND},
};

/// Returns the events of danger, loss and refusal.
fn alarms(net: &Net) -> Vec<&Event> {
    let told = net.told.iter().map(|(_, _, event)| event);
    let is_alarm = |event: &&Event| {
        matches!(event, Event::Danger { .. } | Event::Lost { .. } | Event::Refused { .. })
    };
    told.filter(is_alarm).collect()
}

#[test]
fn a_connection_that_dies_without_a_word_costs_no_permit_whatever_its_ttl_and_the_moment() {
    for ttl in ttls() {
        for moment in 0..16 {
            let mut net = Net::new(1, moment + 1);
            net.fate = Fate { lag: ttl.min(30 * SECOND) / 200, ..Fate::default() };
            let ticket = net.acquire(0, want(1, 2, ttl));
            net.run_for(ttl / 4 + ttl * moment / 40);
            net.fate.dead_way = Some(0);
            net.run_for(2 * ttl);
            assert_eq!(alarms(&net), [] as [&Event; 0], "{ttl} {moment}");
            assert!(net.holds(0, ticket), "{ttl} {moment}");
            // The next renewal may be under way just now. All others have ended.
            let has_ended = |net: &mut Net| {
                net.run_for(ttl / 100);
                net.overtaking() == 0
            };
            assert!((0..10).any(|_| has_ended(&mut net)), "{ttl} {moment}");
        }
    }
}

#[test]
fn requests_that_hang_hold_up_no_renewal() {
    for ttl in ttls() {
        for moment in 0..8 {
            let mut net = Net::new(2, moment + 1);
            net.fate = Fate { lag: ttl.min(30 * SECOND) / 200, ..Fate::default() };
            let ticket = net.acquire(0, want(1, 1, ttl));
            let other = net.acquire(1, want(1, 1, ttl));
            net.run_for(ttl / 4 + ttl * moment / 80);
            net.fate.dead_way = Some(0);
            net.acquire(0, want(1, 1, ttl)); // it hangs, and with it the name
            net.run_for(ttl);
            assert_eq!(alarms(&net), [] as [&Event; 0], "{ttl} {moment}");
            assert!(net.holds(0, ticket) && !net.holds(1, other), "{ttl} {moment}");
        }
    }
}

/// Returns a session that holds a permit at `n`, proved at 0.
fn holder(ttl: Micros) -> (Session, Ticket) {
    let (mut session, name) =
        (Session::new(Inbox(7), SessionConfig::default()), Name::new("n").unwrap());
    let ticket = session.acquire(0, &name, want(1, 1, ttl));
    let call = session.poll_call(0).unwrap();
    grant(&mut session, &call, ttl);
    (session, ticket)
}

fn grant(session: &mut Session, call: &Call, ttl: Micros) {
    let [Request::Acquire(want)] = &*call.batch.requests else { panic!("{call:?}") };
    let (ticket, slots) = (want.ticket, "0".parse().unwrap());
    let grant = Grant {
        ticket,
        fence: Fence(1),
        slots,
        names: crate::SlotNames::none(),
        limit: 1,
        valid_for: Some(ttl),
    };
    session.handle_replies(0, call.id, replies(Reply::Granted(grant)));
    while session.poll_event().is_some() {}
}

/// Lets time pass until the session makes a call.
fn next_call(session: &mut Session) -> (Micros, Call) {
    let now = session.poll_timeout().unwrap();
    session.handle_timeout(now);
    (now, session.poll_call(now).unwrap())
}

#[test]
fn a_renewal_is_sent_three_times_before_danger_while_nothing_is_answered() {
    for ttl in ttls() {
        let (mut session, _) = holder(ttl);
        let schedule = session.config().schedule(ttl);
        let calls: Vec<_> = (0..3).map(|_| next_call(&mut session)).collect();
        for (at, call) in &calls {
            assert!(*at < schedule.danger(), "{ttl}: {at}");
            assert!(matches!(&*call.batch.requests, [Request::Renew(_)]), "{call:?}");
        }
        let overdue: Vec<_> = calls.iter().map(|(_, call)| call.overdue).collect();
        assert_eq!(overdue, [None, Some(schedule.repeat()), Some(schedule.repeat())]);

        // Answers may come in any order, and one is enough.
        let renewed = || replies(Reply::Renewed { valid_for: Some(ttl) });
        session.handle_replies(calls[2].0, calls[2].1.id, renewed());
        session.handle_replies(calls[2].0, calls[0].1.id, renewed());
        let (at, call) = next_call(&mut session);
        assert!(at > calls[0].0 + ttl / 9 && call.overdue.is_none(), "{ttl}: {at} {call:?}");
    }
}

#[test]
fn a_renewal_that_overtakes_a_request_for_a_permit_names_its_tickets() {
    let (mut session, ticket) = holder(30 * SECOND);
    let soon = 100 * MILLISECOND; // a renewal does not go along
    session.acquire(soon, &Name::new("n").unwrap(), want(1, 1, 30 * SECOND));
    let hanging = session.poll_call(soon).unwrap();
    assert!(session.poll_call(soon).is_none());
    let (at, call) = next_call(&mut session);
    let [Request::Renew(renew)] = &*call.batch.requests else { panic!("{call:?}") };
    assert_eq!(renew.whom, Whom::Tickets([ticket].into()));

    let held = TicketReply::Held {
        fence: Fence(1),
        slots: "0".parse().unwrap(),
        names: crate::SlotNames::none(),
    };
    let renewed = Reply::Tickets { valid_for: Some(30 * SECOND), tickets: [held].into() };
    session.handle_replies(at, call.id, replies(renewed));
    assert!(matches!(session.poll_event(), Some(Event::Renewed { .. })));
    assert!(session.poll_call(at).is_none(), "the request is still under way");
    let [Request::Acquire(want)] = &*hanging.batch.requests else { panic!("{hanging:?}") };
    let queued = replies(Reply::Queued { ticket: want.ticket, waiting: 1, limit: 1 });
    session.handle_replies(at, hanging.id, queued);
    assert!(matches!(session.poll_event(), Some(Event::Queued { .. })));
}

#[test]
fn of_very_many_names_that_are_silent_few_are_renewed_again_at_a_time() {
    let mut session = Session::new(Inbox(7), SessionConfig::default());
    for n in 0..300 {
        session.acquire(0, &Name::new(&format!("n{n}")).unwrap(), want(1, 1, SECOND));
    }
    let calls: Vec<_> = core::iter::from_fn(|| session.poll_call(0)).collect();
    calls.iter().for_each(|call| grant(&mut session, call, SECOND));
    let schedule = session.config().schedule(SECOND);
    let first = core::iter::from_fn(|| session.poll_call(schedule.renew())).count();
    assert_eq!(first, 300);
    let now = schedule.renew() + schedule.repeat();
    let again: Vec<_> = core::iter::from_fn(|| session.poll_call(now)).collect();
    assert_eq!(again.len(), 64);
    assert!(session.poll_timeout().unwrap() > now, "nothing to do before an answer");
    let renewed = replies(Reply::Renewed { valid_for: Some(SECOND) });
    session.handle_replies(now, again[0].id, renewed);
    assert!(session.poll_call(now).is_some(), "the next one has its turn");
}

#[test]
fn a_proof_that_hangs_is_asked_for_again() {
    let mut net = Net::new(2, 7);
    let first = net.acquire(0, want(1, 1, SECOND));
    net.run_for(100 * MILLISECOND);
    let second = net.acquire(1, want(1, 1, SECOND));
    net.run_for(100 * MILLISECOND);
    net.release(0, first);
    net.run_for(MILLISECOND); // the wakeup is under way
    net.fate.dead_way = Some(1);
    net.run_for(200 * MILLISECOND);
    assert!(net.holds(1, second), "{:?}", net.told);
    assert_eq!(alarms(&net), [] as [&Event; 0]);
}
