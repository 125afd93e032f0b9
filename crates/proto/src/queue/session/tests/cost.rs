//! The cost of items in calls.

use super::{
    ON_AND_ON, ONCE, TTL, acknowledge_all,
    net::{Net, item, want},
};
use crate::{
    queue::Due,
    time::{MILLISECOND, SECOND},
};

#[test]
fn pushing_popping_and_acknowledging_cost_a_call_each() {
    let mut net = Net::new(1, 7);
    net.push_text(0, "x");
    net.run_for(SECOND);
    let before = net.calls;
    assert_eq!(before, 2, "the first call of all tells the store's clock");
    net.pop(0, want(1, ONCE, TTL));
    net.run_for(SECOND);
    assert_eq!(acknowledge_all(&mut net, 0), 1);
    net.run_for(SECOND);
    assert_eq!(net.calls - before, 2);
    assert!(net.sessions[0].is_idle());
}

#[test]
fn a_busy_worker_makes_a_call_an_item() {
    let mut net = Net::new(2, 7);
    net.push_texts(100);
    net.run_for(SECOND);
    net.pop(1, want(1, ON_AND_ON, TTL));
    net.run_for(SECOND);
    let before = net.calls;
    for _ in 0..50 {
        assert_eq!(acknowledge_all(&mut net, 1), 1);
        net.run_for(10 * MILLISECOND);
    }
    assert_eq!((net.calls - before, net.done.len()), (50, 50));
}

#[test]
fn requests_of_many_tasks_share_calls() {
    let mut net = Net::new(1, 7);
    net.push_texts(630);
    net.run_for(SECOND);
    assert_eq!(net.calls, 11, "63 in a call, and one to learn the store's clock");
    assert_eq!((net.answers.len(), net.pushed.len()), (630, 630));
    let before = net.calls;
    for _ in 0..128 {
        net.pop(0, want(1, ONCE, TTL));
    }
    net.run_for(SECOND);
    assert_eq!((net.calls - before, net.held.len()), (2, 128));
    let before = net.calls;
    net.run_for(60 * SECOND);
    assert_eq!(net.in_hand(0).len(), 128);
    assert!(net.calls - before <= 18, "{} renewals a minute", net.calls - before);
}

#[test]
fn payloads_go_in_batches_of_a_mebibyte() {
    let mut net = Net::new(1, 7);
    let large = || item(core::str::from_utf8(&[b'x'; 1 << 18]).unwrap());
    for _ in 0..6 {
        net.push(0, large());
    }
    net.run_for(SECOND);
    assert_eq!((net.calls, net.answers.len()), (3, 6));
}

#[test]
fn an_idle_hour_costs_a_call_a_minute() {
    let mut net = Net::new(1, 7);
    net.pop(0, want(8, ON_AND_ON, TTL));
    net.run_for(SECOND);
    let before = net.calls;
    net.run_for(3600 * SECOND);
    assert_eq!(net.calls - before, 63);
}

#[test]
fn a_due_item_is_delivered_within_milliseconds_and_costs_one_look() {
    let mut net = Net::new(3, 7);
    let delayed = crate::queue::Push { due: Due::In(40 * SECOND), ..item("x") };
    net.push(0, delayed);
    net.run_for(SECOND);
    for who in 1..3 {
        net.pop(who, want(1, ON_AND_ON, TTL));
        net.run_for(SECOND);
    }
    let before = net.calls;
    net.run_for(37 * SECOND);
    net.run_for(10 * MILLISECOND);
    assert_eq!((net.calls - before, net.held.len()), (1, 1));
}
