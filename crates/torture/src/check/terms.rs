//! What a store must keep.

use std::time::Duration;

use super::Check;

/// How often the session renews its places in line, and so looks at the line, wakeup or not.
const PLACES_RENEWED: Duration = Duration::from_secs(5);
/// How long a place in line lasts without renewal.
const PLACE: Duration = Duration::from_secs(15);

/// What decides on how long a permit may lie idle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Bound {
    /// Nothing but wakeups, which may be lost.
    Prompt,
    /// A lease that must run out.
    Death,
    /// A client that is stopped, to which it may be granted.
    Silent,
}

/// What a store must keep. Times are microseconds.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Whether it promises first come first served.
    pub ordered: bool,
    /// The ttl of permits.
    pub ttl: u64,
    /// How much of it the store promises at a time.
    pub lease: u64,
    /// From a release, or a request for what is free, to the grant.
    pub prompt: u64,
    /// From a holder's death, or from the end of what it believed, to the next grant.
    pub death: u64,
    /// The same where a client was stopped while it stood in line: each of its places may be granted to it, and
    /// run out.
    pub silent: u64,
    /// How long the effects of a fault, or of an outage if a lookout looked, last after its end.
    pub after_fault: u64,
    /// Whether a client that is stopped may hold up others for as long.
    pub stops_hold_up: bool,
    /// The checks whose breaches are counted, not held against it.
    pub not_promised: Vec<Check>,
}

impl Terms {
    /// A server: nothing but time says that a client is gone, and what no wakeup says the next look does.
    #[must_use]
    pub fn of_server(ttl: Duration) -> Self {
        let prompt = PLACES_RENEWED + ttl;
        Self {
            ordered: true,
            ttl: micros(ttl),
            lease: micros(ttl),
            prompt: micros(prompt),
            death: micros(ttl + prompt),
            silent: micros(PLACE + ttl + prompt),
            after_fault: 0,
            stops_hold_up: false,
            not_promised: Vec::new(),
        }
    }

    /// One machine, whose kernel says at once who is gone. The ttl is for a machine that is busy.
    #[must_use]
    pub fn of_machine(ttl: Duration) -> Self {
        let at_once = micros(ttl);
        Self {
            prompt: at_once,
            death: at_once,
            silent: at_once,
            stops_hold_up: true,
            ..Self::of_server(ttl)
        }
    }

    /// How long that is.
    #[must_use]
    pub fn time(&self, bound: Bound) -> u64 {
        match bound {
            Bound::Prompt => self.prompt,
            Bound::Death => self.death,
            Bound::Silent => self.silent,
        }
    }

    /// How long after a fault nobody may be alarmed any more: a lease, a place and a hand-over may have begun in it.
    pub(super) fn calm_after(&self) -> u64 {
        self.after_fault + self.silent
    }

    /// Where a fault has effects after its end.
    #[must_use]
    pub fn after_faults(mut self, time: Duration) -> Self {
        self.after_fault = micros(time);
        self
    }

    /// Where the store cuts a ttl to this.
    #[must_use]
    pub fn cut_to(mut self, longest: Duration) -> Self {
        self.lease = self.lease.min(micros(longest));
        self
    }

    /// Where not everything is promised.
    #[must_use]
    pub fn but_for(mut self, checks: Vec<Check>) -> Self {
        self.not_promised = checks;
        self
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
