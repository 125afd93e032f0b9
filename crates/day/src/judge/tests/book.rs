//! A history that is written by hand.

use super::*;
use crate::{
    cmd::DONE,
    end::PossibleEnd,
    history::{CmdVisit, DeliveryToCmd, JobStart, JobWant},
};

/// A history that is written by hand; times are in seconds.
#[derive(Default)]
pub(super) struct Book(pub(super) Vec<DayEvent>);

impl Book {
    pub(super) fn add(mut self, at: f64, who: &str, what: DayWhat) -> Self {
        let at = (at * 1e6) as u64;
        self.0.push(DayEvent { at, who: format!("redis/{who}"), what });
        self
    }

    /// A job that may end with 0 and nothing else.
    pub(super) fn run(self, at: f64, who: &str, name: &str, limit: u32) -> Self {
        self.run_that_may(at, who, name, limit, &[PossibleEnd::own(0, DONE)])
    }

    pub(super) fn run_that_may(
        self,
        at: f64,
        who: &str,
        name: &str,
        limit: u32,
        ends: &[PossibleEnd],
    ) -> Self {
        let argv = ["seinpaal", "run", name].map(str::to_owned).to_vec();
        let want = Some(JobWant { name: name.to_owned(), limit, priority: 0 });
        let start = JobStart { argv, want, ends: ends.to_vec(), is_hurried: false };
        self.add(at, who, DayWhat::Started(start))
    }

    pub(super) fn queued(self, at: f64, who: &str, name: &str) -> Self {
        self.add(at, who, DayWhat::Queued { name: name.to_owned() })
    }

    pub(super) fn told(self, at: f64, who: &str, event: &str) -> Self {
        self.add(at, who, DayWhat::Told { event: event.to_owned() })
    }

    pub(super) fn entered(self, at: f64, who: &str, name: &str, slot: u32, fence: u64) -> Self {
        let (name, slot, fence) = (name.to_owned(), Some(slot), Some(fence));
        self.add(at, who, DayWhat::Entered(CmdVisit { name, permits: 1, slot, fence, pid: 1 }))
    }

    pub(super) fn left(self, at: f64, who: &str, status: i32) -> Self {
        self.add(at, who, DayWhat::Left { status })
    }

    pub(super) fn ended(self, at: f64, who: &str, status: i32, out: &str, err: &str) -> Self {
        self.add(at, who, DayWhat::Ended { status, out: out.to_owned(), err: err.to_owned() })
    }

    /// A whole run that ends well.
    pub(super) fn whole(
        self,
        who: &str,
        name: &str,
        slot: u32,
        fence: u64,
        times: [f64; 3],
    ) -> Self {
        let [started, entered, left] = times;
        self.run(started, who, name, 2)
            .entered(entered, who, name, slot, fence)
            .left(left, who, 0)
            .ended(left + 0.1, who, 0, DONE, "")
    }

    pub(super) fn outage(self, from: f64, until: f64) -> Self {
        self.add(from, "rig", DayWhat::OutageBegins).add(until, "rig", DayWhat::OutageEnds)
    }

    pub(super) fn delivered(self, payload: &str, fence: u64, status: i32) -> Self {
        let (queue, payload) = ("q".to_owned(), payload.to_owned());
        self.add(1.0, "worker", DayWhat::Delivered(DeliveryToCmd { queue, payload, fence, status }))
    }

    pub(super) fn pushed(self, payloads: &[&str]) -> Self {
        let payloads = payloads.iter().map(ToString::to_string).collect();
        self.add(0.5, "queue", DayWhat::Pushed { queue: "q".to_owned(), payloads })
    }

    /// The rules that the judge finds broken.
    pub(super) fn found(mut self) -> Vec<DayCheck> {
        self.0.sort_by_key(|event| event.at);
        judge(&self.0, &[]).violations.iter().map(|violation| violation.check).collect()
    }
}
