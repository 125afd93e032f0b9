//! A little Redis with the commands that the recipes need, one method for each.

use std::collections::{BTreeMap, VecDeque};

/// Keys and their values. Every key may have an expiry.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct RecipeStore {
    /// The server's clock.
    pub now: i64,
    /// How far the clock of the client that asks is ahead of the server's.
    pub asker_ahead: i64,
    strings: BTreeMap<&'static str, i64>,
    expiries: BTreeMap<&'static str, i64>,
    zsets: BTreeMap<&'static str, BTreeMap<i64, i64>>,
    lists: BTreeMap<&'static str, VecDeque<i64>>,
}

impl RecipeStore {
    /// The time by the clock of the client that asks.
    #[must_use]
    pub fn asker_now(&self) -> i64 {
        self.now + self.asker_ahead
    }

    pub(super) fn pass(&mut self) {
        self.now += 1;
        let now = self.now;
        let over: Vec<_> =
            self.expiries.iter().filter(|(_, at)| **at <= now).map(|e| *e.0).collect();
        for key in over {
            self.del(key);
        }
    }

    pub(super) fn get(&self, key: &'static str) -> Option<i64> {
        self.strings.get(key).copied()
    }

    /// `SETNX`. Returns whether the key was set.
    pub(super) fn setnx(&mut self, key: &'static str, value: i64) -> bool {
        let is_free = !self.strings.contains_key(key);
        if is_free {
            self.strings.insert(key, value);
        }
        is_free
    }

    pub(super) fn expire(&mut self, key: &'static str, ttl: i64) {
        self.expiries.insert(key, self.now + ttl);
    }

    pub(super) fn has_expiry(&self, key: &'static str) -> bool {
        self.expiries.contains_key(key)
    }

    pub(super) fn del(&mut self, key: &'static str) {
        self.strings.remove(key);
        self.expiries.remove(key);
    }

    pub(super) fn incr(&mut self, key: &'static str) -> i64 {
        let value = self.strings.entry(key).or_default();
        *value += 1;
        *value
    }

    pub(super) fn zadd(&mut self, key: &'static str, member: i64, score: i64) {
        self.zsets.entry(key).or_default().insert(member, score);
    }

    pub(super) fn zrem(&mut self, key: &'static str, member: i64) -> bool {
        self.zsets.entry(key).or_default().remove(&member).is_some()
    }

    /// `ZREMRANGEBYSCORE key -inf max`.
    pub(super) fn zremrangebyscore(&mut self, key: &'static str, max: i64) -> Vec<i64> {
        let zset = self.zsets.entry(key).or_default();
        let over: Vec<i64> =
            zset.iter().filter(|(_, score)| **score <= max).map(|e| *e.0).collect();
        zset.retain(|_, score| *score > max);
        over
    }

    /// `ZRANK`: by score, then by member.
    pub(super) fn zrank(&self, key: &'static str, member: i64) -> Option<usize> {
        let zset = self.zsets.get(key)?;
        let mine = (*zset.get(&member)?, member);
        Some(zset.iter().filter(|(member, score)| (**score, **member) < mine).count())
    }

    pub(super) fn zcard(&self, key: &'static str) -> usize {
        self.zsets.get(key).map_or(0, BTreeMap::len)
    }

    /// `ZINTERSTORE key 2 key other WEIGHTS 1 0`: drops the members that `other` does not have.
    pub(super) fn zinterstore(&mut self, key: &'static str, other: &'static str) {
        let others = self.zsets.entry(other).or_default().clone();
        self.zsets.entry(key).or_default().retain(|member, _| others.contains_key(member));
    }

    pub(super) fn lpush(&mut self, key: &'static str, value: i64) {
        self.lists.entry(key).or_default().push_front(value);
    }

    pub(super) fn rpop(&mut self, key: &'static str) -> Option<i64> {
        self.lists.entry(key).or_default().pop_back()
    }

    pub(super) fn llen(&self, key: &'static str) -> usize {
        self.lists.get(key).map_or(0, VecDeque::len)
    }
}

impl RecipeStore {
    pub(super) fn zscore(&self, key: &'static str, member: i64) -> Option<i64> {
        self.zsets.get(key)?.get(&member).copied()
    }
}
