//! From which series a session draws its tickets, and what becomes of one that was overtaken.

use super::{TTL, granted, replies, waiting, want};
use crate::{
    Cause, Grant, Inbox, LeaseId, Name, Reply, Request, Series, Ticket, TicketReply,
    session::{CallFailure, Event, Session, SessionConfig},
    time::{Micros, SECOND},
};

fn session() -> (Session, Name) {
    (Session::new(Inbox(7), SessionConfig::default()), Name::new("n").unwrap())
}

fn grant(ticket: Ticket) -> Reply {
    let (fence, slots) = (crate::Fence(1), "0".parse().unwrap());
    Reply::Granted(Grant {
        ticket,
        fence,
        slots,
        names: crate::SlotNames::none(),
        limit: 1,
        valid_for: Some(TTL),
    })
}

/// Takes a permit and gives it back; the session has nothing to do after that.
fn take_and_release(session: &mut Session, name: &Name, now: Micros) -> (Ticket, LeaseId) {
    let ticket = session.acquire(now, name, want(1, 1, TTL));
    let call = session.poll_call(now).unwrap();
    let [Request::Acquire(want)] = &*call.batch.requests else { panic!("{call:?}") };
    let lease = want.lease;
    session.handle_replies(now, call.id, replies(grant(ticket)));
    session.release(now, ticket, None);
    let call = session.poll_call(now).unwrap();
    session.handle_replies(now, call.id, replies(Reply::Released { ticket, left: 0 }));
    assert!(session.is_idle());
    (ticket, lease)
}

#[test]
fn one_permit_after_the_other_draws_ascending_numbers_of_one_series() {
    let (mut session, name) = session();
    for number in 1..=3 {
        let (ticket, lease) = take_and_release(&mut session, &name, SECOND);
        assert_eq!(ticket, Series::from(lease).ticket(number));
        assert_eq!(lease.0 as u32, 0);
    }
}

#[test]
fn another_ttl_and_another_name_have_a_series_of_their_own() {
    let (mut session, name) = session();
    let tickets = [
        session.acquire(0, &name, want(1, 1, TTL)),
        session.acquire(0, &name, want(1, 1, 2 * TTL)),
        session.acquire(0, &Name::new("m").unwrap(), want(1, 1, TTL)),
    ];
    let series = tickets.map(Ticket::series);
    assert!(series[0] != series[1] && series[0] != series[2] && series[1] != series[2]);
    assert!(tickets.iter().all(|ticket| ticket.number() == 1));
}

#[test]
fn a_wish_whose_number_was_overtaken_is_asked_for_with_another_and_nobody_is_told_of_a_refusal() {
    let (mut session, ticket) = waiting();
    let (_, name) = self::session();
    session.look_again(SECOND);
    let call = session.poll_call(SECOND).unwrap();
    session.handle_replies(SECOND, call.id, replies(Reply::Differs));
    let call = session.poll_call(SECOND).unwrap();
    assert!(matches!(&*call.batch.requests, [Request::Acquire(want)] if want.ticket == ticket));
    let later = session.acquire(SECOND, &name, want(1, 1, TTL));
    let over = Reply::Ended { ticket, cause: Cause::Released };
    session.handle_replies(SECOND, call.id, replies(over));

    let to = ticket.series().ticket(3);
    assert_eq!(later, ticket.series().ticket(2));
    assert_eq!(session.poll_event(), Some(Event::Renumbered { from: ticket, to }));
    let call = session.poll_call(SECOND).unwrap();
    let asked = call.batch.requests.iter().map(|request| match request {
        Request::Acquire(want) => want.ticket,
        other => panic!("{other:?}"),
    });
    assert!(
        asked.eq([later, to]),
        "in the order of the numbers, or the later would overtake again"
    );
    assert_eq!(session.poll_event(), None);
}

#[test]
fn a_grant_that_was_undone_and_overtaken_is_asked_for_with_another_number() {
    let (mut session, ticket) = waiting();
    session.handle_wakeup(SECOND, granted(ticket, 1));
    let call = session.poll_call(SECOND).unwrap();
    let over = [TicketReply::Ended(Cause::Released)].into();
    let proof = Reply::Tickets { valid_for: Some(TTL), tickets: over };
    session.handle_replies(SECOND, call.id, replies(proof));
    let to = ticket.series().ticket(2);
    assert_eq!(session.poll_event(), Some(Event::Renumbered { from: ticket, to }));
    let call = session.poll_call(SECOND).unwrap();
    assert!(matches!(&*call.batch.requests, [Request::Acquire(want)] if want.ticket == to));
}

#[test]
fn what_others_have_ended_is_a_refusal_and_not_asked_for_again() {
    for cause in [Cause::Evicted, Cause::Cancelled, Cause::TooMany, Cause::Attached] {
        let (mut session, name) = session();
        let ticket = session.acquire(0, &name, want(1, 1, TTL));
        let call = session.poll_call(0).unwrap();
        session.handle_replies(0, call.id, replies(Reply::Ended { ticket, cause }));
        assert!(matches!(session.poll_event(), Some(Event::Refused { .. })), "{cause:?}");
        assert!(session.is_idle());
    }
}

#[test]
fn nothing_joins_a_lease_under_which_something_may_stand_that_was_given_up() {
    let (mut session, name) = session();
    let (first, _) = take_and_release(&mut session, &name, 0);
    let ticket = session.acquire(0, &name, want(1, 1, TTL));
    assert_eq!(ticket.series(), first.series());
    let call = session.poll_call(0).unwrap();
    session.handle_replies(0, call.id, replies(grant(ticket)));
    session.release(0, ticket, None);
    let call = session.poll_call(0).unwrap();
    let for_good = CallFailure { maybe_executed: true, is_passing: false, is_full: false };
    session.handle_failure(0, call.id, for_good);
    assert!(session.is_idle());
    let next = session.acquire(SECOND, &name, want(1, 1, TTL));
    assert_ne!(next.series(), first.series());
}
