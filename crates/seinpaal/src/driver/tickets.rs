//! Maps by ticket, or by another number that this client has drawn itself.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hash, Hasher},
};

/// A map by numbers of this client. When few entries are left, the map gives back the room that it
/// had for many.
pub(super) struct ByNumber<K, V>(HashMap<K, V, BuildHasherDefault<NumberHasher>>);

/// A table with room for fewer entries than this never shrinks, because it fills and empties all
/// the time.
const ROOM: usize = 1024;

impl<K: Eq + Hash, V> ByNumber<K, V> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.0.get(key)
    }

    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.0.get_mut(key)
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        self.0.insert(key, value);
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let removed = self.0.remove(key)?;
        // Half of the remaining room must fill or empty before the table changes its size again.
        if self.0.capacity() > ROOM && self.0.len() < self.0.capacity() / 8 {
            self.0.shrink_to(self.0.len() * 2);
        }
        Some(removed)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.0.values()
    }

    pub(super) fn drain(&mut self) -> impl Iterator<Item = (K, V)> {
        std::mem::take(&mut self.0).into_iter()
    }
}

impl<K, V> Default for ByNumber<K, V> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

/// Mixes a number. The numbers are drawn by this client, or are tickets that its program attaches
/// to. So no other client can make many of them collide, and a hash with a secret is not needed.
#[derive(Default)]
pub(super) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    /// Mixes both halves of the product, because a table uses both the lowest and the highest bits.
    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn write_u128(&mut self, number: u128) {
        self.write_u64((number >> 64) as u64);
        self.write_u64(number as u64);
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, hash::BuildHasher};

    use seinpaal_proto::{Inbox, Series, TicketSource};

    use super::*;

    #[test]
    fn tickets_of_a_client_spread_over_a_table() {
        let mut source = TicketSource::new(Inbox(7 << 64));
        let series: Vec<_> = (0..512).map(|_| Series::from(source.lease())).collect();
        let of_each = series.iter().map(|series| series.ticket(1));
        let of_one = (1..=512).map(|number| series[0].ticket(number));
        for tickets in [of_each.collect::<Vec<_>>(), of_one.collect()] {
            let hash = |ticket| BuildHasherDefault::<NumberHasher>::default().hash_one(ticket);
            let places: HashSet<_> = tickets.iter().map(|ticket| hash(ticket) % 512).collect();
            assert!(places.len() > 256, "512 tickets have {} places", places.len());
        }
    }

    #[test]
    fn room_for_many_is_given_back_when_few_are_left() {
        let mut map = ByNumber::default();
        (0..10_000_u64).for_each(|number| map.insert(number, number));
        (3..10_000).for_each(|number| assert_eq!(map.remove(&number), Some(number)));
        assert!(map.0.capacity() <= ROOM, "room for {}", map.0.capacity());
        assert_eq!(map.remove(&9), None);
        assert_eq!((map.len(), map.get(&2)), (3, Some(&2)));
    }
}
