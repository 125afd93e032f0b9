//! Tells whether a key may have ended by the server's own clock, which goes on while the clock of
//! the history stands still.
//!
//! A history that begins to differ at such a moment says nothing about the scripts, because the
//! ledger does not know that the name is gone.

use std::time::{Duration, Instant};

/// Keys are kept for longer than this after each call.
const SHORTEST: Duration = Duration::from_millis(500);

#[derive(Default)]
pub(super) struct Aging {
    /// How long the key that ends first lasts, counted from an instant just before it was read.
    left: Option<(Instant, Duration)>,
    /// Whether a key may have ended unseen, or a call had no answer in time.
    pub(super) is_unsure: bool,
}

impl Aging {
    /// Takes note of a look at the keys, after `began`, with the milliseconds that they last. A
    /// negative number means for ever, or not there.
    pub(super) fn looked(&mut self, began: Instant, lasting: [i64; 2]) {
        let least = lasting.into_iter().filter_map(|left| u64::try_from(left).ok()).min();
        self.left = least.map(|left| (began, Duration::from_millis(left)));
        self.is_unsure |= began.elapsed() >= SHORTEST;
    }

    /// Takes note that the keys were made older by a step. A name that is gone after that is known
    /// to be gone.
    pub(super) fn stepped(&mut self, step: i64) {
        let step = Duration::from_micros(u64::try_from(step).unwrap_or(0));
        self.left = self.left.and_then(|(began, left)| Some((began, left.checked_sub(step)?)));
    }

    /// Takes note that the server has answered the next call.
    pub(super) fn answered(&mut self) {
        let is_late =
            |(began, left): (Instant, Duration)| began.elapsed() + Duration::from_millis(1) >= left;
        self.is_unsure |= self.left.is_some_and(is_late);
    }
}
