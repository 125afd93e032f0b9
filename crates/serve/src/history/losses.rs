//! Holds whose lease ended because nobody renewed it.

use std::{collections::VecDeque, time::Duration};

use seinpaal_words::text::age;

/// How long a loss is shown.
const LASTS: Duration = Duration::from_secs(3600);
/// How many losses are remembered. If there were more, the words say *or more*.
const MOST: usize = 256;

/// The moments at which the last losses were seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses(VecDeque<Duration>);

impl Losses {
    pub(super) fn push(&mut self, at: Duration) {
        self.0.push_back(at);
        if self.0.len() > MOST {
            self.0.pop_front();
        }
    }

    /// Says how many losses there were within the last hour, and when the last one was. `None` if
    /// there was none.
    pub(super) fn words(&self, now: Duration) -> Option<String> {
        let lost = self.0.iter().filter(|at| **at + LASTS >= now).count();
        let ago = age(Duration::from_secs(now.saturating_sub(*self.0.back()?).as_secs()));
        match lost {
            0 => None,
            1 => Some(format!("Lost {ago} ago: nobody renewed the lease.")),
            times => {
                let more = if times == MOST { " or more" } else { "" };
                Some(format!(
                    "Lost {times}{more} times in the last hour, last {ago} ago: nobody renewed the lease."
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_told_for_an_hour() {
        let (mut losses, minute) = (Losses::default(), Duration::from_secs(60));
        assert_eq!(losses.words(minute), None);
        losses.push(minute);
        let said = losses.words(3 * minute);
        assert_eq!(said.as_deref(), Some("Lost 2m00s ago: nobody renewed the lease."));
        losses.push(30 * minute);
        let said = losses.words(40 * minute).unwrap_or_default();
        assert!(said.starts_with("Lost 2 times in the last hour, last 10m00s ago"), "{said}");
        assert!(losses.words(85 * minute).is_some_and(|said| said.starts_with("Lost 55m00s ago")));
        assert_eq!(losses.words(120 * minute), None);
        (0..=MOST).for_each(|_| losses.push(121 * minute));
        let said = losses.words(121 * minute).unwrap_or_default();
        assert!(said.starts_with("Lost 256 or more times in the last hour"), "{said}");
    }
}
