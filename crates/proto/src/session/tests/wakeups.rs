//! Wakeups that are lost, early or about a ticket that has left.

use alloc::vec::Vec;

use super::{
    TTL, granted,
    net::{Fate, Net},
    replies, waiting, want,
};
use crate::{
    id::{Fence, Inbox, Ticket},
    name::Name,
    reply::{Reply, TicketReply},
    request::{Request, Whom},
    session::{Event, Session, SessionConfig},
    time::SECOND,
};

#[test]
fn a_lost_wakeup_costs_time_and_no_more() {
    let mut net = Net::new(2, 7);
    let first = net.acquire(0, want(1, 1, TTL));
    net.run_for(SECOND);
    let second = net.acquire(1, want(1, 1, TTL));
    net.run_for(SECOND);
    net.fate = Fate { lose_wakeups: true, ..Fate::default() };
    net.release(0, first);
    net.run_for(6 * SECOND);
    assert!(net.holds(1, second));
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
    };
    let proof = Reply::Tickets { valid_for: Some(TTL), tickets: [held].into() };
    session.handle_replies(SECOND, call.id, replies(proof));
    let event = session.poll_event();
    assert!(matches!(event, Some(Event::Acquired { fence: Fence(2), .. })), "{event:?}");
}

#[test]
fn a_wakeup_that_comes_before_the_answer_is_not_lost() {
    let (mut session, name) =
        (Session::new(Inbox(7), SessionConfig::default()), Name::new("n").unwrap());
    let ticket = session.acquire(0, &name, want(1, 1, TTL));
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
    assert!(matches!(&*call.batch.requests, [Request::Renew(_)]));
    assert!(!proves(&call.batch.requests, ticket), "its place is renewed");
    session.handle_replies(SECOND, call.id, replies(Reply::Renewed { valid_for: Some(TTL) }));
    assert!(session.poll_event().is_none());
    assert!(session.poll_call(SECOND).is_none(), "asked once more, not for ever");
}

/// Returns whether this is a renewal of the ticket by name.
fn proves(requests: &[Request], ticket: Ticket) -> bool {
    let [Request::Renew(renew)] = requests else { return false };
    renew.whom == Whom::Tickets([ticket].into())
}

#[test]
fn a_grant_to_a_ticket_that_has_left_is_given_back_at_once() {
    let mut session = Session::new(Inbox(7), SessionConfig::default());
    let ticket = left(&mut session);
    // This happens after a fail-over to a master that does not know of the cancel.
    session.handle_wakeup(SECOND, granted(ticket, 9));
    let call = session.poll_call(SECOND).unwrap();
    assert_eq!(call.batch.requests, [Request::Release { ticket, slots: None }]);
    session.handle_replies(SECOND, call.id, replies(Reply::Released { ticket, left: 0 }));
    assert!(session.is_idle());
}

#[test]
fn a_failover_that_forgets_a_left_place_delays_no_waiter() {
    let mut net = Net::new(5, 7);
    let first = net.acquire(0, want(1, 1, TTL));
    net.run_for(SECOND);
    let line: Vec<_> = (1..5).map(|who| (who, net.acquire(who, want(1, 1, TTL)))).collect();
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

/// Returns a ticket that stood in line and was cancelled.
fn left(session: &mut Session) -> Ticket {
    let ticket = session.acquire(0, &Name::new("n").unwrap(), want(1, 1, TTL));
    let call = session.poll_call(0).unwrap();
    session.handle_replies(0, call.id, replies(Reply::Queued { ticket, waiting: 1, limit: 1 }));
    session.cancel(0, ticket);
    let call = session.poll_call(0).unwrap();
    session.handle_replies(0, call.id, replies(Reply::Cancelled { ticket }));
    assert!(session.is_idle());
    ticket
}
