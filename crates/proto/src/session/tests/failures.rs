//! The effects of failed calls on a session.

use alloc::vec::Vec;

use crate::{
    Batch, Fence, Inbox, Name, Reply, Request, Ticket,
    session::{AcquireRefusal, CallFailure, Event, Session, SessionConfig},
    time::{Micros, SECOND},
};

use super::{TTL, replies, want};

/// Of a store that will answer the same whenever it is asked: it is damaged.
const FOR_GOOD: CallFailure =
    CallFailure { maybe_executed: false, is_passing: false, is_full: false };

fn session() -> (Session, Name) {
    (Session::new(Inbox(7), SessionConfig::default()), Name::new("n").unwrap())
}

/// Lets every call fail for good until nothing is to be done in the next two minutes. What was
/// sent.
fn fail_all(session: &mut Session, from: Micros) -> Vec<Batch> {
    let mut sent = Vec::new();
    while let Some(now) = session.poll_timeout()
        && now < from + 120 * SECOND
        && sent.len() < 100
    {
        session.handle_timeout(now);
        while let Some(call) = session.poll_call(now.max(from)) {
            session.handle_failure(now.max(from), call.id, FOR_GOOD);
            sent.push(call.batch);
        }
    }
    sent
}

fn events(session: &mut Session) -> Vec<Event> {
    core::iter::from_fn(|| session.poll_event()).collect()
}

#[test]
fn a_store_that_fails_for_good_is_asked_and_told_once() {
    let (mut session, name) = session();
    let ticket = session.acquire(0, &name, want(1, 1, TTL));
    let sent = fail_all(&mut session, 0);
    assert_eq!(sent.len(), 2, "the request, and that it is not wanted any more: {sent:?}");
    let refused = Event::Refused { ticket, refusal: AcquireRefusal::Store };
    assert_eq!(events(&mut session)[0], refused);
    assert!(session.is_idle());
}

#[test]
fn a_waiter_learns_that_the_store_fails_for_good() {
    let (mut session, name) = session();
    let ticket = session.acquire(0, &name, want(1, 1, TTL));
    let call = session.poll_call(0).unwrap();
    session.handle_replies(0, call.id, replies(Reply::Queued { ticket, waiting: 1, limit: 1 }));
    fail_all(&mut session, 0);
    let refused = Event::Refused { ticket, refusal: AcquireRefusal::Store };
    assert!(events(&mut session).contains(&refused));
    assert!(session.is_idle());
}

fn held() -> (Session, Ticket) {
    let (mut session, name) = session();
    let ticket = session.acquire(0, &name, want(1, 1, TTL));
    let call = session.poll_call(0).unwrap();
    let slots = "0".parse().unwrap();
    let grant = crate::Grant {
        ticket,
        fence: Fence(1),
        slots,
        names: crate::SlotNames::none(),
        limit: 1,
        valid_for: None,
    };
    session.handle_replies(0, call.id, replies(Reply::Granted(grant)));
    events(&mut session);
    (session, ticket)
}

#[test]
fn a_release_that_fails_for_good_is_known_to_be_unknown() {
    let (mut session, ticket) = held();
    session.release(SECOND, ticket, None);
    assert_eq!(fail_all(&mut session, SECOND).len(), 1);
    assert_eq!(events(&mut session), [Event::Unanswered { ticket, given: None }]);
    assert!(session.is_idle());
}

#[test]
fn a_detach_that_fails_for_good_is_known_to_be_unknown() {
    let (mut session, ticket) = held();
    session.detach(SECOND, ticket);
    assert_eq!(fail_all(&mut session, SECOND).len(), 1);
    assert_eq!(events(&mut session), [Event::Unanswered { ticket, given: None }]);
}

#[test]
fn what_is_held_is_renewed_however_often_that_fails() {
    let (mut session, _) = held();
    let sent = fail_all(&mut session, 0);
    assert!(sent.len() > 3, "{sent:?}");
    assert!(sent.iter().all(|batch| matches!(batch.requests[..], [Request::Renew(_)])));
    assert_eq!(events(&mut session), []);
}

const FULL: CallFailure = CallFailure { maybe_executed: false, is_passing: true, is_full: true };

#[test]
fn a_store_without_room_is_told_at_once_and_asked_no_more() {
    let (mut session, name) = session();
    let ticket = session.acquire(0, &name, want(1, 1, TTL));
    let call = session.poll_call(0).unwrap();
    session.handle_failure(0, call.id, FULL);
    assert_eq!(events(&mut session), [Event::Refused { ticket, refusal: AcquireRefusal::Store }]);
    assert!(session.is_idle(), "nothing of it is there to be taken back");
}

#[test]
fn what_may_have_got_into_a_store_before_it_was_full_is_taken_back() {
    let (mut session, name) = session();
    let ticket = session.acquire(0, &name, want(1, 1, TTL));
    let call = session.poll_call(0).unwrap();
    session.handle_failure(0, call.id, CallFailure { maybe_executed: true, ..FULL });
    assert_eq!(events(&mut session), [Event::Refused { ticket, refusal: AcquireRefusal::Store }]);
    let mut calls = core::iter::from_fn(|| {
        let at = session.poll_timeout()?;
        session.handle_timeout(at);
        Some(session.poll_call(at))
    });
    let call = calls.find_map(|call| call).unwrap();
    assert!(
        matches!(call.batch.requests[..], [Request::Cancel { ticket: of, .. }] if of == ticket)
    );
}

#[test]
fn a_waiter_learns_that_the_store_has_no_room() {
    let (mut session, name) = session();
    let ticket = session.acquire(0, &name, want(1, 1, TTL));
    let call = session.poll_call(0).unwrap();
    session.handle_replies(0, call.id, replies(Reply::Queued { ticket, waiting: 1, limit: 1 }));
    events(&mut session);
    let at = session.poll_timeout().unwrap();
    let call = session.poll_call(at).unwrap();
    session.handle_failure(at, call.id, FULL);
    assert_eq!(events(&mut session), [Event::Refused { ticket, refusal: AcquireRefusal::Store }]);
}

#[test]
fn what_is_given_back_to_a_store_without_room_is_given_back_when_it_has_some() {
    let (mut session, ticket) = held();
    session.release(SECOND, ticket, None);
    for _ in 0..5 {
        let at = session.poll_timeout().unwrap().max(SECOND);
        let call = session.poll_call(at).unwrap();
        assert!(matches!(call.batch.requests[..], [Request::Release { .. }]));
        session.handle_failure(at, call.id, FULL);
        assert_eq!(events(&mut session), []);
    }
}
