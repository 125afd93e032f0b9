//! The effect of a node script on votes, in Rust and without time.

use std::collections::BTreeMap;

use seinpaal_proto::Ticket;

use super::{TTL, set};
use crate::answer::{
    GuardWord, NodeAnswer, NodeGuard, NodeHolders, NodeRefusal, NodeReply, NodeState, RefusedFor,
    Register, Vote,
};
use seinpaal_proto::Slots;

/// The votes of a node, without time.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Node {
    pub(super) limit: u32,
    pub(super) fence: u64,
    pub(super) slots: BTreeMap<u32, (u128, u64)>,
}

impl Node {
    pub(super) fn new(limit: u32) -> Self {
        Self { limit, ..Self::default() }
    }

    pub(super) fn answer(&self) -> NodeAnswer {
        let limit = Register { version: 1, value: Some(self.limit) };
        NodeAnswer {
            now: 1,
            backlog: false,
            guard: NodeGuard { run: String::new(), word: GuardWord::Same, stored: 0, left: 0 },
            replies: Vec::new(),
            state: NodeState { fence: self.fence, stated: limit, ..NodeState::default() },
        }
    }

    pub(super) fn holders(&self, has_slots: bool) -> NodeHolders {
        let mut by_fence: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for (slot, (_, fence)) in &self.slots {
            by_fence.entry(*fence).or_default().push(*slot);
        }
        let has_high = self.slots.keys().any(|slot| *slot >= self.limit);
        let slots =
            |slots: &Vec<u32>| if has_slots || has_high { set(slots) } else { Slots::none() };
        let known = by_fence.iter().map(|(fence, of)| (*fence, slots(of))).collect();
        NodeHolders { known, is_cut: false }
    }

    pub(super) fn remove(&mut self, ticket: u128, fence: u64) {
        self.slots.retain(|_, (holder, f)| *holder != ticket || *f > fence);
    }

    pub(super) fn take(
        &mut self,
        ticket: u128,
        permits: u32,
        slots: Option<&[u32]>,
        fence: u64,
    ) -> NodeReply {
        if self.slots.values().any(|held| *held == (ticket, fence)) {
            return self.vote(ticket, fence);
        }
        self.remove(ticket, fence);
        let held = self.slots.len() as u32;
        let is_free = |slot: &u32| *slot < self.limit && !self.slots.contains_key(slot);
        let chosen: Vec<u32> = match slots {
            Some(slots) => slots.to_vec(),
            None => {
                (0..).filter(|slot| !self.slots.contains_key(slot)).take(permits as usize).collect()
            }
        };
        let why = if permits > self.limit.saturating_sub(held) {
            Some(RefusedFor::Full)
        } else if fence <= self.fence {
            Some(RefusedFor::Fence)
        } else {
            (!chosen.iter().all(is_free)).then_some(RefusedFor::Full)
        };
        if let Some(why) = why {
            let (holders, ticket) = (self.holders(true), Ticket(ticket));
            return NodeReply::Not(NodeRefusal {
                ticket,
                why,
                fence: self.fence,
                held,
                waiting: 0,
                holders,
            });
        }
        self.fence = fence;
        self.slots.extend(chosen.into_iter().map(|slot| (slot, (ticket, fence))));
        self.vote(ticket, fence)
    }

    pub(super) fn vote(&self, ticket: u128, fence: u64) -> NodeReply {
        let own = self.slots.iter().filter(|(_, held)| **held == (ticket, fence));
        let slots = set(&own.map(|(slot, _)| *slot).collect::<Vec<_>>());
        let (ticket, others) = (Ticket(ticket), self.holders(false));
        NodeReply::Took(Vote { ticket, fence, slots, left: TTL, others })
    }
}
