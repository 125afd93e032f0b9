//! Histories of a queue for tests, written line by line.

use super::{BOUNDS, MS, S};
use crate::{
    check::Check,
    history::{HistoryEvent, TortureWhat},
    queue::check::{QueueVerdict, check},
};

/// A history that is written line by line.
#[derive(Default)]
pub(super) struct Doctor(pub(super) Vec<HistoryEvent>);

impl Doctor {
    pub(super) fn new() -> Self {
        let mut doctor = Self::default();
        doctor.say(0, "rig", TortureWhat::Limits { limit: 2, group_limit: 1 });
        doctor
    }

    pub(super) fn say(&mut self, at: u64, who: &str, what: TortureWhat) -> &mut Self {
        self.0.push(HistoryEvent { at, who: who.into(), what });
        self
    }

    pub(super) fn pushed(&mut self, at: u64, req: &str, id: u64, group: Option<&str>) -> &mut Self {
        let group = group.map(str::to_owned);
        self.say(at, "w0.1", TortureWhat::Push { req: req.into(), delay: 0, group });
        self.say(at + MS, "w0.1", TortureWhat::Pushed { req: req.into(), id })
    }

    pub(super) fn delivered(
        &mut self,
        at: u64,
        who: &str,
        req: &str,
        id: u64,
        fence: u64,
    ) -> &mut Self {
        let group = self.0.iter().find_map(|event| match &event.what {
            TortureWhat::Push { req: pushed, group, .. } if pushed == req => group.clone(),
            _ => None,
        });
        let until = Some(at + 3 * S);
        let (payload, req) = (req.to_owned(), format!("{who}.{fence}"));
        self.say(at, who, TortureWhat::Delivered { req, payload, id, fence, group, until })
    }

    pub(super) fn popped(&mut self, at: u64, who: &str, fence: u64) -> &mut Self {
        self.say(at, who, TortureWhat::Pop { req: format!("{who}.{fence}") })
    }

    pub(super) fn finished(
        &mut self,
        at: u64,
        who: &str,
        id: u64,
        fence: u64,
        end: &str,
    ) -> &mut Self {
        self.say(at, who, TortureWhat::Finished { id, fence, end: end.to_owned() })
    }

    pub(super) fn fault(&mut self, at: u64) -> &mut Self {
        let fault = || "cut".to_owned();
        self.say(at, "rig", TortureWhat::FaultBegins { fault: fault(), worker: None });
        self.say(at + MS, "rig", TortureWhat::FaultEnds { fault: fault(), worker: None })
    }

    pub(super) fn acknowledged(&mut self, at: u64, who: &str, id: u64, fence: u64) -> &mut Self {
        let (how, end) = ("acknowledge".to_owned(), "acknowledged".to_owned());
        self.say(at, who, TortureWhat::Finishing { id, fence, how });
        self.say(at + MS, who, TortureWhat::Finished { id, fence, end })
    }

    pub(super) fn verdict(&mut self) -> QueueVerdict {
        self.say(100 * S, "rig", TortureWhat::QueueLeft { ready: 0, delayed: 0, in_work: 0 });
        self.0.sort_by_key(|event| event.at);
        check(&self.0, &BOUNDS, &[])
    }

    #[track_caller]
    pub(super) fn is_convicted_of(&mut self, check: Check) {
        let verdict = self.verdict();
        let checks: Vec<_> = verdict.violations.iter().map(|found| found.check).collect();
        assert_eq!(checks, [check], "{verdict:#?}");
    }
}
