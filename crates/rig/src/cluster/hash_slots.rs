//! Which node owns which hash slot, and how hash slots move.

use super::RedisCluster;
use crate::process::until;

impl RedisCluster {
    /// Returns the node that owns a key's hash slot, as the node `asked` sees it.
    ///
    /// # Panics
    /// If it does not know.
    #[must_use]
    pub fn owner_of(&self, key: &str) -> usize {
        let hash_slot = self.hash_slot_of(key);
        let owner = (0..self.nodes.len()).find(|i| self.owns(*i, hash_slot));
        owner.expect("a master that owns the hash slot")
    }

    /// Waits until a node that is up owns the hash slot of a key.
    ///
    /// # Panics
    /// If none does.
    pub fn await_owner(&self, key: &str) {
        let hash_slot = self.hash_slot_of(key);
        until("nobody takes over", || (0..self.nodes.len()).any(|i| self.owns(i, hash_slot)));
    }

    /// The hash slot of a key.
    ///
    /// # Panics
    /// If no node answers.
    #[must_use]
    pub fn hash_slot_of(&self, key: &str) -> usize {
        let node = self.nodes.iter().find(|node| node.is_up()).expect("a node that is up");
        node.say(&["CLUSTER", "KEYSLOT", key]).parse().expect("a hash slot")
    }

    fn owns(&self, node: usize, hash_slot: usize) -> bool {
        let node = &self.nodes[node];
        let id = node.try_say(&["CLUSTER", "MYID"]);
        id.is_some_and(|id| node.says_that_owns(&id, hash_slot))
    }

    /// Begins to move a hash slot. From then on `from` sends clients to `to` for each key that it does
    /// not have.
    pub fn begin_move(&self, hash_slot: usize, from: usize, to: usize) {
        let hash_slot = hash_slot.to_string();
        let (from_id, to_id) = (self.nodes[from].id(), self.nodes[to].id());
        self.nodes[to].say(&["CLUSTER", "SETSLOT", &hash_slot, "IMPORTING", &from_id]);
        self.nodes[from].say(&["CLUSTER", "SETSLOT", &hash_slot, "MIGRATING", &to_id]);
    }

    /// Moves these keys in one step.
    pub fn move_keys(&self, from: usize, to: usize, keys: &[&str]) {
        let port = self.nodes[to].port().to_string();
        let command = ["MIGRATE", "127.0.0.1", &port, "", "0", "5000", "KEYS"];
        self.nodes[from].say(&[&command[..], keys].concat());
    }

    /// Ends a move: `to` owns the hash slot, and all nodes know that.
    ///
    /// # Panics
    /// If they do not come to agree.
    pub fn end_move(&self, hash_slot: usize, from: usize, to: usize) {
        let (text, id) = (hash_slot.to_string(), self.nodes[to].id());
        self.nodes[to].say(&["CLUSTER", "SETSLOT", &text, "NODE", &id]);
        self.nodes[from].say(&["CLUSTER", "SETSLOT", &text, "NODE", &id]);
        // A node that learns of two moves in the wrong order keeps the older one for good.
        until("the nodes do not agree about a hash slot", || {
            let mut up = self.nodes.iter().filter(|node| node.is_up());
            up.all(|node| node.says_that_owns(&id, hash_slot))
        });
    }

    /// Moves a hash slot with all its keys, one key at a time, as tools do.
    ///
    /// # Panics
    /// If a node will not.
    pub fn move_hash_slot(&self, hash_slot: usize, from: usize, to: usize) {
        self.begin_move(hash_slot, from, to);
        loop {
            let keys =
                self.nodes[from].say(&["CLUSTER", "GETKEYSINSLOT", &hash_slot.to_string(), "10"]);
            let keys: Vec<&str> = keys.lines().filter(|key| !key.is_empty()).collect();
            if keys.is_empty() {
                break;
            }
            for key in keys {
                self.move_keys(from, to, &[key]);
            }
        }
        self.end_move(hash_slot, from, to);
    }
}
