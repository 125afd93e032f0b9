//! A holder hears that somebody asks it to hand over.

use super::{
    TTL,
    net::{Fate, Net},
    want,
};
use crate::{
    AskHolder, HandOverAsk, LeaseId, Request, Ticket,
    session::Event,
    time::{MILLISECOND, Micros, SECOND},
};

/// Two sessions, of which the first holds three tickets under one lease.
fn held() -> (Net, [Ticket; 3]) {
    let mut net = Net::new(2, 7);
    let tickets = [(); 3].map(|()| net.acquire(0, want(1, 3, TTL)));
    net.run_for(SECOND);
    assert!(tickets.iter().all(|ticket| net.holds(0, *ticket)));
    (net, tickets)
}

fn ask(net: &mut Net, ticket: Ticket, reason: &str) {
    let ask = HandOverAsk::new("eve", reason).unwrap();
    let request = Request::AskHolder(AskHolder { ticket, lease: LeaseId::from(ticket), ask });
    net.one_off(1, request);
}

/// When the holder was told of what, in order.
fn told(net: &Net) -> alloc::vec::Vec<(Micros, Ticket, alloc::string::String)> {
    let asked = net.told.iter().filter_map(|(who, at, event)| match event {
        Event::Asked { ticket, ask } if *who == 0 => Some((*at, *ticket, ask.reason().into())),
        _ => None,
    });
    asked.collect()
}

fn is_lost(net: &Net) -> bool {
    let bad = |event: &Event| matches!(event, Event::Lost { .. } | Event::Danger { .. });
    net.told.iter().any(|(_, _, event)| bad(event))
}

#[test]
fn a_holder_is_told_at_once_and_once_and_goes_on_holding() {
    let (mut net, [_, asked, _]) = held();
    let began = net.now;
    ask(&mut net, asked, "first");
    net.run_for(3 * TTL);
    let [(at, ticket, reason)] = &told(&net)[..] else { panic!("{:?}", told(&net)) };
    assert!(*ticket == asked && reason == "first" && at - began <= 10 * MILLISECOND);
    assert!(net.holds(0, asked) && !is_lost(&net));
    ask(&mut net, asked, "second");
    net.run_for(SECOND);
    assert_eq!(told(&net).last().unwrap().2, "second");
    assert_eq!(told(&net).len(), 2);
}

#[test]
fn a_holder_that_no_wakeup_reaches_is_told_by_its_next_renewal() {
    let (mut net, [_, asked, _]) = held();
    let began = net.now;
    net.fate = Fate { lose_wakeups: true, ..Fate::default() };
    // Wakeups are lost at random: of these, some are.
    for n in 0..6 {
        ask(&mut net, asked, &alloc::format!("{n}"));
    }
    net.run_for(TTL / 3 + SECOND);
    let reasons: alloc::vec::Vec<_> = told(&net).into_iter().map(|told| told.2).collect();
    assert_eq!(reasons, ["0", "1", "2", "3", "4", "5"]);
    assert!(told(&net).iter().all(|(at, ..)| at - began <= TTL / 3 + SECOND) && !is_lost(&net));
}

#[test]
fn an_answer_that_was_lost_costs_no_ask() {
    for seed in 0..20 {
        let (mut net, tickets) = held();
        net.fate = Fate { lose_replies: 30, repeat: 20, lose_wakeups: true, ..Fate::default() };
        net.run_for(seed * 100 * MILLISECOND);
        for ticket in tickets {
            ask(&mut net, ticket, "please");
        }
        net.run_for(TTL);
        let mut asked: alloc::vec::Vec<_> = told(&net).into_iter().map(|told| told.1).collect();
        asked.sort_unstable();
        assert_eq!(asked, tickets, "seed {seed}");
    }
}

#[test]
fn once_told_the_holder_renews_that_ticket_by_name_and_the_others_as_a_whole() {
    let (mut net, tickets) = held();
    ask(&mut net, tickets[0], "please");
    net.run_for(SECOND);
    let before = net.calls;
    net.run_for(3 * TTL);
    assert!(net.calls - before <= 12, "{} calls in three ttls", net.calls - before);
    assert_eq!(net.state.leases().count(), 2);
    net.release(0, tickets[0]);
    net.run_for(SECOND);
    assert_eq!(net.state.leases().count(), 1);
    assert!(tickets[1..].iter().all(|ticket| net.holds(0, *ticket)) && !is_lost(&net));
}
