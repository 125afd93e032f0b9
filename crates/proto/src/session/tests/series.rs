//! The series from which a session draws its tickets, and the fate of a ticket that was overtaken.

use alloc::{collections::BTreeSet, vec::Vec};

use super::{
    TTL, all, granted,
    net::{Fate, Net},
    replies, waiting, want,
};
use crate::{
    Batch, Cause, Grant, Inbox, Name, Reply, Request, Series, Ticket, TicketReply,
    session::{CallFailure, Event, Session, SessionConfig},
    time::{MILLISECOND, Micros, SECOND},
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
fn take_and_release(session: &mut Session, name: &Name, now: Micros) -> Ticket {
    let ticket = session.acquire(now, name, want(1, 1, TTL));
    let call = session.poll_call(now).unwrap();
    session.handle_replies(now, call.id, replies(grant(ticket)));
    session.release(now, ticket, None);
    let call = session.poll_call(now).unwrap();
    session.handle_replies(now, call.id, replies(Reply::Released { ticket, left: 0 }));
    assert!(session.is_idle());
    ticket
}

#[test]
fn one_permit_after_the_other_draws_ascending_numbers_of_one_series() {
    let (mut session, name) = session();
    let tickets = [(); 3].map(|()| take_and_release(&mut session, &name, SECOND));
    let series = tickets[0].series();
    assert_eq!(tickets, [1, 2, 3].map(|number| series.ticket(number)));
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
        "tickets go in the order of their numbers, or the later would overtake again"
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
    let first = take_and_release(&mut session, &name, 0);
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

const MOST: u32 = Batch::MOST_UNDER_A_LEASE as u32;

fn series_of(tickets: &[Ticket]) -> Vec<Series> {
    let series: BTreeSet<Series> = tickets.iter().map(|ticket| ticket.series()).collect();
    series.into_iter().collect()
}

/// Returns how many tickets stand under each lease of holders, or under each of waiters.
fn members(net: &Net, of_waiters: bool) -> Vec<u32> {
    let leases = net.state.leases().filter(|lease| lease.id.is_place() == of_waiters);
    let mut members: Vec<u32> = leases.map(|lease| lease.members).collect();
    members.sort_unstable();
    members
}

#[test]
fn the_sixty_fifth_permit_stands_under_a_second_lease_and_one_call_renews_both() {
    let mut net = Net::new(1, 7);
    let tickets: Vec<_> = (0..=MOST).map(|_| net.acquire(0, want(1, MOST + 1, TTL))).collect();
    net.run_for(SECOND);
    assert_eq!((series_of(&tickets).len(), members(&net, false)), (2, [1, MOST].into()));
    for _ in 0..10 {
        let (calls, renewed) = (net.calls, net.now);
        while net.calls == calls {
            net.run_for(SECOND);
        }
        net.run_for(SECOND);
        assert!(net.now - renewed < TTL && net.calls == calls + 1);
        assert!(tickets.iter().all(|ticket| net.holds(0, *ticket)));
    }
    net.release_everything();
    net.run_for(SECOND);
    assert!(net.sessions[0].is_idle() && net.state.leases().next().is_none());
}

#[test]
fn the_sixty_fifth_waiter_has_a_second_place_and_both_are_renewed() {
    let mut net = Net::new(2, 7);
    let first = net.acquire(0, want(1, 1, TTL));
    net.run_for(SECOND);
    let tickets: Vec<_> = (0..=MOST).map(|_| net.acquire(1, want(1, 1, TTL))).collect();
    net.run_for(SECOND);
    assert_eq!(members(&net, true), [1, MOST]);
    net.run_for(3 * TTL);
    assert_eq!((members(&net, true), net.waiting()), ([1, MOST].into(), MOST + 1));
    net.release(0, first);
    net.run_for(SECOND);
    // The waiters are served in the order in which they asked, whatever the order of their leases.
    for ticket in tickets {
        assert!(net.holds(1, ticket));
        net.release(1, ticket);
        net.run_for(SECOND);
    }
    assert!(net.sessions[1].is_idle() && net.state.leases().next().is_none());
}

/// The holder is not heard from any more. Of the wakeups with the next grant, about half are lost.
#[test]
fn a_lost_wakeup_costs_no_more_than_the_next_look_however_many_places_a_client_has() {
    for seed in 1..=16 {
        let mut net = Net::new(2, seed);
        let held = net.acquire(0, want(1, 1, TTL));
        net.run_for(SECOND); // so that the end of the lease is between two renewals of places
        let tickets: Vec<_> = (0..3 * MOST).map(|_| net.acquire(1, want(1, 1, TTL))).collect();
        net.run_for(SECOND);
        net.fate = Fate { cut_off: Some(0), lose_wakeups: true, ..Fate::default() };
        net.run_for(net.granted_at(held) + TTL - 10 * MILLISECOND - net.now);
        assert!(!net.holds(1, tickets[0]));
        net.run_for(SECOND);
        assert!(net.holds(1, tickets[0]), "seed {seed}");
    }
}

#[test]
fn a_session_that_holds_and_waits_renews_all_its_leases_in_one_call() {
    let (mut session, name) = session();
    let tickets: Vec<_> =
        (0..2 * MOST).map(|_| session.acquire(0, &name, want(1, MOST, TTL))).collect();
    let (held, waiting) = tickets.split_at(MOST as usize);
    let answers = held.iter().map(|ticket| grant(*ticket)).collect();
    let call = session.poll_call(0).unwrap();
    session.handle_replies(0, call.id, all(answers));
    let queued = |ticket: &Ticket| Reply::Queued { ticket: *ticket, waiting: 1, limit: MOST };
    let call = session.poll_call(0).unwrap();
    session.handle_replies(0, call.id, all(waiting.iter().map(queued).collect()));
    session.look_again(SECOND);
    let call = session.poll_call(SECOND).unwrap();
    let renewed = call.batch.requests.iter().map(|request| match request {
        Request::Renew(renew) => renew.lease,
        other => panic!("{other:?}"),
    });
    assert!(renewed.eq([held[0].lease(), waiting[0].place()]));
}

#[test]
fn a_lease_is_used_again_as_long_as_it_has_fewer_tickets_than_a_lease_may_have() {
    let mut net = Net::new(1, 7);
    let limit = 2 * MOST;
    let take = |net: &mut Net, count: u32| -> Vec<Ticket> {
        let tickets: Vec<_> = (0..count).map(|_| net.acquire(0, want(1, limit, TTL))).collect();
        net.run_for(SECOND);
        tickets
    };
    let first = take(&mut net, MOST);
    for _ in 0..3 {
        net.release_everything();
        net.run_for(SECOND);
        let again = take(&mut net, MOST);
        assert_eq!(series_of(&again), series_of(&first));
    }
    let held: Vec<Ticket> = net.state.entries().map(|entry| entry.ticket).collect();
    held[..10].iter().for_each(|ticket| net.release(0, *ticket));
    net.run_for(SECOND);
    assert_eq!(series_of(&take(&mut net, 10)), series_of(&first));
    assert_ne!(series_of(&take(&mut net, 1)), series_of(&first));
    assert_eq!(members(&net, false), [1, MOST]);
}
