//! Sessions, a ledger and a virtual clock, joined by links that lose, delay, repeat and reorder.

mod cost;
mod lossy;
mod net;
mod silence;

use self::net::{Fate, Net, want};
use crate::{
    queue::{
        How, Reply, Request,
        session::{Answer, DeliveryEnd, Event, Until, Want},
    },
    time::{MILLISECOND, Micros, SECOND},
};
use alloc::{vec, vec::Vec};

const TTL: Micros = 30 * SECOND;
const ON_AND_ON: Until = Until::Unpopped;
const ONCE: Until = Until::Served(None);

fn acknowledge_all(net: &mut Net, who: usize) -> usize {
    let in_hand = net.in_hand(who);
    in_hand.iter().for_each(|delivery| net.finish(*delivery, How::Acknowledge));
    in_hand.len()
}

#[test]
fn an_idle_worker_is_called_at_once_and_one_that_was_not_called_asks_nothing() {
    let mut net = Net::new(3, 7);
    for who in 1..3 {
        net.pop(who, want(1, ON_AND_ON, TTL));
    }
    net.run_for(SECOND);
    let before = net.calls;
    net.push_text(0, "x");
    net.run_for(20 * MILLISECOND);
    assert_eq!((net.calls - before, net.held.len()), (3, 1), "clock, push, pop");
}

#[test]
fn a_call_that_was_lost_costs_time_and_no_more() {
    let mut net = Net::new(2, 7);
    net.pop(1, want(1, ON_AND_ON, TTL));
    net.run_for(SECOND);
    net.fate = Fate { cut_off: Some(1), ..Fate::default() };
    net.push_text(0, "x");
    net.run_for(SECOND);
    net.fate = Fate::default();
    net.run_for(60 * SECOND);
    assert_eq!(net.in_hand(1).len(), 1);
}

#[test]
fn an_item_for_a_client_that_is_gone_goes_back_uncounted() {
    let mut net = Net::new(2, 7);
    net.push_text(0, "x");
    net.run_for(SECOND);
    let pop = net.pop(1, want(1, ONCE, TTL));
    net.run_for(MILLISECOND); // the clock is asked
    net.run_for(MILLISECOND); // the pop is under way
    net.sessions[1].unpop(pop);
    net.run_for(SECOND);
    assert!(net.held.is_empty() && net.sessions[1].is_idle());
    net.pop(0, want(1, ONCE, TTL));
    net.run_for(SECOND);
    let held = net.held.values().next().unwrap();
    assert_eq!((held.who, held.attempt), (0, 1));
}

#[test]
fn a_worker_that_wants_no_more_leaves_the_line_and_others_are_called() {
    let mut net = Net::new(3, 7);
    let pop = net.pop(1, want(1, ONCE, TTL));
    net.run_for(SECOND);
    net.pop(2, want(1, ONCE, TTL));
    net.run_for(SECOND);
    net.sessions[1].unpop(pop);
    net.run_for(SECOND);
    assert!(net.sessions[1].is_idle());
    net.push_text(0, "x");
    net.run_for(20 * MILLISECOND);
    assert_eq!(net.in_hand(2).len(), 1);
}

#[test]
fn a_pop_that_does_not_wait_is_told_that_there_is_nothing() {
    let mut net = Net::new(1, 7);
    let pop = net.pop(0, want(1, Until::Answered(None), TTL));
    net.run_for(SECOND);
    let told: Vec<Event> = net.told.drain(..).map(|(_, _, event)| event).collect();
    assert_eq!(told, [Event::Delivered { pop, items: vec![] }]);
    assert!(net.sessions[0].is_idle());
}

#[test]
fn a_deadline_ends_the_wait() {
    let mut net = Net::new(1, 7);
    let at = net.now + 3 * SECOND;
    let pop = net.pop(0, want(1, Until::Served(Some(at)), TTL));
    net.run_for(4 * SECOND);
    assert_eq!(net.told, [(0, at, Event::TimedOut { pop })]);
    assert!(net.sessions[0].is_idle());
}

/// How a pop ends whose deadline comes in `wait`, at a store that is silent from `from` after it
/// on.
fn end_of_pop(until: impl Fn(Option<Micros>) -> Until, wait: Micros, from: Micros) -> Event {
    let mut net = Net::new(1, 7);
    // The clock is known by then, as it is wherever a driver has asked.
    net.push_text(0, "x");
    net.pop(0, want(1, ONCE, TTL));
    net.run_for(SECOND);
    net.told.clear();
    let (start, at) = (net.now, net.now + wait);
    if from > 0 {
        net.pop(0, want(1, until(Some(at)), TTL));
        net.run_for(from);
        net.fate.lose_requests = 100;
    } else {
        net.fate.lose_requests = 100;
        net.pop(0, want(1, until(Some(at)), TTL));
    }
    net.run_for(start + wait + SECOND - net.now);
    let is_end = |event: &&Event| matches!(event, Event::Failed { .. } | Event::TimedOut { .. });
    net.told.iter().map(|(_, _, event)| event).find(is_end).cloned().unwrap()
}

#[test]
fn a_pop_that_the_store_was_silent_through_fails_and_does_not_time_out() {
    for wait in [MILLISECOND * 100, SECOND, 10 * SECOND] {
        let told = end_of_pop(Until::Served, wait, 0);
        assert!(matches!(told, Event::Failed { .. }), "{wait}: {told:?}");
        let told = end_of_pop(Until::Answered, wait, 0);
        assert!(matches!(told, Event::Failed { .. }), "{wait}: {told:?}");
    }
    let told = end_of_pop(Until::Served, 70 * SECOND, SECOND);
    assert!(matches!(told, Event::Failed { .. }), "{told:?}");
}

#[test]
fn a_draining_worker_is_told_when_all_items_are_done_by_any_worker() {
    let mut net = Net::new(3, 7);
    net.push_text(0, "x");
    net.run_for(SECOND);
    net.pop(1, want(1, ONCE, TTL));
    net.run_for(SECOND);
    let pop = net.pop(2, Want { drains: true, ..want(4, ON_AND_ON, TTL) });
    net.run_for(SECOND);
    let drained = |net: &Net| net.told.iter().any(|(_, _, e)| *e == Event::Drained { pop });
    assert!(!drained(&net));
    acknowledge_all(&mut net, 1);
    net.run_for(20 * MILLISECOND);
    assert!(drained(&net));
    assert!(net.sessions[2].is_idle());
}

#[test]
fn a_popper_that_goes_on_shares_with_others_of_its_session() {
    let mut net = Net::new(2, 7);
    net.pop(1, want(64, ON_AND_ON, TTL));
    net.run_for(SECOND);
    let pop = net.pop(1, want(1, ONCE, TTL));
    net.run_for(SECOND);
    net.push_texts(4);
    net.run_for(SECOND);
    let is_served =
        |(_, _, e): &(_, _, Event)| matches!(e, Event::Delivered { pop: p, .. } if *p == pop);
    assert!(net.told.iter().any(is_served));
}

#[test]
fn a_shorter_ttl_of_another_wish_costs_a_renewal_and_then_its_own_counts() {
    let mut net = Net::new(1, 7);
    net.push_texts(2);
    net.pop(0, want(1, ONCE, SECOND));
    net.pop(0, want(1, ONCE, 100 * SECOND));
    net.run_for(2 * SECOND);
    assert_eq!(net.in_hand(0).len(), 2);
    net.fate.cut_off = Some(0);
    net.run_for(20 * SECOND);
    assert_eq!(net.in_hand(0).len(), 1);
}

#[test]
fn a_cancelled_item_is_lost_at_once() {
    let mut net = Net::new(2, 7);
    net.push_text(0, "x");
    net.pop(1, want(1, ONCE, TTL));
    net.run_for(SECOND);
    let delivery = net.in_hand(1)[0];
    let one_off =
        net.sessions[0].one_off(net.now, Request::Cancel { id: delivery.id, spares_work: false });
    net.run_for(20 * MILLISECOND);
    assert!(net.held.is_empty());
    assert!(matches!(net.answers[&(0, one_off)], Answer::Done(Reply::Cancelled { .. })));
    net.sessions[1].finish(delivery, How::Acknowledge);
    net.run_for(20 * MILLISECOND);
    assert_eq!(net.ends[&delivery], DeliveryEnd::Lost);
    assert!(net.sessions[1].is_idle());
}

#[test]
fn closing_sends_what_was_finished_and_gives_back_the_rest() {
    let mut net = Net::new(2, 7);
    net.push_texts(3);
    net.run_for(SECOND);
    net.pop(1, want(5, ON_AND_ON, TTL));
    net.run_for(SECOND);
    let first = net.in_hand(1)[0];
    net.finish(first, How::Acknowledge);
    net.sessions[1].close();
    net.run_for(SECOND);
    assert!(net.sessions[1].is_idle() && net.held.is_empty());
    assert_eq!(net.ends[&first], DeliveryEnd::Acknowledged);
    net.pop(0, want(5, ONCE, TTL));
    net.run_for(SECOND);
    assert_eq!(net.held.len(), 2);
    assert!(net.held.values().all(|held| held.attempt == 1));
}
