//! Histories for tests, written line by line.

use super::{super::*, TTL, life};

/// A history that is written line by line.
#[derive(Default)]
pub(super) struct Doctor(pub(super) Vec<HistoryEvent>);

impl Doctor {
    pub(super) fn new() -> Self {
        let mut doctor = Self::default();
        doctor.rig(0, TortureWhat::Name { name: "one".into(), limit: 1 });
        doctor.rig(0, TortureWhat::Name { name: "few".into(), limit: 3 });
        doctor
    }

    pub(super) fn rig(&mut self, at: u64, what: TortureWhat) -> &mut Self {
        self.say(at, "rig", what)
    }

    pub(super) fn say(&mut self, at: u64, who: &str, what: TortureWhat) -> &mut Self {
        self.0.push(HistoryEvent { at, who: who.into(), what });
        self
    }

    /// A request of the first life of a worker.
    pub(super) fn want(&mut self, at: u64, worker: &str, name: &str, permits: u32) -> &mut Self {
        let (req, name) = (worker.into(), name.into());
        self.say(at, &life(worker), TortureWhat::Want { req, name, permits, timeout: None })
    }

    pub(super) fn queued(&mut self, at: u64, worker: &str) -> &mut Self {
        self.say(at, &life(worker), TortureWhat::Queued { req: worker.into(), waiting: 1 })
    }

    pub(super) fn granted(
        &mut self,
        at: u64,
        worker: &str,
        fence: u64,
        slots: &[u32],
        until: u64,
    ) -> &mut Self {
        let (req, ticket, slots) = (worker.into(), format!("t-{worker}"), slots.to_vec());
        let until = Some(until);
        self.say(at, &life(worker), TortureWhat::Granted { req, ticket, fence, slots, until })
    }

    pub(super) fn held(&mut self, at: u64, worker: &str, until: u64) -> &mut Self {
        self.say(at, &life(worker), TortureWhat::Held { req: worker.into(), until: Some(until) })
    }

    pub(super) fn releasing(&mut self, at: u64, worker: &str) -> &mut Self {
        self.say(at, &life(worker), TortureWhat::Releasing { req: worker.into() })
    }

    pub(super) fn fault(
        &mut self,
        from: u64,
        to: u64,
        fault: &str,
        worker: Option<usize>,
    ) -> &mut Self {
        self.rig(from, TortureWhat::FaultBegins { fault: fault.into(), worker });
        self.rig(to, TortureWhat::FaultEnds { fault: fault.into(), worker })
    }

    pub(super) fn verdict(&mut self) -> Verdict {
        self.verdict_on(&CheckTerms::of_server(TTL))
    }

    pub(super) fn verdict_on(&mut self, terms: &CheckTerms) -> Verdict {
        self.0.sort_by_key(|event| event.at);
        check(&self.0, terms)
    }
}
