//! Proofs that follow a release in the same call, for the grant of a waiter of the same client.

use alloc::vec::Vec;

use super::{TTL, granted, replies, want};
use crate::{
    id::{Fence, Inbox, Ticket},
    name::Name,
    reply::{Grant, Replies, Reply, TicketReply},
    request::{Request, Whom},
    session::{Call, CallFailure, Event, Session, SessionConfig},
    slot_names::SlotNames,
};

/// A client at a mutex, with a ticket that holds and one that waits. It has handed over permits to
/// itself before.
struct Turns {
    session: Session,
    name: Name,
    holder: Ticket,
    waiter: Ticket,
}

impl Turns {
    fn new() -> Self {
        let mut session = Session::new(Inbox(7), SessionConfig::default());
        let name = Name::new("n").unwrap();
        let holder = session.acquire(0, &name, want(1, 1, TTL));
        let mut turns = Self { session, name, holder, waiter: holder };
        turns.answer([grant(holder)].into());
        turns.stand_in_line();
        let next = turns.waiter;
        turns.session.release(0, holder, None);
        let call = turns.session.poll_call(0).unwrap();
        assert!(matches!(&*call.batch.requests, [Request::Release { .. }]), "{call:?}");
        turns.session.handle_wakeup(0, granted(next, 2));
        turns.session.handle_replies(0, call.id, answers([released(holder)].into()));
        turns.answer([held(2)].into());
        turns.holder = next;
        turns.stand_in_line();
        turns.events();
        turns
    }

    fn stand_in_line(&mut self) {
        let ticket = self.session.acquire(0, &self.name, want(1, 1, TTL));
        self.waiter = ticket;
        self.answer([Reply::Queued { ticket, waiting: 1, limit: 1 }].into());
    }

    /// Answers the next call with these replies.
    fn answer(&mut self, replies: Vec<Reply>) {
        let call = self.session.poll_call(0).unwrap();
        assert_eq!(call.batch.requests.len(), replies.len(), "{call:?}");
        self.session.handle_replies(0, call.id, answers(replies));
    }

    fn release(&mut self) -> Call {
        self.session.release(0, self.holder, None);
        self.session.poll_call(0).unwrap()
    }

    fn events(&mut self) -> Vec<Event> {
        core::iter::from_fn(|| self.session.poll_event()).collect()
    }

    fn is_acquired(&mut self) -> bool {
        let waiter = self.waiter;
        let is_it =
            |event: &Event| matches!(event, Event::Acquired { ticket, .. } if *ticket == waiter);
        self.events().iter().any(is_it)
    }
}

fn answers(them: Vec<Reply>) -> Replies {
    Replies { replies: them, ..replies(Reply::Gone) }
}

fn grant(ticket: Ticket) -> Reply {
    let slots = "0".parse().unwrap();
    let (fence, names, valid_for) = (Fence(1), SlotNames::none(), Some(TTL));
    Reply::Granted(Grant { ticket, fence, slots, names, limit: 1, valid_for })
}

fn released(ticket: Ticket) -> Reply {
    Reply::Released { ticket, left: 0 }
}

fn held(fence: u64) -> Reply {
    let (slots, names) = ("0".parse().unwrap(), SlotNames::none());
    let held = TicketReply::Held { fence: Fence(fence), slots, names };
    Reply::Tickets { valid_for: Some(TTL), tickets: [held].into() }
}

fn waits() -> Reply {
    Reply::Tickets { valid_for: None, tickets: [TicketReply::Waiting].into() }
}

/// Returns whether a call gives a ticket back and then proves this one.
fn proves_ahead(call: &Call, waiter: Ticket) -> bool {
    matches!(
        &*call.batch.requests,
        [Request::Release { .. }, Request::Renew(renew)]
            if renew.whom == Whom::Tickets([waiter].into())
    )
}

#[test]
fn what_a_client_hands_over_to_itself_is_proved_by_the_call_that_gives_it_back() {
    let mut turns = Turns::new();
    let call = turns.release();
    assert!(proves_ahead(&call, turns.waiter), "{call:?}");
    turns.session.handle_wakeup(0, granted(turns.waiter, 3));
    turns.session.handle_replies(0, call.id, answers([released(turns.holder), held(3)].into()));
    assert!(turns.is_acquired());
    assert!(turns.session.poll_call(0).is_none(), "nothing is left to prove");
}

#[test]
fn where_somebody_else_was_first_in_line_the_next_release_proves_nothing_ahead() {
    let mut turns = Turns::new();
    let call = turns.release();
    turns.session.handle_replies(0, call.id, answers([released(turns.holder), waits()].into()));
    assert!(!turns.is_acquired());
    assert!(turns.session.poll_call(0).is_none(), "the ticket waits on");
    turns.session.handle_wakeup(0, granted(turns.waiter, 3));
    turns.answer([held(3)].into());
    turns.holder = turns.waiter;
    turns.stand_in_line();
    let call = turns.release();
    assert!(matches!(&*call.batch.requests, [Request::Release { .. }]), "{call:?}");
}

#[test]
fn a_proof_that_comes_before_its_wakeup_is_asked_for_again() {
    let mut turns = Turns::new();
    let call = turns.release();
    turns.session.handle_replies(0, call.id, answers([released(turns.holder), held(3)].into()));
    assert!(!turns.is_acquired(), "a limit is told by the wakeup only");
    turns.session.handle_wakeup(0, granted(turns.waiter, 3));
    turns.answer([held(3)].into());
    assert!(turns.is_acquired());
}

#[test]
fn a_release_with_a_proof_that_has_no_answer_refuses_nobody() {
    let mut turns = Turns::new();
    let call = turns.release();
    let failure = CallFailure { maybe_executed: true, is_passing: true, is_full: false };
    turns.session.handle_failure(0, call.id, failure);
    assert_eq!(turns.events(), []);
    turns.session.handle_wakeup(0, granted(turns.waiter, 3));
    turns.session.look_again(0);
    let call = turns.session.poll_call(0).unwrap();
    let is_release = |request: &Request| matches!(request, Request::Release { .. });
    assert!(call.batch.requests.iter().any(is_release), "{call:?}");
}

#[test]
fn a_waiter_that_has_gone_is_not_proved_ahead() {
    let mut turns = Turns::new();
    turns.session.cancel(0, turns.waiter);
    let call = turns.release();
    let is_renewal = |request: &Request| matches!(request, Request::Renew(_));
    assert!(!call.batch.requests.iter().any(is_renewal), "{call:?}");
}
