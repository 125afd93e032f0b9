//! Snapshots of nodes that were read one after the other while permits changed hands, and the cause
//! that is reported for a ticket when nodes disagree about its end.

use seinpaal_proto::{Fence, HolderRow, Kind, RecentHolds, Slots, Snapshot};

use super::*;
use crate::answer::{GuardWord, NodeGuard, NodeState};

const NODES: usize = 3;

fn holder(ticket: u128, slot: u32) -> HolderRow {
    HolderRow {
        ticket: Ticket(ticket),
        slots: Slots::range(slot, slot),
        fence: Fence(ticket as u64),
        held_for: 0,
        valid_for: Some(1),
        about: String::new(),
    }
}

/// The answer of a node that has these tickets in its slots, one after the other.
fn node(tickets: &[u128]) -> (NodeAnswer, NodeReply) {
    let holders = (0..).zip(tickets).map(|(slot, ticket)| holder(*ticket, slot));
    let holders: Vec<HolderRow> = holders.filter(|row| row.ticket.0 > 0).collect();
    let snapshot = Snapshot {
        kind: Some(Kind::Semaphore),
        limit: tickets.len() as u32,
        stated: None,
        pinned: None,
        slot_names: seinpaal_proto::SlotNames::none(),
        paused: None,
        guarded_for: None,
        held: holders.len() as u32,
        holders_total: holders.len() as u32,
        waiting_total: 0,
        recent: RecentHolds::NONE,
        holders,
        waiters: Vec::new(),
    };
    let run = String::new();
    let guard = NodeGuard { run, word: GuardWord::Same, stored: 0, left: 0 };
    let state = NodeState::default();
    let answer = NodeAnswer { now: 1, backlog: false, guard, replies: Vec::new(), state };
    (answer, NodeReply::Plain(Reply::Snapshot(snapshot)))
}

fn shown(nodes: &[&[u128]]) -> Snapshot {
    let nodes: Vec<_> = nodes.iter().map(|tickets| node(tickets)).collect();
    let answers: Vec<_> = nodes.iter().map(|(answer, reply)| (answer, reply)).collect();
    ReplyTally { answers: &answers, nodes: NODES }.snapshot(64)
}

/// Every node of two slots, where each slot is free or has one of three tickets.
fn every_node() -> Vec<[u128; 2]> {
    let tickets = || [0, 1, 2, 3].into_iter();
    let pairs = tickets().flat_map(|first| tickets().map(move |second| [first, second]));
    pairs.filter(|[first, second]| first != second || *first == 0).collect()
}

#[test]
fn no_more_are_shown_than_there_are_slots_whatever_the_nodes_show() {
    for first in every_node() {
        for second in every_node() {
            for third in every_node() {
                for nodes in [&[&first[..], &second, &third][..], &[&first, &second]] {
                    let shown = shown(nodes);
                    assert!(shown.held <= 2, "{nodes:?}: {shown:?}");
                    let slots: u32 = shown.holders.iter().map(|row| row.slots.count()).sum();
                    assert_eq!(
                        (slots, shown.holders.len() as u32),
                        (shown.held, shown.holders_total)
                    );
                }
            }
        }
    }
}

#[test]
fn of_two_possible_holders_of_a_slot_the_later_is_shown() {
    let shown = shown(&[&[1], &[2]]);
    assert_eq!((shown.held, shown.holders[0].ticket), (1, Ticket(2)));
}

#[test]
fn a_holder_that_a_majority_shows_is_shown() {
    let shown = shown(&[&[1, 5], &[1, 6], &[2, 5]]);
    let tickets: Vec<_> = shown.holders.iter().map(|row| row.ticket.0).collect();
    assert_eq!(tickets, [1, 5]);
}

#[test]
fn a_ticket_was_released_if_one_node_says_so_and_others_only_took_a_late_vote_back_or_waited_for_too_long()
 {
    use Cause::{Attached, Cancelled, Evicted, Expired, Released};
    for seen in [Released, Evicted, Attached] {
        for causes in
            [[Cancelled, seen, seen], [seen, Cancelled, Expired], [Expired, Cancelled, seen]]
        {
            assert_eq!(weightiest(&causes), Some(seen), "{causes:?}");
        }
    }
    assert_eq!(weightiest(&[Expired, Cancelled]), Some(Cancelled));
    assert_eq!(weightiest(&[Expired]), Some(Expired));
    assert_eq!(weightiest(&[]), None);
}
