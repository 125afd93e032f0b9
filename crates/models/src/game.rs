//! What exploring, walking and telling need to know of a model.

use std::{fmt::Debug, hash::Hash};

use stateright::Model;

/// A model whose worlds can be judged by themselves.
pub trait Game: Model<State: Play, Action: Copy + Debug + PartialEq + Send + Sync> {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Which rule the last step to this world broke.
    fn broken(&self, world: &Self::State) -> Option<String>;

    /// Lets nothing more go wrong, and says after how many ticks all was well.
    ///
    /// # Errors
    /// What did not come about in time.
    fn quiet(&self, world: &Self::State) -> Result<u64, String>;

    /// One in how many times a random history takes such a step where it could.
    fn rarity(action: &Self::Action) -> usize;

    /// A history in words.
    fn tell(&self, actions: &[Self::Action]) -> String;
}

/// What a world must be for Stateright.
pub trait Play: Clone + Hash + PartialEq + Debug + Send + Sync + 'static {}

impl<T: Clone + Hash + PartialEq + Debug + Send + Sync + 'static> Play for T {}
