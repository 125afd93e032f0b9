//! The reasons why CMD is made to end, in words: the event and the remedy.

use std::time::Duration;

use seinpaal::{Ended, Lost, Outage, store::url::StoreUrl};

use crate::output::text::age;

/// If the store has not answered for this part of the ttl, its silence is the reason why the lease
/// was not renewed.
const SILENCE_PART: u32 = 20;

/// The reason why a lease was not renewed.
#[derive(Clone, Debug)]
pub(super) enum Hindrance {
    /// The store does not answer.
    Store(Outage),
    /// This process was stopped meanwhile, by ^Z or STOP.
    Stop,
    /// The machine slept, or had no time for this process.
    Machine,
}

impl Hindrance {
    /// Finds the reason. `continued` is the time since this process was continued after a stop. A
    /// silence during a stop says nothing about the store.
    pub(super) fn new(outage: Option<Outage>, continued: Option<Duration>, ttl: Duration) -> Self {
        let continued = continued.filter(|ago| *ago <= ttl);
        let is_real = |outage: &Outage| {
            outage.lasted >= ttl / SILENCE_PART && continued.is_none_or(|ago| outage.lasted < ago)
        };
        match (outage.filter(is_real), continued) {
            (Some(outage), _) => Self::Store(outage),
            (None, Some(_)) => Self::Stop,
            (None, None) => Self::Machine,
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Store(outage) => format!("because {}", silence(outage)),
            Self::Stop => "because this seinpaal was stopped for too long".to_owned(),
            Self::Machine => "because the machine slept or was too busy".to_owned(),
        }
    }

    fn remedy(&self) -> &'static str {
        match self {
            Self::Store(_) => "a longer --ttl outlasts longer outages",
            Self::Stop => "a longer --ttl outlasts longer stops",
            Self::Machine => "a longer --ttl outlasts longer pauses",
        }
    }
}

/// Writes a sentence such as `the store has not answered for 12s (connection refused)`.
pub(super) fn silence(outage: &Outage) -> String {
    let error = outage.error.as_ref().map(|error| format!(" ({error})")).unwrap_or_default();
    format!("the store has not answered for {}{error}", age(outage.lasted))
}

/// The parts of the message: `what`, then the consequence for CMD, then `remedy`.
#[derive(Clone, Debug)]
pub(super) struct CmdEnding {
    pub(super) what: String,
    pub(super) remedy: &'static str,
}

impl CmdEnding {
    pub(super) fn danger(left: Duration, hindrance: &Hindrance) -> Self {
        let what =
            format!("the lease was not renewed, {}, and ends in {}", hindrance.why(), age(left));
        Self { what, remedy: hindrance.remedy() }
    }

    pub(super) fn loss(lost: Lost, hindrance: &Hindrance, store: &StoreUrl) -> Self {
        let (why, remedy) = match lost {
            Lost::Silence | Lost::Ended(Ended::Expired) => {
                (format!("it was not renewed, {}", hindrance.why()), hindrance.remedy())
            }
            Lost::Ended(Ended::Evicted) => (
                "somebody evicted it (`seinpaal evict`)".to_owned(),
                "ask the operators of this name whether to run it again",
            ),
            Lost::Ended(Ended::Released) => (
                "somebody released its ticket (`seinpaal release`)".to_owned(),
                "do not release the ticket of a running command",
            ),
            Lost::Ended(Ended::Attached) => (
                "another client attached to its ticket and has it now".to_owned(),
                "run it again if two are wanted",
            ),
            Lost::Forgotten => (
                "the store has lost its data and does not know it any more".to_owned(),
                match store.redis_options() {
                    Some(options) if options.restart_guard.is_none() => {
                        "a store that keeps its data prevents that, and restart-guard=on keeps others out meanwhile"
                    }
                    _ => "a store that keeps its data prevents that",
                },
            ),
            other => (other.to_string(), "run it again if it is still wanted"),
        };
        Self { what: format!("the lease is lost: {why}"), remedy }
    }

    pub(super) fn by_guard(hindrance: &Hindrance) -> Self {
        let what =
            format!("the lease was not renewed in time, {}, and the guard acted", hindrance.why());
        Self { what, remedy: hindrance.remedy() }
    }

    /// Makes the message for a run inside the CMD of another run, which is ending that CMD.
    pub(super) fn around_us() -> Self {
        let what = "the run around this one, which holds it, is ending its command".to_owned();
        Self { what, remedy: "the message of that run says why" }
    }

    pub(super) fn killed_around_us() -> Self {
        let what = "the run around this one, which held it, was killed".to_owned();
        Self { what, remedy: "run it again if it is still wanted" }
    }

    pub(super) fn max_hold(most: Duration) -> Self {
        let what = format!("held for {}, as long as --max-hold allows", age(most));
        Self { what, remedy: "a longer --max-hold gives it more time" }
    }
}
