//! Finds the items that match a text. A page, the HTTP API and a terminal find the same items.

use std::{sync::Arc, time::UNIX_EPOCH};

use seinpaal::{About, ItemState, ListedItem, ListedState, Queue, QueueError};

use crate::text::delivery_end;

/// The longest text to look for, in characters.
pub const MOST: usize = 200;

/// A selection of a queue's items.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Matching {
    /// The text to look for, in upper or lower case, in the number, the group, the reasons and the
    /// clients of an item. Empty: all items.
    pub text: String,
    /// Whether the beginnings of payloads are searched, too.
    pub with_payloads: bool,
    /// Leaves out items that came after an earlier count.
    pub counted: Option<CountedItems>,
}

/// The items of a state that were counted. An item that comes into the state later is none of them,
/// even if its number is lower than theirs, as that of an item that is given back.
///
/// Each is known by its number and by when it came into its state. Sixteen bytes an item are kept.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct CountedItems(Arc<[(u64, u64)]>);

impl CountedItems {
    /// Takes these items. The list may have an item twice.
    fn of(mut items: Vec<(u64, u64)>) -> Self {
        items.sort_unstable();
        items.dedup();
        Self(items.into())
    }

    /// Returns their number.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.0.len() as u64
    }

    fn has(&self, item: &ListedItem) -> bool {
        self.0.binary_search(&(item.id.0, came(item))).is_ok()
    }
}

impl Matching {
    /// Returns whether the selection has this item.
    #[must_use]
    pub fn has(&self, item: &ListedItem) -> bool {
        self.counted.as_ref().is_none_or(|counted| counted.has(item)) && self.finds(item)
    }

    /// Returns the selected items of a state.
    ///
    /// # Errors
    /// As [`Queue::each_item`].
    pub async fn count(&self, queue: &Queue, state: ItemState) -> Result<CountedItems, QueueError> {
        self.find(queue, state, 0).await.map(|(_, counted)| counted)
    }

    /// Finds the selected items of a state: the first `most` of them, and the set of all.
    ///
    /// # Errors
    /// As [`Queue::each_item`].
    pub async fn find(
        &self,
        queue: &Queue,
        state: ItemState,
        most: usize,
    ) -> Result<(Vec<ListedItem>, CountedItems), QueueError> {
        let (mut first, mut counted) = (Vec::new(), Vec::new());
        let look = |item: &ListedItem| {
            if self.has(item) {
                counted.push((item.id.0, came(item)));
                if first.len() < most {
                    first.push(item.clone());
                }
            }
        };
        queue.each_item(state, look).await?;
        Ok((first, CountedItems::of(counted)))
    }

    fn finds(&self, item: &ListedItem) -> bool {
        let wanted = self.text.to_lowercase();
        let it = |text: &str| text.to_lowercase().contains(&wanted);
        self.text.is_empty()
            || it(&item.id.to_string())
            || item.group.as_deref().is_some_and(it)
            || item.history.ends().iter().any(|past| it(delivery_end(&past.ending)))
            || of(&item.pushed_by, &it)
            || matches!(&item.state, ListedState::InWork { worker, .. } if of(worker, &it))
            || self.with_payloads && it(&String::from_utf8_lossy(&item.payload))
    }
}

/// Returns whether the text finds a client by its program, its host, or a label, written
/// `KEY=VALUE`.
fn of(about: &About, it: &dyn Fn(&str) -> bool) -> bool {
    let mut labels = about.labels.iter().map(|(key, value)| format!("{key}={value}"));
    it(&about.client) || it(&about.host) || labels.any(|label| it(&label))
}

/// Returns a number that changes when an item comes into its state again: the fence of the delivery
/// for an item in work, the instant of death in microseconds since 1970 for a dead letter, and the
/// number of deliveries that count for others.
fn came(item: &ListedItem) -> u64 {
    match &item.state {
        ListedState::InWork { fence, .. } => fence.0,
        ListedState::Dead { died_at } => {
            let since = died_at.duration_since(UNIX_EPOCH).unwrap_or_default();
            u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
        }
        _ => item.attempt.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn a_dead_letter(queue: &Queue, group: &str, label: (&str, &str), reason: &str) {
        let pushing = queue.push(format!("to: {group}")).group(group).label(label.0, label.1);
        pushing.deliveries(1).await.unwrap();
        queue.pop().await.unwrap().fail(reason, std::time::Duration::ZERO).await.unwrap();
    }

    #[tokio::test]
    async fn a_text_finds_dead_letters_by_all_that_is_known_of_them() {
        let mails = seinpaal::Seinpaal::in_memory().queue("mails");
        a_dead_letter(&mails, "acme", ("job", "42"), "no route to host").await;
        a_dead_letter(&mails, "other", ("job", "43"), "Timed out").await;
        for (text, with_payloads, found) in [
            ("", false, 2),
            ("acme", false, 1),
            ("timed OUT", false, 1),
            ("job=4", false, 2),
            ("job=42", false, 1),
            ("to: acme", true, 1),
            ("to: acme", false, 0),
            ("nobody", true, 0),
        ] {
            let matching = Matching { text: text.to_owned(), with_payloads, counted: None };
            assert_eq!(
                matching.count(&mails, ItemState::Dead).await.unwrap().items(),
                found,
                "{text}"
            );
        }
    }

    #[tokio::test]
    async fn what_came_after_the_count_is_left_alone() {
        let mails = seinpaal::Seinpaal::in_memory().queue("mails");
        a_dead_letter(&mails, "acme", ("job", "1"), "down").await;
        let matching = Matching::default();
        let counted = matching.count(&mails, ItemState::Dead).await.unwrap();
        a_dead_letter(&mails, "acme", ("job", "2"), "down").await;
        let matching = Matching { counted: Some(counted), ..matching };
        assert_eq!(mails.remove_all(ItemState::Dead, |item| matching.has(item)).await.unwrap(), 1);
        assert_eq!(mails.snapshot().await.unwrap().dead, 1);
    }

    #[tokio::test]
    async fn a_text_finds_items_in_work_and_not_those_delivered_after_the_count() {
        let mails = seinpaal::Seinpaal::in_memory().queue("mails");
        for group in ["acme", "other", "acme"] {
            mails.push("x").group(group).await.unwrap();
        }
        let _first = (mails.pop().await.unwrap(), mails.pop().await.unwrap());
        let matching = Matching { text: "acme".to_owned(), ..Matching::default() };
        let counted = matching.count(&mails, ItemState::InWork).await.unwrap();
        let _late = mails.pop().await.unwrap();
        assert_eq!(
            (counted.items(), matching.count(&mails, ItemState::InWork).await.unwrap().items()),
            (1, 2)
        );
        let matching = Matching { counted: Some(counted), ..matching };
        assert_eq!(
            mails.remove_all(ItemState::InWork, |item| matching.has(item)).await.unwrap(),
            1
        );
        assert_eq!(mails.snapshot().await.unwrap().in_work, 2);
    }

    #[tokio::test]
    async fn a_text_finds_items_that_wait_and_not_those_pushed_after_the_count() {
        let mails = seinpaal::Seinpaal::in_memory().queue("mails");
        let later = std::time::Duration::from_secs(60);
        for group in ["acme", "other", "acme"] {
            mails.push(format!("to: {group}")).group(group).label("job", "42").await.unwrap();
            mails.push("x").group(group).delay(later).await.unwrap();
        }
        for (text, ready, delayed) in [("acme", 2, 2), ("job=42", 3, 0), ("to: other", 1, 0)] {
            let matching = Matching { text: text.to_owned(), with_payloads: true, counted: None };
            let count = async |state| matching.count(&mails, state).await.unwrap().items();
            let counted = (count(ItemState::Ready).await, count(ItemState::Delayed).await);
            assert_eq!(counted, (ready, delayed), "{text}");
        }
        let matching = Matching { text: "acme".to_owned(), ..Matching::default() };
        let counted = matching.count(&mails, ItemState::Ready).await.unwrap();
        mails.push("late").group("acme").await.unwrap();
        let matching = Matching { counted: Some(counted), ..matching };
        let removed = mails.remove_all(ItemState::Ready, |item| matching.has(item)).await.unwrap();
        let left = mails.snapshot().await.unwrap();
        assert_eq!((removed, left.ready, left.delayed), (2, 2, 3));
    }

    #[tokio::test]
    async fn an_item_that_comes_back_after_the_count_is_left_alone_whatever_its_number_is() {
        let mails = seinpaal::Seinpaal::in_memory().queue("mails");
        for _ in 0..3 {
            mails.push("x").await.unwrap();
        }
        let (given_back, failed) = (mails.pop().await.unwrap(), mails.pop().await.unwrap());
        let counted = Matching::default().count(&mails, ItemState::Ready).await.unwrap();
        assert_eq!(counted.items(), 1);
        given_back.give_back(Duration::ZERO).await.unwrap();
        failed.fail("down", Duration::ZERO).await.unwrap();
        let matching = Matching { counted: Some(counted), ..Matching::default() };
        let removed = mails.remove_all(ItemState::Ready, |item| matching.has(item)).await.unwrap();
        assert_eq!((removed, mails.snapshot().await.unwrap().ready), (1, 2));
    }
}
