//! The interface of a model for explorations, walks and stories.

use std::{
    collections::hash_map::DefaultHasher,
    fmt::Debug,
    hash::{Hash, Hasher},
};

use stateright::Model;

/// A model that can judge each of its worlds alone, without the history that led to it.
pub trait Game: Model<State: ModelGame, Action: Copy + Debug + PartialEq + Send + Sync> {
    /// The model's name.
    fn name(&self) -> &'static str;

    /// The rule that the last step to this world broke.
    fn broken(&self, world: &Self::State) -> Option<String>;

    /// Plays on without faults. Returns the number of ticks until every waiter was served.
    ///
    /// # Errors
    /// The condition that was not met in time.
    fn quiet(&self, world: &Self::State) -> Result<u64, String>;

    /// A random history takes such a step in one of this many states in which it is possible.
    fn rarity(action: &Self::Action) -> usize;

    /// Tells a history in words.
    fn tell(&self, actions: &[Self::Action]) -> String;
}

/// The interface of a world for Stateright.
pub trait ModelGame: Clone + Hash + PartialEq + Debug + Send + Sync + 'static {}

impl<T: Clone + Hash + PartialEq + Debug + Send + Sync + 'static> ModelGame for T {}

/// Returns whether two worlds are the same for the model, as far as their hashes tell.
pub(crate) fn are_alike(one: &impl Hash, other: &impl Hash) -> bool {
    hash_of(one) == hash_of(other)
}

/// Returns whether a world is one of the sample from which the quiet schedule is run. The sample
/// has one world in `one_in`, chosen by their hashes.
pub(crate) fn is_sample(world: &impl Hash, one_in: u64) -> bool {
    hash_of(world).is_multiple_of(one_in)
}

fn hash_of(world: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    world.hash(&mut hasher);
    hasher.finish()
}
