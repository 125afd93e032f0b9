//! Rules that hold in every interleaving, and how single answers are counted.

use seinpaal_proto::{Busy, LimitRule, OnMismatch};

use super::*;
use crate::answer::Register;

#[test]
fn three_clients_with_two_nodes_each_end_with_two_permits_at_most() {
    // The order that gives A, B and C two nodes each wherever a node counts permits only.
    let mut world = World::new(2, &[1, 1, 1]);
    for (who, at) in [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 0), (0, 2), (1, 0), (2, 1)] {
        world.step((who, Some(at)), 1);
        world.check(2);
    }
}

#[test]
fn a_majority_of_whole_semaphores_gives_three_of_two() {
    let (limit, mut counts, mut votes) = (2, [0; NODES], [0; 3]);
    for (who, at) in [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 0), (0, 2), (1, 0), (2, 1)] {
        if counts[at] < limit {
            counts[at] += 1;
            votes[who] += 1;
        }
    }
    assert_eq!(votes.iter().filter(|votes| **votes > NODES / 2).count(), 3);
}

#[test]
fn in_no_interleaving_of_three_clients_are_more_than_two_permits_held() {
    let (worlds, believers) = explore(2, &[1, 1, 1]);
    assert_eq!(believers, BTreeSet::from([0, 1, 2]), "{worlds} worlds");
}

#[test]
fn in_no_interleaving_of_three_clients_is_a_mutex_held_twice() {
    let (worlds, believers) = explore(1, &[1, 1, 1]);
    assert_eq!(believers, BTreeSet::from([0, 1]), "{worlds} worlds");
}

#[test]
fn in_no_interleaving_are_requests_for_many_permits_granted_beyond_the_limit() {
    let (worlds, believers) = explore(3, &[2, 1, 1]);
    assert!(believers.contains(&2), "{worlds} worlds");
}

/// Longer histories, at random: clients try again, give permits back, and others come after them.
#[test]
fn in_a_hundred_thousand_steps_at_random_the_limit_is_kept() {
    let mut dice = 0x5eed_u64;
    let mut draw = |sides: usize| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        (dice >> 11) as usize % sides
    };
    let mut granted = 0;
    for _ in 0..1500 {
        let limit = 1 + draw(3) as u32;
        let permits: Vec<u32> = (0..4).map(|_| 1 + draw(limit as usize) as u32).collect();
        let mut world = World::new(limit, &permits);
        loop {
            let choices = world.choices(true);
            let Some(choice) = choices.get(draw(choices.len().max(1))) else { break };
            world.step(*choice, 6);
            world.check(limit);
        }
        granted += world.clients.iter().filter(|client| client.is_done).count();
    }
    assert!(granted > 1000);
}

#[test]
fn a_lone_client_is_granted_the_lowest_slots_at_once() {
    let mut world = World::new(3, &[2]);
    world.step((0, Some(0)), 1);
    assert_eq!(world.clients[0].believes, None);
    world.step((0, Some(2)), 1);
    assert_eq!(world.clients[0].believes, Some(vec![0, 1]));
}

#[test]
fn after_the_limit_was_lowered_nobody_is_admitted_until_it_fits() {
    // Slots 2 and 3 are held, each at two of three nodes; the limit is 2 now.
    let mut nodes = vec![Node::new(2); NODES];
    for (slot, at) in [(2, 0), (2, 1), (3, 1), (3, 2)] {
        nodes[at].slots.insert(slot, (9 + u128::from(slot), 5 + u64::from(slot)));
    }
    let mut client = Client::new(0, 1);
    client.fence = 20;
    let heard: Vec<_> = nodes
        .iter_mut()
        .map(|node| (node.take(client.ticket, 1, None, 20), node.answer()))
        .collect();
    let votes = heard.iter().filter(|(reply, _)| matches!(reply, NodeReply::Took(_))).count();
    assert_eq!(votes, 2, "two nodes know of one holder only, and vote");
    let answers: Vec<_> = heard.iter().map(|(reply, answer)| Some((answer, reply))).collect();
    let verdict = client.ballot().count(&answers, true);
    assert!(!matches!(verdict, BallotVerdict::Granted { .. }), "{verdict:?}");
}

#[test]
fn a_pause_that_only_one_of_a_majority_knows_of_is_kept() {
    let mut nodes = vec![Node::new(2); NODES];
    let ballot = Client::new(0, 1).ballot();
    let mut heard: Vec<_> =
        nodes.iter_mut().map(|node| (node.take(1, 1, None, ballot.fence), node.answer())).collect();
    heard[2].1.state.paused = Register { version: 7, value: Some("repairs".into()) };
    let answers: Vec<_> = heard.iter().map(|(reply, answer)| Some((answer, reply))).collect();
    let count = |answers: NodeAnswers<'_>| ballot.count(answers, true);
    assert!(matches!(count(&[answers[0], answers[1], None]), BallotVerdict::Granted { .. }));
    let refused = count(&[answers[0], None, answers[2]]);
    assert!(
        matches!(refused, BallotVerdict::Refused(Reply::Busy { why: Busy::Paused, .. })),
        "{refused:?}"
    );
}

#[test]
fn a_majority_of_one_grant_is_full_and_split_votes_are_not() {
    let refuse = |known: Vec<(u64, Slots)>| {
        NodeReply::Not(NodeRefusal {
            ticket: Ticket(1),
            why: RefusedFor::Full,
            fence: 9,
            held: 1,
            waiting: 0,
            holders: NodeHolders { known, is_cut: false },
        })
    };
    let node = Node::new(1).answer();
    let ballot = Client::new(0, 1).ballot();
    let of = |fences: [u64; 3]| {
        let replies = fences.map(|fence| refuse(vec![(fence, set(&[0]))]));
        let answers: Vec<_> = replies.iter().map(|reply| Some((&node, reply))).collect();
        ballot.count(&answers, true)
    };
    assert!(matches!(
        of([7, 7, 8]),
        BallotVerdict::Refused(Reply::Busy { why: Busy::Full, held: 1, .. })
    ));
    assert!(matches!(of([6, 7, 8]), BallotVerdict::Again { .. }));
}

#[test]
fn where_all_nodes_were_outbid_and_know_of_no_limit_the_one_that_is_stated_counts() {
    // Another client's try, under a greater fence, was taken back, and its limit went with it.
    let mut nodes = vec![Node { fence: 30, ..Node::new(4) }; NODES];
    let heard: Vec<_> = nodes
        .iter_mut()
        .map(|node| {
            let (reply, mut answer) = (node.take(1, 2, None, 20), node.answer());
            answer.state.stated = Register::default();
            (answer, reply)
        })
        .collect();
    let answers: Vec<_> = heard.iter().map(|(answer, reply)| Some((answer, reply))).collect();
    let verdict = |limit: Option<u32>| {
        let rule = |limit| LimitRule {
            limit: seinpaal_proto::Limit::new(limit).unwrap(),
            on_mismatch: OnMismatch::Refuse,
        };
        let want = Acquire { limit: limit.map(rule), ..want(1, 2) };
        let lease = want.ticket.lease();
        Ballot { want, lease, slots: None, fence: 20, tries: 0 }.count(&answers, true)
    };
    assert!(matches!(verdict(Some(4)), BallotVerdict::Again { .. }), "{:?}", verdict(Some(4)));
    let implied = verdict(None);
    assert!(
        matches!(implied, BallotVerdict::Refused(Reply::TooMany { limit: 1, .. })),
        "{implied:?}"
    );
}
