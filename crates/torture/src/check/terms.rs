//! The rules that a store must keep.

use std::time::Duration;

use super::Check;

/// How often a session renews its places in line. With each renewal it learns whether they were
/// granted, even if a wakeup was lost.
const PLACES_RENEWED: Duration = Duration::from_secs(5);
/// How long a place in line lasts without renewal.
const PLACE: Duration = Duration::from_secs(15);

/// A kind of delay between free permits and their grant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Bound {
    /// A wakeup, which may be lost.
    Prompt,
    /// A lease that must run out.
    Death,
    /// A stopped client, to which the permit may be granted.
    Silent,
}

/// The rules that a store must keep. Times are in microseconds.
#[derive(Clone, Debug)]
pub struct CheckTerms {
    /// Whether the store promises first come, first served.
    pub ordered: bool,
    /// The ttl of permits.
    pub ttl: u64,
    /// The longest lease that the store promises at a time.
    pub lease: u64,
    /// The longest time from a release, or from a request for free permits, to the grant.
    pub prompt: u64,
    /// The longest time from a holder's death, or from the end of its belief, to the next grant.
    pub death: u64,
    /// The longest such time if a client was stopped while it stood in line. Each of its places may
    /// be granted, and the lease may then have to run out.
    pub silent: u64,
    /// How long the effects of a fault last after its end. With a lookout, this counts from the end
    /// of an outage.
    pub after_fault: u64,
    /// Whether a stopped client may delay others for as long as `silent`.
    pub stops_hold_up: bool,
    /// The checks whose breaches are counted, and not held against the store.
    pub not_promised: Vec<Check>,
}

impl CheckTerms {
    /// Returns the rules for a server. A server learns only by the passing of time that a client is
    /// gone. After a lost wakeup, a client learns of its grant with its next renewal.
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

    /// Returns the rules for a store on one machine. Its kernel reports at once that a process is
    /// gone. The bound is a ttl, to allow for a busy machine.
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

    /// Returns the longest delay of this kind.
    #[must_use]
    pub fn time(&self, bound: Bound) -> u64 {
        match bound {
            Bound::Prompt => self.prompt,
            Bound::Death => self.death,
            Bound::Silent => self.silent,
        }
    }

    /// Returns how long after a fault alarms are allowed. A lease, a place or a hand-over may have
    /// begun during the fault, and run out after it.
    pub(crate) fn calm_after(&self) -> u64 {
        self.after_fault + self.silent
    }

    /// Sets how long a fault has effects after its end.
    #[must_use]
    pub fn after_faults(mut self, time: Duration) -> Self {
        self.after_fault = micros(time);
        self
    }

    /// Sets the length to which the store cuts a ttl.
    #[must_use]
    pub fn cut_to(mut self, longest: Duration) -> Self {
        self.lease = self.lease.min(micros(longest));
        self
    }

    /// Sets the checks whose breaches are only counted.
    #[must_use]
    pub fn but_for(mut self, checks: Vec<Check>) -> Self {
        self.not_promised = checks;
        self
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
