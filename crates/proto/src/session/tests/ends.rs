//! Wakeups that say that something is over. One may be old: meanwhile the ticket may have been
//! asked for again.

use alloc::vec::Vec;

use crate::{
    Batch, Cause, Fence, Grant, Inbox, Name, Reply, Request, Ticket, Wakeup, What,
    session::{AcquireRefusal, Event, Loss, Session, SessionConfig},
    slots::Slots,
    time::{Micros, SECOND},
};

use super::{TTL, replies, want};

const INBOX: Inbox = Inbox(7);

fn session() -> (Session, Name) {
    (Session::new(INBOX, SessionConfig::default()), Name::new("n").unwrap())
}

fn ended(name: &Name, ticket: Ticket) -> Wakeup {
    Wakeup { inbox: INBOX, name: name.clone(), ticket, what: What::Ended(Cause::Expired) }
}

fn granted(ticket: Ticket) -> Reply {
    let (fence, slots) = (Fence(9), Slots::range(0, 0));
    Reply::Granted(Grant {
        ticket,
        fence,
        slots,
        names: crate::SlotNames::none(),
        limit: 1,
        valid_for: Some(TTL),
    })
}

fn events(session: &mut Session) -> Vec<Event> {
    core::iter::from_fn(|| session.poll_event()).collect()
}

/// The requests that the session sends until it has none left. Each call has one request and gets
/// `answer`.
fn sent(session: &mut Session, now: Micros, answer: &Reply) -> Vec<Batch> {
    let mut sent = Vec::new();
    while let Some(call) = session.poll_call(now) {
        assert_eq!(call.batch.requests.len(), 1, "{call:?}");
        sent.push(call.batch);
        session.handle_replies(now, call.id, replies(answer.clone()));
    }
    sent
}

fn cancels(batches: &[Batch], of: Ticket) -> bool {
    let mut requests = batches.iter().flat_map(|batch| &batch.requests);
    requests.any(|request| matches!(request, Request::Cancel { ticket, .. } if *ticket == of))
}

#[test]
fn an_old_word_of_an_end_that_overtakes_a_grant_leaves_no_permit_that_nobody_knows_of() {
    let (mut session, name) = session();
    let ticket = session.acquire(0, &name, want(1, 1, TTL));
    let asked = session.poll_call(0).expect("it is asked for");
    session.handle_wakeup(SECOND, ended(&name, ticket));
    let refused = Event::Refused { ticket, refusal: AcquireRefusal::Ended(Cause::Expired) };
    assert_eq!(events(&mut session), [refused]);
    session.handle_replies(SECOND, asked.id, replies(granted(ticket)));
    let sent = sent(&mut session, SECOND, &Reply::Cancelled { ticket });
    assert!(cancels(&sent, ticket), "{sent:?}");
    assert!(session.is_idle() && events(&mut session).is_empty());
}

#[test]
fn what_is_said_to_be_over_is_given_up_at_the_store_too() {
    let (mut session, name) = session();
    let ticket = session.acquire(0, &name, want(1, 1, TTL));
    let asked = session.poll_call(0).expect("it is asked for");
    session.handle_replies(0, asked.id, replies(granted(ticket)));
    assert!(matches!(events(&mut session)[..], [Event::Acquired { .. }]));
    session.handle_wakeup(SECOND, ended(&name, ticket));
    let lost = Event::Lost { ticket, loss: Loss::Ended(Cause::Expired) };
    assert_eq!(events(&mut session), [lost]);
    let sent = sent(&mut session, SECOND, &Reply::Cancelled { ticket });
    assert!(cancels(&sent, ticket), "{sent:?}");
    assert!(session.is_idle());
}

/// A permit of slots 0 to 2 of which slot 0 is being given back, and the call that does so.
fn part_released() -> (Session, Ticket, crate::session::Call) {
    let (mut session, name) = session();
    let ticket = session.acquire(0, &name, want(3, 3, TTL));
    let call = session.poll_call(0).unwrap();
    let Reply::Granted(grant) = granted(ticket) else { unreachable!() };
    let grant = Grant { slots: Slots::range(0, 2), limit: 3, ..grant };
    session.handle_replies(0, call.id, replies(Reply::Granted(grant)));
    events(&mut session);
    session.release(SECOND, ticket, Some(Slots::range(0, 0)));
    let call = session.poll_call(SECOND).unwrap();
    (session, ticket, call)
}

#[test]
fn a_part_that_the_store_no_longer_has_is_the_loss_of_the_rest() {
    let given = Some(Slots::range(0, 0));
    for (reply, was_held, loss) in [
        (|ticket| Reply::Unknown { ticket }, false, Loss::Forgotten),
        (ended_by(Cause::Evicted), false, Loss::Ended(Cause::Evicted)),
        (ended_by(Cause::Released), true, Loss::Ended(Cause::Released)),
    ] as [(fn(Ticket) -> Reply, bool, Loss); 3]
    {
        let (mut session, ticket, call) = part_released();
        session.handle_replies(SECOND, call.id, replies(reply(ticket)));
        let released = Event::Released { ticket, was_held, left: 0, given: given.clone() };
        assert_eq!(events(&mut session), [released, Event::Lost { ticket, loss }]);
        assert!(session.is_idle());
    }
}

fn ended_by(cause: Cause) -> fn(Ticket) -> Reply {
    match cause {
        Cause::Evicted => |ticket| Reply::Ended { ticket, cause: Cause::Evicted },
        _ => |ticket| Reply::Ended { ticket, cause: Cause::Released },
    }
}

#[test]
fn the_rest_of_a_part_that_went_back_is_kept() {
    let (mut session, ticket, call) = part_released();
    session.handle_replies(SECOND, call.id, replies(Reply::Released { ticket, left: 2 }));
    let given = Some(Slots::range(0, 0));
    let released = Event::Released { ticket, was_held: true, left: 2, given };
    assert_eq!(events(&mut session), [released]);
    session.release(SECOND, ticket, Some(Slots::range(1, 2)));
    let call = session.poll_call(SECOND).unwrap();
    assert_eq!(call.batch.requests, [Request::Release { ticket, slots: None }]);
}
