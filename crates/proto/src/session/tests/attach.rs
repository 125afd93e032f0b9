//! Tickets that change hands.

use super::{
    TTL,
    net::{Fate, Net},
    want,
};
use alloc::vec;

use crate::{
    id::{Fence, Inbox, Ticket},
    name::Name,
    reply::{Cause, Grant, Replies, Reply, TicketReply, Wakeup, What},
    request::Request,
    session::{AcquireRefusal, Event, Loss, Session, SessionConfig},
    time::{MILLISECOND, Micros, SECOND},
};

/// A net of this many sessions, of which the first holds a ticket.
fn held(sessions: usize) -> (Net, Ticket) {
    let mut net = Net::new(sessions, 7);
    let ticket = net.acquire(0, want(1, 1, TTL));
    net.run_for(SECOND);
    assert!(net.holds(0, ticket));
    (net, ticket)
}

fn lost_at(net: &Net, who: usize) -> Option<(Micros, Loss)> {
    net.told.iter().find_map(|(to, at, event)| match event {
        Event::Lost { loss, .. } if *to == who => Some((*at, *loss)),
        _ => None,
    })
}

#[test]
fn the_holder_of_a_ticket_that_another_attaches_to_is_told_at_once_and_can_free_nothing() {
    let (mut net, ticket) = held(3);
    let (before, began) = (net.fence(ticket), net.now);
    net.attach(1, ticket, want(1, 1, TTL));
    net.run_for(SECOND);
    let (at, loss) = lost_at(&net, 0).unwrap();
    assert_eq!(loss, Loss::Ended(Cause::Attached));
    assert!(at - began <= 10 * MILLISECOND, "told after {} us", at - began);
    assert!(net.fence(ticket) > before && net.holders_of(ticket) == [1]);
    net.release(0, ticket);
    let waiter = net.acquire(2, want(1, 1, TTL));
    net.run_for(3 * TTL);
    assert!(net.holds(1, ticket) && !net.holds(2, waiter));
    net.release(1, ticket);
    net.run_for(SECOND);
    assert!(net.holds(2, waiter) && net.sessions[1].is_idle());
}

#[test]
fn a_holder_that_was_not_told_learns_of_it_by_its_next_renewal() {
    let (mut net, ticket) = held(2);
    net.fate = Fate { lose_wakeups: true, ..Fate::default() };
    while net.holders_of(ticket) != [1] {
        // Wakeups are lost at random: until this one is.
        net.attach(1, ticket, want(1, 1, TTL));
        net.run_for(TTL / 3 + SECOND);
    }
    assert!(net.sessions[0].is_idle());
}

#[test]
fn a_session_that_attaches_to_its_own_ticket_has_the_new_grant_only() {
    let (mut net, ticket) = held(2);
    let before = net.fence(ticket);
    net.attach(0, ticket, want(1, 1, TTL));
    assert_eq!(lost_at(&net, 0).unwrap().1, Loss::Ended(Cause::Attached));
    net.run_for(3 * TTL);
    assert!(net.holds(0, ticket) && net.fence(ticket) > before);
    net.release(0, ticket);
    let next = net.acquire(1, want(1, 1, TTL));
    net.run_for(SECOND);
    assert!(net.holds(1, next) && net.sessions[0].is_idle());
}

#[test]
fn of_two_sessions_that_attach_to_a_detached_ticket_the_first_is_told_of_the_second() {
    let (mut net, ticket) = held(3);
    net.detach(0, ticket);
    net.run_for(SECOND);
    net.attach(1, ticket, want(1, 1, TTL));
    net.attach(2, ticket, want(1, 1, TTL));
    net.run_for(SECOND);
    let holders = net.holders_of(ticket);
    let [holder] = holders[..] else { panic!("{holders:?} hold it") };
    assert_eq!(lost_at(&net, 3 - holder).unwrap().1, Loss::Ended(Cause::Attached));
}

#[test]
fn two_tasks_of_a_session_that_attach_to_one_ticket_get_it_one_after_the_other() {
    let (mut net, ticket) = held(2);
    net.detach(0, ticket);
    net.run_for(SECOND);
    net.attach(1, ticket, want(1, 1, TTL));
    net.attach(1, ticket, want(1, 1, TTL));
    net.run_for(SECOND);
    let refused = Event::Refused { ticket, refusal: AcquireRefusal::Ended(Cause::Attached) };
    assert!(net.told.iter().any(|told| told.2 == refused));
    assert_eq!(net.holders_of(ticket), [1]);
}

#[test]
fn a_late_wakeup_about_an_abandoned_grant_takes_nothing_from_its_new_holder() {
    let (mut net, ticket) = held(2);
    let (fence, slots) = (net.fence(ticket), "0".parse().unwrap());
    net.detach(0, ticket);
    net.run_for(SECOND);
    let (inbox, name) = (net.inbox(0), crate::Name::new("n").unwrap());
    let late = |what| Wakeup { inbox, name: name.clone(), ticket, what };
    net.sessions[0].handle_wakeup(net.now, late(What::Granted { fence, slots, limit: 1 }));
    net.run_for(SECOND);
    net.attach(1, ticket, want(1, 1, TTL));
    net.run_for(SECOND);
    assert!(net.holds(1, ticket) && net.sessions[0].is_idle());
    net.attach(0, ticket, want(1, 1, TTL));
    net.run_for(SECOND);
    net.sessions[0].handle_wakeup(net.now, late(What::Ended(Cause::Attached)));
    net.run_for(TTL);
    assert!(net.holds(0, ticket), "it was about the grant before");
}

/// The wakeup about a grant may overtake the answer that grants it. Then another client has
/// attached next.
#[test]
fn an_attach_whose_end_overtakes_its_answer_is_handed_over_on_a_proof_only() {
    let (inbox, ticket, name) = (Inbox(9 << 64), Ticket(5), crate::Name::new("n").unwrap());
    let mut session = Session::new(inbox, SessionConfig::default());
    session.attach(SECOND, &name, ticket, want(1, 1, TTL)).unwrap();
    let call = session.poll_call(SECOND).unwrap();
    let what = What::Ended(Cause::Attached);
    session.handle_wakeup(SECOND, Wakeup { inbox, name, ticket, what });
    let (fence, slots, valid_for) = (Fence(5), "0".parse().unwrap(), Some(TTL));
    let grant =
        Grant { ticket, fence, slots, names: crate::SlotNames::none(), limit: 1, valid_for };
    let replies =
        |reply| Replies { now: SECOND, replies: vec![reply], backlog: false, look_in: None };
    session.handle_replies(SECOND, call.id, replies(Reply::Granted(grant)));
    assert_eq!(session.poll_event(), None);
    let proof = session.poll_call(SECOND).unwrap();
    let over = Reply::Tickets { valid_for, tickets: vec![TicketReply::Ended(Cause::Attached)] };
    session.handle_replies(SECOND, proof.id, replies(over));
    let refusal = AcquireRefusal::Ended(Cause::Attached);
    assert_eq!(session.poll_event(), Some(Event::Refused { ticket, refusal }));
    assert!(session.is_idle());
}

#[test]
fn an_attach_that_is_given_up_before_it_is_answered_takes_nothing_from_the_holder() {
    let (mut net, ticket) = held(2);
    net.fate = Fate { cut_off: Some(1), ..Fate::default() };
    net.attach(1, ticket, want(1, 1, TTL));
    net.run_for(SECOND);
    net.cancel(1, ticket);
    net.fate = Fate::default();
    net.run_for(2 * TTL);
    assert!(net.holds(0, ticket) && net.sessions[1].is_idle());
}

#[test]
fn a_holder_whose_ticket_an_operator_gives_back_is_told_at_once() {
    let (mut net, ticket) = held(2);
    let began = net.now;
    net.operate(1, Request::Release { ticket, slots: None });
    net.run_for(SECOND);
    let (at, loss) = lost_at(&net, 0).unwrap();
    assert_eq!(loss, Loss::Ended(Cause::Released));
    assert!(at - began <= 10 * MILLISECOND, "told after {} us", at - began);
    assert!(net.sessions.iter().all(Session::is_idle));
}

/// Tickets change hands at random over bad links. A holder believes until it is told, by a wakeup
/// or by its next renewal; once the links are good and that time is over, each ticket is one
/// client's at most.
#[test]
fn over_lossy_repeating_reordering_links_a_ticket_has_one_holder_in_the_end() {
    for seed in 1..=40 {
        let mut net = Net::with(3, seed, &SessionConfig::default());
        net.fate = Fate {
            lose_requests: 15,
            lose_replies: 15,
            repeat: 15,
            slow: true,
            lose_wakeups: seed % 3 == 0,
            ..Fate::default()
        };
        let mut tickets = alloc::vec::Vec::new();
        for _ in 0..250 {
            net.hand_around(&mut tickets, 2);
        }
        net.fate = Fate::default();
        net.run_for(2 * TTL);
        for ticket in &tickets {
            assert!(net.holders_of(*ticket).len() <= 1, "seed {seed}: {ticket}");
        }
        for _ in 0..400 {
            net.release_everything();
            net.run_for(SECOND);
        }
        for _ in 0..60 {
            net.run_for(SECOND);
            net.touch();
        }
        assert!(net.waits().is_empty(), "seed {seed}: {:?} still wait", net.waits());
        assert!(net.state.is_empty(), "seed {seed}: something is left: {:?}", net.state);
        assert!(net.sessions.iter().all(Session::is_idle), "seed {seed}");
    }
}

#[test]
fn an_attach_by_the_wrong_name_ends_no_hold_of_another_name() {
    let (mut net, ticket) = held(1);
    let session = &mut net.sessions[0];
    let other = Name::new("another").unwrap();
    let refused = session.attach(net.now, &other, ticket, want(1, 1, TTL));
    assert_eq!(refused, Err(AcquireRefusal::Unknown));
    assert!(session.poll_event().is_none());
    net.run_for(TTL);
    assert!(net.holds(0, ticket));
}
