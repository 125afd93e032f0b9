//! The owners of slots, and moves of slots.

use super::RedisCluster;
use crate::process::until;

impl RedisCluster {
    /// Returns the node that owns a key's slot, as the node `asked` sees it.
    ///
    /// # Panics
    /// If the node does not know.
    #[must_use]
    pub fn owner_of(&self, key: &str) -> usize {
        let slot = self.slot_of(key);
        let owner = (0..self.nodes.len()).find(|i| self.owns(*i, slot));
        owner.expect("a master that owns the slot")
    }

    /// Waits until a node that is up owns the slot of a key.
    ///
    /// # Panics
    /// If no node takes the slot within a minute.
    pub fn await_owner(&self, key: &str) {
        let slot = self.slot_of(key);
        until("nobody takes over", || (0..self.nodes.len()).any(|i| self.owns(i, slot)));
    }

    /// The slot of a key.
    ///
    /// # Panics
    /// If no node answers.
    #[must_use]
    pub fn slot_of(&self, key: &str) -> usize {
        let node = self.nodes.iter().find(|node| node.is_up()).expect("a node that is up");
        node.say(&["CLUSTER", "KEYSLOT", key]).parse().expect("a slot")
    }

    fn owns(&self, node: usize, slot: usize) -> bool {
        let node = &self.nodes[node];
        let id = node.try_say(&["CLUSTER", "MYID"]);
        id.is_some_and(|id| node.says_that_owns(&id, slot))
    }

    /// Begins to move a slot. From then on `from` redirects clients to `to` for each key that
    /// `from` does not have.
    pub fn begin_move(&self, slot: usize, from: usize, to: usize) {
        let slot = slot.to_string();
        let (from_id, to_id) = (self.nodes[from].id(), self.nodes[to].id());
        self.nodes[to].say(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &from_id]);
        self.nodes[from].say(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &to_id]);
    }

    /// Moves these keys in one step.
    pub fn move_keys(&self, from: usize, to: usize, keys: &[&str]) {
        let port = self.nodes[to].port().to_string();
        let command = ["MIGRATE", "127.0.0.1", &port, "", "0", "5000", "KEYS"];
        self.nodes[from].say(&[&command[..], keys].concat());
    }

    /// Ends a move: `to` owns the slot, and all nodes know that.
    ///
    /// # Panics
    /// If the nodes do not come to agree.
    pub fn end_move(&self, slot: usize, from: usize, to: usize) {
        let (text, id) = (slot.to_string(), self.nodes[to].id());
        self.nodes[to].say(&["CLUSTER", "SETSLOT", &text, "NODE", &id]);
        self.nodes[from].say(&["CLUSTER", "SETSLOT", &text, "NODE", &id]);
        // A node that learns of two moves in the wrong order keeps the older one for good.
        until("the nodes do not agree about a slot", || {
            let mut up = self.nodes.iter().filter(|node| node.is_up());
            up.all(|node| node.says_that_owns(&id, slot))
        });
    }

    /// Moves a slot with all its keys, one key at a time, as the tools of Redis do.
    ///
    /// # Panics
    /// If a node refuses.
    pub fn move_slot(&self, slot: usize, from: usize, to: usize) {
        self.begin_move(slot, from, to);
        loop {
            let keys = self.nodes[from].say(&["CLUSTER", "GETKEYSINSLOT", &slot.to_string(), "10"]);
            let keys: Vec<&str> = keys.lines().filter(|key| !key.is_empty()).collect();
            if keys.is_empty() {
                break;
            }
            for key in keys {
                self.move_keys(from, to, &[key]);
            }
        }
        self.end_move(slot, from, to);
    }
}
