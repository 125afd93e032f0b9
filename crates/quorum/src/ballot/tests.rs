//! Clients at three nodes, and every interleaving of their messages and the answers.

mod cases;
mod node;

use std::{
    collections::{BTreeSet, HashSet, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
};

use seinpaal_proto::{
    Enqueue, Kind, LeaseId, Permits, Priority, Ticket,
    time::{UNBOUNDED, WAITER_TTL},
};

use self::node::Node;
use super::*;
use crate::answer::{NodeAnswer, NodeRefusal, RefusedFor};

const NODES: usize = 3;
const TTL: Micros = 1_000_000;

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Message {
    Take { slots: Option<Vec<u32>>, fence: u64 },
    Yield { fence: u64 },
    Release,
}

fn want(ticket: u128, permits: u32) -> Acquire {
    Acquire {
        ticket: Ticket(ticket),
        kind: Kind::Semaphore,
        permits: Permits::new(permits).unwrap(),
        wishes: seinpaal_proto::SlotNames::none(),
        limit: None,
        enqueue: Enqueue::No,
        priority: Priority::default(),
        ttl: TTL,
        margin: UNBOUNDED,
        waiter_ttl: WAITER_TTL,
        not_after: None,
        about: String::new(),
    }
}

fn set(slots: &[u32]) -> Slots {
    let mut set = Slots::none();
    slots.iter().for_each(|slot| set.insert(*slot, *slot));
    set
}

/// One client: its proposal, the answers it has heard, and its messages to each node that are still
/// under way.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Client {
    ticket: u128,
    permits: u32,
    fence: u64,
    slots: Option<Vec<u32>>,
    tries: u32,
    on_their_way: Vec<VecDeque<Message>>,
    believes: Option<Vec<u32>>,
    is_done: bool,
}

impl Client {
    fn new(number: u64, permits: u32) -> Self {
        let fence = 10 + number;
        let take = VecDeque::from([Message::Take { slots: None, fence }]);
        Self {
            ticket: u128::from(number) + 1,
            permits,
            fence,
            slots: None,
            tries: 0,
            on_their_way: vec![take; NODES],
            believes: None,
            is_done: false,
        }
    }

    fn ballot(&self) -> Ballot {
        Ballot {
            want: want(self.ticket, self.permits),
            lease: LeaseId(self.ticket),
            slots: self.slots.as_deref().map(set),
            fence: self.fence,
            tries: self.tries,
        }
    }

    fn send(&mut self, message: &Message) {
        self.on_their_way.iter_mut().for_each(|line| line.push_back(message.clone()));
    }

    /// Decides by the answers so far, as `call.rs` does.
    fn decide(&mut self, heard: &[Option<(NodeAnswer, NodeReply)>], most_tries: u32) {
        let answers: Vec<_> = heard.iter().map(|one| one.as_ref().map(|(a, r)| (a, r))).collect();
        let is_over = answers.iter().all(Option::is_some);
        match self.ballot().count(&answers, is_over) {
            BallotVerdict::Open => {}
            BallotVerdict::Granted { slots, .. } => {
                self.believes = Some(slots.iter().collect());
                self.is_done = true;
            }
            _ if !is_over => {} // the client waits for all answers, or until its grace is over
            BallotVerdict::Again { fence_above, free, .. } if self.tries + 1 < most_tries => {
                self.send(&Message::Yield { fence: self.fence });
                self.tries += 1;
                self.fence = (fence_above / 10 + 1) * 10 + self.ticket as u64;
                let free: Vec<u32> = free.iter().collect();
                // Different clients begin at different ends.
                let mut free = if self.ticket.is_multiple_of(2) {
                    free
                } else {
                    free.into_iter().rev().collect()
                };
                free.truncate(self.permits as usize);
                self.slots = (free.len() == self.permits as usize).then_some(free);
                self.send(&Message::Take { slots: self.slots.clone(), fence: self.fence });
            }
            _ => {
                self.send(&Message::Yield { fence: self.fence });
                self.is_done = true;
            }
        }
    }
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct World {
    nodes: Vec<Node>,
    clients: Vec<Client>,
    heard: Vec<Vec<Option<Heard>>>,
}

/// The answer of a node to a client's proposal under way.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Heard {
    node: Node,
    is_vote: bool,
    why: u8,
}

impl World {
    fn new(limit: u32, permits: &[u32]) -> Self {
        let clients =
            permits.iter().enumerate().map(|(n, permits)| Client::new(n as u64, *permits));
        Self {
            nodes: vec![Node::new(limit); NODES],
            clients: clients.collect(),
            heard: vec![vec![None; NODES]; permits.len()],
        }
    }

    /// The possible next steps: a message arrives, or a client gives its permits back.
    fn choices(&self, gives_back: bool) -> Vec<(usize, Option<usize>)> {
        let mut choices = Vec::new();
        for (who, client) in self.clients.iter().enumerate() {
            let lines = client.on_their_way.iter().enumerate();
            choices
                .extend(lines.filter(|(_, line)| !line.is_empty()).map(|(at, _)| (who, Some(at))));
            if gives_back && client.believes.is_some() {
                choices.push((who, None));
            }
        }
        choices
    }

    fn step(&mut self, (who, at): (usize, Option<usize>), most_tries: u32) {
        let Some(at) = at else {
            let client = &mut self.clients[who];
            client.believes = None;
            return client.send(&Message::Release);
        };
        let (client, node) = (&mut self.clients[who], &mut self.nodes[at]);
        let Some(message) = client.on_their_way[at].pop_front() else { return };
        match message {
            Message::Yield { fence } => node.remove(client.ticket, fence),
            Message::Release => node.remove(client.ticket, u64::MAX),
            Message::Take { slots, fence } => {
                let reply = node.take(client.ticket, client.permits, slots.as_deref(), fence);
                if fence != client.fence || client.is_done {
                    return;
                }
                let (is_vote, why) = match &reply {
                    NodeReply::Not(refusal) => (false, refusal.why as u8),
                    _ => (true, 0),
                };
                self.heard[who][at] = Some(Heard { node: node.clone(), is_vote, why });
                let before = client.tries;
                let answers: Vec<_> = self.heard[who]
                    .iter()
                    .map(|heard| heard.as_ref().map(|h| replay(h, client)))
                    .collect();
                client.decide(&answers, most_tries);
                if client.tries != before || client.is_done {
                    self.heard[who] = vec![None; NODES];
                }
            }
        }
    }

    fn check(&self, limit: u32) {
        let held: Vec<u32> =
            self.clients.iter().filter_map(|c| c.believes.clone()).flatten().collect();
        let slots: BTreeSet<u32> = held.iter().copied().collect();
        assert_eq!(slots.len(), held.len(), "a slot is held twice: {self:#?}");
        assert!(held.len() <= limit as usize, "more than {limit} are held: {self:#?}");
        let believers = self.clients.iter().filter(|client| client.believes.is_some());
        let fences: BTreeSet<u64> = believers.clone().map(|client| client.fence).collect();
        assert_eq!(fences.len(), believers.count(), "two grants have a fence: {self:#?}");
    }
}

/// Gives the answer again, from the node as it was then.
fn replay(heard: &Heard, client: &Client) -> (NodeAnswer, NodeReply) {
    let node = &heard.node;
    let reply = if heard.is_vote {
        node.vote(client.ticket, client.fence)
    } else {
        let why = [
            RefusedFor::Full,
            RefusedFor::Paused,
            RefusedFor::Guarded,
            RefusedFor::Late,
            RefusedFor::TooManyWaiting,
            RefusedFor::Fence,
        ]
        .into_iter()
        .find(|why| *why as u8 == heard.why)
        .unwrap_or(RefusedFor::Stale);
        let held = node.slots.len() as u32;
        let (ticket, holders) = (Ticket(client.ticket), node.holders(true));
        NodeReply::Not(NodeRefusal { ticket, why, fence: node.fence, held, waiting: 0, holders })
    };
    (node.answer(), reply)
}

/// Explores every world that can be reached while no client gives permits back. Returns the number
/// of worlds, and the different numbers of clients that believe to hold in one of them.
fn explore(limit: u32, permits: &[u32]) -> (usize, BTreeSet<usize>) {
    let first = World::new(limit, permits);
    let (mut seen, mut open) = (HashSet::from([mark(&first)]), vec![first]);
    let mut believers = BTreeSet::new();
    while let Some(world) = open.pop() {
        world.check(limit);
        believers.insert(world.clients.iter().filter(|client| client.believes.is_some()).count());
        for choice in world.choices(false) {
            let mut next = world.clone();
            next.step(choice, 1);
            if seen.insert(mark(&next)) {
                open.push(next);
            }
        }
    }
    (seen.len(), believers)
}

/// Two worlds with the same mark count as one. The order of the nodes is left out of the mark,
/// because nodes are alike.
fn mark(world: &World) -> u64 {
    let mut nodes: Vec<u64> = (0..NODES)
        .map(|at| {
            let lines: Vec<_> =
                world.clients.iter().map(|client| &client.on_their_way[at]).collect();
            let heard: Vec<_> = world.heard.iter().map(|heard| &heard[at]).collect();
            hash(&(&world.nodes[at], lines, heard))
        })
        .collect();
    nodes.sort_unstable();
    let clients = world.clients.iter();
    let clients = clients.map(|c| (c.fence, &c.slots, c.tries, &c.believes, c.is_done));
    hash(&(nodes, clients.collect::<Vec<_>>()))
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
