//! The promise of a holder to renew, and whether the holder keeps it.
//!
//! A store knows when a lease ends, but not when the holder meant to renew it. So each holder
//! states, beside its host and its process id, to what length it renews its lease. If much more
//! than a third of that length passes without a renewal, the holder is probably dead, stopped or
//! cut off. A permit that is going to be detached carries no promise.

use alloc::{format, string::String};

use super::{FIELD, PAIR};
use crate::{
    snapshot::HolderRow,
    time::{DEFAULT_TTL, Micros},
};

/// How a holder renews its lease.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RenewalPromise {
    /// The length to which the holder renews the lease, after a third of it; 0: it does not renew
    /// on a schedule.
    ttl: Micros,
}

impl RenewalPromise {
    /// The promise of a holder that does not renew on a schedule.
    pub const NONE: Self = Self { ttl: 0 };

    /// Makes the promise to renew the lease to `ttl`, after a third of it at the latest.
    #[must_use]
    pub const fn to(ttl: Micros) -> Self {
        Self { ttl }
    }

    /// Returns the text that is added to [`About::encode`](super::About::encode)'s form. The
    /// default ttl is not written, so that the usual permit takes no more room in a store.
    #[must_use]
    pub fn mark(self) -> String {
        match self.ttl {
            DEFAULT_TTL => String::new(),
            ttl => format!("{FIELD}{ttl}"),
        }
    }

    /// Reads the promise from the form that stores keep. A text without a field describes no
    /// holder, and promises nothing.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut fields = text.split(FIELD).skip(1).peekable();
        if fields.peek().is_none() {
            return Self::NONE;
        }
        // Behind the host and the process id stand labels, each of which has a `PAIR` in it, and
        // perhaps the mark, which has none.
        let mark = fields.skip(2).find(|field| !field.contains(PAIR));
        mark.map_or(Self::to(DEFAULT_TTL), |mark| Self::to(mark.parse().unwrap_or(0)))
    }

    /// Returns how long ago the lease was renewed, if its holder would have renewed it long ago. A
    /// renewal is due at an eighth of the ttl. At half of it several repetitions have failed, too.
    ///
    /// A permit that was handed over has a short lease until its holder is heard from. The holder
    /// has half of the length that the lease had at the grant.
    #[must_use]
    pub fn overdue(self, held_for: Micros, valid_for: Option<Micros>) -> Option<Micros> {
        let left = valid_for?;
        let since = self.ttl.saturating_sub(left);
        (since > self.ttl / 2 && held_for > left).then_some(since.min(held_for))
    }
}

impl HolderRow {
    /// Returns how long ago the lease was renewed, if a holder that lives would have renewed it
    /// since.
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
