//! The causes that the ends of waits name, and the events about a release that nobody answered.

use alloc::vec::Vec;

use super::{
    net::{Fate, Net},
    *,
};

/// Returns how a request for a permit that another session holds ends at its deadline, if the
/// network is as `fate` says from `silent_from` after the request on.
fn refusal_at_deadline(wait: Micros, silent_from: Option<Micros>) -> AcquireRefusal {
    let mut net = Net::new(2, 7);
    net.acquire(0, want(1, 1, TTL));
    net.run_for(SECOND);
    let deadline = Some(net.now + wait);
    let start = net.now;
    let silence = Fate { lose_requests: 100, lose_wakeups: true, ..Fate::default() };
    if silent_from == Some(0) {
        net.fate = silence;
    }
    net.acquire(1, Want { deadline, ..want(1, 1, TTL) });
    if let Some(from) = silent_from {
        net.run_for(from);
        net.fate = silence;
    }
    net.run_for(start + wait + SECOND - net.now);
    let refused = net.told.iter().find_map(|(_, _, event)| match event {
        Event::Refused { refusal, .. } => Some(refusal.clone()),
        _ => None,
    });
    refused.unwrap()
}

#[test]
fn a_wait_that_others_outlast_times_out() {
    for wait in [MILLISECOND * 100, SECOND, 10 * SECOND, 100 * SECOND] {
        assert_eq!(refusal_at_deadline(wait, None), AcquireRefusal::TimedOut, "{wait}");
    }
}

#[test]
fn a_wait_that_the_store_was_silent_through_names_the_store() {
    for wait in [MILLISECOND * 100, SECOND, 10 * SECOND, 25 * SECOND] {
        assert_eq!(refusal_at_deadline(wait, Some(0)), AcquireRefusal::Silence, "{wait}");
    }
}

#[test]
fn a_store_that_falls_silent_for_long_while_somebody_waits_is_named() {
    for wait in [20 * SECOND, 100 * SECOND] {
        assert_eq!(refusal_at_deadline(wait, Some(SECOND)), AcquireRefusal::Silence, "{wait}");
    }
}

/// At the deadline the waiter has heard of its grant, and the call that proves it is under way.
#[test]
fn a_grant_that_comes_too_late_to_be_proved_is_no_silence_of_the_store() {
    let (mut net, lag) = (Net::new(2, 7), 10 * MILLISECOND);
    let held = net.acquire(0, want(1, 1, TTL));
    net.run_for(SECOND);
    net.fate = Fate { lag, ..Fate::default() };
    let deadline = Some(net.now + SECOND + 3 * lag);
    let late = net.acquire(1, Want { deadline, ..want(1, 1, TTL) });
    net.run_for(SECOND);
    net.release(0, held);
    net.run_for(SECOND);
    let refused = net.told.iter().find(|(_, _, event)| matches!(event, Event::Refused { .. }));
    let refusal = AcquireRefusal::TimedOut;
    assert_eq!(refused.map(|it| &it.2), Some(&Event::Refused { ticket: late, refusal }));
    assert!(net.waits().is_empty() && !net.holds(1, late));
}

#[test]
fn an_unanswered_release_is_not_reported_as_too_late() {
    let mut net = Net::new(1, 7);
    let ticket = net.acquire(0, want(1, 1, TTL));
    net.run_for(SECOND);
    net.fate.lose_requests = 100;
    net.release(0, ticket);
    net.run_for(3 * TTL);
    let said: Vec<_> = net.told.iter().map(|(_, _, event)| event).collect();
    assert_eq!(said.last(), Some(&&Event::Unanswered { ticket, given: None }), "{said:?}");
    let is_release = |event: &&&Event| matches!(event, Event::Released { .. });
    assert_eq!(said.iter().find(is_release), None);
}

#[test]
fn a_release_whose_answer_was_lost_and_that_the_store_has_forgotten_is_unknown() {
    let mut net = Net::new(1, 7);
    let ticket = net.acquire(0, want(1, 1, TTL));
    net.run_for(SECOND);
    net.fate.lose_replies = 100;
    net.release(0, ticket);
    net.run_for(SECOND);
    net.forget_everything();
    net.fate.lose_replies = 0;
    net.run_for(TTL);
    let last = net.told.last().map(|(_, _, event)| event);
    assert_eq!(last, Some(&Event::Unanswered { ticket, given: None }));
}
