//! Maps and sets that mostly have one entry, and often none. A tree takes room for eleven entries
//! with the first one, and keeps that room when the last one is gone. Here a lone entry is stored
//! in the map itself, and an empty map has no heap memory.

use alloc::collections::BTreeMap;
use core::hash::{Hash, Hasher};

/// A map in the order of its keys.
#[derive(Clone, Debug, Default)]
pub(super) enum Few<K, V> {
    #[default]
    None,
    One(K, V),
    /// The map had more than one entry at some time, and has at least one now.
    Many(BTreeMap<K, V>),
}

impl<K: Copy + Ord, V> Few<K, V> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(..) => 1,
            Self::Many(many) => many.len(),
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        matches!(self, Self::None)
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        match self {
            Self::One(own, value) if own == key => Some(value),
            Self::Many(many) => many.get(key),
            _ => None,
        }
    }

    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        match self {
            Self::One(own, value) if own == key => Some(value),
            Self::Many(many) => many.get_mut(key),
            _ => None,
        }
    }

    /// Inserts an entry. Returns the value that the key had before.
    pub(super) fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self {
            Self::Many(many) => return many.insert(key, value),
            Self::One(own, before) if *own == key => {
                return Some(core::mem::replace(before, value));
            }
            _ => {}
        }
        *self = match core::mem::take(self) {
            Self::One(own, before) => Self::Many(BTreeMap::from([(own, before), (key, value)])),
            _ => Self::One(key, value),
        };
        None
    }

    pub(super) fn get_or_insert_with(&mut self, key: K, new: impl FnOnce() -> V) -> &mut V {
        if self.get(&key).is_none() {
            self.insert(key, new());
        }
        self.get_mut(&key).unwrap_or_else(|| unreachable!("the entry was put in above"))
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        match self {
            Self::One(own, _) if own == key => self.pop_first().map(|(_, value)| value),
            Self::Many(many) => {
                let removed = many.remove(key);
                self.let_go_if_empty();
                removed
            }
            _ => None,
        }
    }

    pub(super) fn pop_first(&mut self) -> Option<(K, V)> {
        if let Self::Many(many) = self {
            let first = many.pop_first();
            self.let_go_if_empty();
            return first;
        }
        match core::mem::take(self) {
            Self::One(key, value) => Some((key, value)),
            _ => None,
        }
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        match self {
            Self::None => {}
            Self::One(key, value) => {
                if !keep(key, value) {
                    *self = Self::None;
                }
            }
            Self::Many(many) => {
                many.retain(keep);
                self.let_go_if_empty();
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        let (one, many) = match self {
            Self::None => (None, None),
            Self::One(key, value) => (Some((key, value)), None),
            Self::Many(many) => (None, Some(many.iter())),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        let (one, many) = match self {
            Self::None => (None, None),
            Self::One(key, value) => (Some((&*key, value)), None),
            Self::Many(many) => (None, Some(many.iter_mut())),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.iter_mut().map(|(_, value)| value)
    }

    fn let_go_if_empty(&mut self) {
        if matches!(self, Self::Many(many) if many.is_empty()) {
            *self = Self::None;
        }
    }
}

/// Hashes two maps with the same entries alike, whichever variants they are.
impl<K: Copy + Ord + Hash, V: Hash> Hash for Few<K, V> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.len().hash(hasher);
        self.iter().for_each(|entry| entry.hash(hasher));
    }
}

/// A set in the order of its elements.
#[derive(Clone, Debug, Hash)]
pub(super) struct FewSet<T: Copy + Ord>(Few<T, ()>);

impl<T: Copy + Ord> Default for FewSet<T> {
    fn default() -> Self {
        Self(Few::None)
    }
}

impl<T: Copy + Ord> FewSet<T> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, element: &T) -> bool {
        self.0.get(element).is_some()
    }

    pub(super) fn insert(&mut self, element: T) {
        self.0.insert(element, ());
    }

    /// Removes an element. Returns whether it was there.
    pub(super) fn remove(&mut self, element: &T) -> bool {
        self.0.remove(element).is_some()
    }

    pub(super) fn pop_first(&mut self) -> Option<T> {
        self.0.pop_first().map(|(element, ())| element)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(element, ())| element)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{vec, vec::Vec};

    /// The keys are few, so that equal ones meet. Each step is drawn from the one before.
    #[test]
    fn it_does_what_a_tree_does() {
        let (mut few, mut tree, mut draw) = (Few::default(), BTreeMap::new(), 7_u64);
        for step in 0..4000_u64 {
            draw = crate::id::mix(draw);
            let (what, key) = (draw % 7, draw / 7 % 3);
            match what {
                0 | 1 => assert_eq!(few.insert(key, step), tree.insert(key, step)),
                2 => assert_eq!(few.remove(&key), tree.remove(&key)),
                3 => assert_eq!(few.pop_first(), tree.pop_first()),
                4 => {
                    few.retain(|it, _| *it != key);
                    tree.retain(|it, _| *it != key);
                }
                5 => assert_eq!(
                    few.get_or_insert_with(key, || step),
                    tree.entry(key).or_insert(step)
                ),
                _ => few.values_mut().chain(tree.values_mut()).for_each(|value| *value += 1),
            }
            assert_eq!((few.len(), few.is_empty()), (tree.len(), tree.is_empty()));
            assert!(few.iter().eq(tree.iter()) && few.get(&key) == tree.get(&key));
        }
    }

    #[test]
    fn an_empty_one_keeps_no_room() {
        let mut set = FewSet::default();
        (0..9).for_each(|element| set.insert(element));
        let taken: Vec<_> = (0..9).filter(|element| set.remove(element)).collect();
        assert_eq!(taken, vec![0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert!(matches!(set.0, Few::None));
    }
}
