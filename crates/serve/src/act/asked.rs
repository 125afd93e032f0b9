//! The items that a question is about, kept until its form comes back. A form has no room for the
//! numbers of all of them.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use seinpaal_words::matching::CountedItems;

/// The most questions that are kept. The oldest goes first.
const MOST_QUESTIONS: usize = 1000;
/// The most items that are kept together: 16 MB. The last question may have any number.
const MOST_ITEMS: u64 = 1_000_000;

/// The items of the latest questions.
#[derive(Default)]
pub(crate) struct AskedItems(Mutex<KeptQuestions>);

#[derive(Default)]
struct KeptQuestions {
    /// By their numbers, which grow.
    all: VecDeque<(u64, CountedItems)>,
    last: u64,
    items: u64,
}

impl AskedItems {
    /// Keeps the items of a question, and returns the number of the question.
    pub(crate) fn keep(&self, items: CountedItems) -> u64 {
        let mut kept = self.lock();
        kept.last += 1;
        let number = kept.last;
        kept.items += items.items();
        kept.all.push_back((number, items));
        while kept.all.len() > MOST_QUESTIONS || (kept.items > MOST_ITEMS && kept.all.len() > 1) {
            let oldest = kept.all.pop_front().map_or(0, |(_, items)| items.items());
            kept.items -= oldest;
        }
        number
    }

    /// The items of a question, if it is kept.
    pub(crate) fn of(&self, question: u64) -> Option<CountedItems> {
        let kept = self.lock();
        let found = kept.all.iter().find(|(number, _)| *number == question);
        found.map(|(_, items)| items.clone())
    }

    fn lock(&self) -> MutexGuard<'_, KeptQuestions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_questions_are_kept_and_the_oldest_are_forgotten() {
        let asked = AskedItems::default();
        let first = asked.keep(CountedItems::default());
        assert!(asked.of(first).is_some() && asked.of(first + 1).is_none());
        let later = (0..MOST_QUESTIONS).map(|_| asked.keep(CountedItems::default()));
        let later = later.collect::<Vec<_>>();
        assert!(asked.of(first).is_none());
        assert!(later.iter().all(|question| asked.of(*question).is_some()));
    }
}
