//! Which items a text finds: the same ones on a page, over HTTP and in a terminal.

use std::time::UNIX_EPOCH;

use seinpaal::{About, DeadLetter, InWork, Queue, QueueError};

use crate::text::delivery_end;

/// The longest text to look for, in characters.
pub const MOST: usize = 200;

/// Which items of a queue are meant.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Matching {
    /// Part of what is known of the item, in any case of letters; empty: all items.
    pub text: String,
    /// Whether the beginnings of payloads are looked at.
    pub with_payloads: bool,
    /// Only those that were there when they were counted, see [`Counted`].
    pub until: Option<u64>,
}

/// How many items were found, and which they are: everything that came later is left alone.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counted {
    /// How many.
    pub items: u64,
    /// Of dead letters the instant at which the last one died, in microseconds since 1970; of items
    /// in work the number of the last delivery.
    pub until: u64,
}

impl Matching {
    /// Whether this dead letter is meant.
    #[must_use]
    pub fn has_dead(&self, letter: &DeadLetter) -> bool {
        self.until.is_none_or(|until| died(letter) <= until) && self.finds_dead(letter)
    }

    /// Whether this item in work is meant.
    #[must_use]
    pub fn has_in_work(&self, item: &InWork) -> bool {
        self.until.is_none_or(|until| item.fence.0 <= until)
            && self.finds(|it| {
                it(&item.id.to_string())
                    || item.group.as_deref().is_some_and(&it)
                    || of(&item.worker, &it)
            })
    }

    /// How many dead letters are meant.
    ///
    /// # Errors
    /// As [`Queue::each_dead`].
    pub async fn count_dead(&self, queue: &Queue) -> Result<Counted, QueueError> {
        let mut counted = Counted::default();
        queue
            .each_dead(|letter| {
                if self.has_dead(letter) {
                    counted.items += 1;
                    counted.until = counted.until.max(died(letter));
                }
            })
            .await?;
        Ok(counted)
    }

    /// How many items in work are meant, of those that a snapshot lists.
    ///
    /// # Errors
    /// As [`Queue::snapshot`].
    pub async fn count_in_work(&self, queue: &Queue) -> Result<Counted, QueueError> {
        let seen = queue.snapshot().await?;
        let meant: Vec<_> = seen.work.iter().filter(|item| self.has_in_work(item)).collect();
        let until = meant.iter().map(|item| item.fence.0).max().unwrap_or(0);
        Ok(Counted { items: meant.len() as u64, until })
    }

    fn finds_dead(&self, letter: &DeadLetter) -> bool {
        self.finds(|it| {
            it(&letter.id.to_string())
                || letter.group.as_deref().is_some_and(&it)
                || letter.history.ends().iter().any(|past| it(delivery_end(&past.ending)))
                || of(&letter.pushed_by, &it)
                || self.with_payloads && it(&String::from_utf8_lossy(&letter.payload))
        })
    }

    fn finds(&self, look: impl Fn(&dyn Fn(&str) -> bool) -> bool) -> bool {
        let wanted = self.text.to_lowercase();
        self.text.is_empty() || look(&|text: &str| text.to_lowercase().contains(&wanted))
    }
}

/// Who it is, and what it says of itself: `KEY=VALUE` finds a label.
fn of(about: &About, it: &dyn Fn(&str) -> bool) -> bool {
    let mut labels = about.labels.iter().map(|(key, value)| format!("{key}={value}"));
    it(&about.client) || it(&about.host) || labels.any(|label| it(&label))
}

fn died(letter: &DeadLetter) -> u64 {
    let since = letter.died_at.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
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
            let matching = Matching { text: text.to_owned(), with_payloads, until: None };
            assert_eq!(matching.count_dead(&mails).await.unwrap().items, found, "{text}");
        }
    }

    #[tokio::test]
    async fn what_came_after_the_count_is_left_alone() {
        let mails = seinpaal::Seinpaal::in_memory().queue("mails");
        a_dead_letter(&mails, "acme", ("job", "1"), "down").await;
        let matching = Matching::default();
        let counted = matching.count_dead(&mails).await.unwrap();
        a_dead_letter(&mails, "acme", ("job", "2"), "down").await;
        let matching = Matching { until: Some(counted.until), ..matching };
        assert_eq!(mails.drop_all_dead(|letter| matching.has_dead(letter)).await.unwrap(), 1);
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
        let counted = matching.count_in_work(&mails).await.unwrap();
        let _late = mails.pop().await.unwrap();
        assert_eq!((counted.items, matching.count_in_work(&mails).await.unwrap().items), (1, 2));
        let matching = Matching { until: Some(counted.until), ..matching };
        assert_eq!(mails.cancel_in_work(|item| matching.has_in_work(item)).await.unwrap(), 1);
        assert_eq!(mails.snapshot().await.unwrap().in_work, 2);
    }
}
