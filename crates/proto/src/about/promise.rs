//! The promise of a holder to renew, and whether the holder keeps it.
//!
//! A store knows when a lease ends, and not when the holder meant to renew it. So a holder says to
//! what length it renews its lease, beside its host and its process id. If much more than a third
//! of that length has gone without a renewal, the holder is probably dead, stopped or cut off.
//! Nobody promises to renew a permit that is going to be detached.

use alloc::{format, string::String};

use super::{FIELD, PAIR, asked::said_by_the_holder};
use crate::{
    snapshot::HolderRow,
    time::{DEFAULT_TTL, Micros},
};

/// How a holder renews its lease.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RenewalPromise {
    /// To what length, at a third of it; 0: not on a schedule.
    ttl: Micros,
}

impl RenewalPromise {
    /// Nobody renews on a schedule.
    pub const NONE: Self = Self { ttl: 0 };

    /// The lease is renewed to `ttl`, at a third of it at the latest.
    #[must_use]
    pub const fn to(ttl: Micros) -> Self {
        Self { ttl }
    }

    /// The text behind [`About::encode`](super::About::encode)'s form. The usual ttl is not
    /// written, so the usual permit takes no more room in a store.
    #[must_use]
    pub fn mark(self) -> String {
        match self.ttl {
            DEFAULT_TTL => String::new(),
            ttl => format!("{FIELD}{ttl}"),
        }
    }

    /// Reads it from the form that stores keep. A text without a field is nobody's, and promises
    /// nothing.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut fields = said_by_the_holder(text).split(FIELD).skip(1).peekable();
        if fields.peek().is_none() {
            return Self::NONE;
        }
        // Behind the host and the process id stand labels, each of which has a `PAIR` in it, and
        // perhaps the mark, which has none.
        let mark = fields.skip(2).find(|field| !field.contains(PAIR));
        mark.map_or(Self::to(DEFAULT_TTL), |mark| Self::to(mark.parse().unwrap_or(0)))
    }

    /// How long the lease has not been renewed, if its holder would have done so long ago. A
    /// renewal is due at a third of the ttl. At half of it a repetition has failed, too.
    ///
    /// A permit that was handed over has a short lease until its holder is heard from, and there is
    /// as much time for that: half of what the lease was at the grant.
    #[must_use]
    pub fn overdue(self, held_for: Micros, valid_for: Option<Micros>) -> Option<Micros> {
        let left = valid_for?;
        let since = self.ttl.saturating_sub(left);
        (since > self.ttl / 2 && held_for > left).then_some(since.min(held_for))
    }
}

impl HolderRow {
    /// How long ago the lease was renewed, if a holder that lives would have renewed it since.
    #[must_use]
    pub fn not_renewed_for(&self) -> Option<Micros> {
        RenewalPromise::of(&self.about).overdue(self.held_for, self.valid_for)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::{About, time::SECOND};

    fn about() -> About {
        let labels = vec![("job".into(), "42".into()), ("odd".into(), String::new())];
        About { client: "run".into(), host: "ada".into(), pid: 7, labels }
    }

    fn kept(promise: RenewalPromise) -> String {
        about().encode() + &promise.mark()
    }

    #[test]
    fn a_promise_is_read_as_it_was_written_and_leaves_the_rest_as_it_is() {
        for ttl in [0, 1, 100_000, DEFAULT_TTL, 60 * SECOND] {
            let promise = RenewalPromise::to(ttl);
            assert_eq!(RenewalPromise::of(&kept(promise)), promise);
            assert_eq!(About::decode(&kept(promise)), about());
        }
    }

    #[test]
    fn the_usual_promise_takes_no_room() {
        assert_eq!(kept(RenewalPromise::to(DEFAULT_TTL)), about().encode());
    }

    #[test]
    fn what_nobody_wrote_promises_nothing() {
        for text in ["", "something else"] {
            assert_eq!(RenewalPromise::of(text), RenewalPromise::NONE);
        }
        let odd = about().encode() + "\u{1f}soon";
        assert_eq!(RenewalPromise::of(&odd), RenewalPromise::NONE);
    }

    #[test]
    fn a_lease_is_overdue_when_half_of_it_has_gone_without_renewal() {
        let promise = RenewalPromise::to(30 * SECOND);
        let overdue = |left| promise.overdue(90 * SECOND, left);
        assert_eq!(overdue(Some(15 * SECOND)), None);
        assert_eq!(overdue(Some(14 * SECOND)), Some(16 * SECOND));
        assert_eq!(overdue(Some(40 * SECOND)), None, "a store may keep it for longer");
        assert_eq!(overdue(None), None, "its process lives");
        assert_eq!(RenewalPromise::NONE.overdue(90 * SECOND, Some(0)), None);
    }

    #[test]
    fn a_lease_that_was_short_from_the_grant_on_is_overdue_when_half_of_that_has_gone() {
        let promise = RenewalPromise::to(30 * SECOND);
        assert_eq!(promise.overdue(0, Some(12 * SECOND)), None);
        assert_eq!(promise.overdue(6 * SECOND, Some(6 * SECOND)), None);
        assert_eq!(promise.overdue(7 * SECOND, Some(5 * SECOND)), Some(7 * SECOND));
    }
}
