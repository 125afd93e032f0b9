//! The history, job by job.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::{CmdVisit, DayEvent, DayWhat, DeliveryToCmd, JobStart};

/// All that happened on one store.
#[derive(Debug, Default)]
pub(super) struct DayTale<'a> {
    pub(super) jobs: BTreeMap<&'a str, JobTale<'a>>,
    /// When the store was silent.
    pub(super) outages: Vec<(u64, u64)>,
    /// When the machine was too busy.
    pub(super) slow: Vec<(u64, u64)>,
    /// The items that were pushed into each queue, in order.
    pub(super) pushed: BTreeMap<&'a str, &'a [String]>,
    /// The deliveries from each queue, in order of fences.
    pub(super) delivered: BTreeMap<&'a str, Vec<&'a DeliveryToCmd>>,
}

/// One job.
#[derive(Debug)]
pub(super) struct JobTale<'a> {
    pub(super) who: &'a str,
    pub(super) start: &'a JobStart,
    pub(super) started: u64,
    /// At which names the job is known to stand in line, and since when.
    pub(super) queued: BTreeMap<&'a str, u64>,
    pub(super) told: Vec<&'a str>,
    /// When the job told that CMD is gone.
    pub(super) exited: Option<u64>,
    pub(super) visits: Vec<(u64, &'a CmdVisit)>,
    pub(super) left: Vec<(u64, i32)>,
    pub(super) ended: Option<JobEnd<'a>>,
    pub(super) killed: Option<u64>,
    pub(super) was_stopped: bool,
    pub(super) hung: bool,
}

/// How a job ended.
#[derive(Debug)]
pub(super) struct JobEnd<'a> {
    pub(super) at: u64,
    pub(super) status: i32,
    pub(super) out: &'a str,
    pub(super) err: &'a str,
}

impl<'a> DayTale<'a> {
    pub(super) fn of(events: &[&'a DayEvent]) -> Self {
        let mut tale = Self::default();
        for event in events {
            tale.hear(event);
        }
        for items in tale.delivered.values_mut() {
            items.sort_by_key(|delivery| delivery.fence);
        }
        tale
    }

    fn hear(&mut self, event: &'a DayEvent) {
        match &event.what {
            DayWhat::Started(start) => {
                self.jobs.insert(&event.who, JobTale::new(event, start));
            }
            DayWhat::OutageBegins => self.outages.push((event.at, u64::MAX)),
            DayWhat::OutageEnds => {
                if let Some((_, until)) = self.outages.last_mut() {
                    *until = event.at;
                }
            }
            DayWhat::Slow { from } => self.slow.push((*from, event.at)),
            DayWhat::Pushed { queue, payloads } => {
                self.pushed.insert(queue, payloads);
            }
            DayWhat::Delivered(delivery) => {
                self.delivered.entry(&delivery.queue).or_default().push(delivery);
            }
            _ => {
                if let Some(job) = self.jobs.get_mut(event.who.as_str()) {
                    job.hear(event);
                }
            }
        }
    }

    /// All names that jobs asked for.
    pub(super) fn names(&self) -> BTreeSet<&'a str> {
        self.jobs.values().filter_map(|job| Some(job.start.want.as_ref()?.name.as_str())).collect()
    }

    /// Returns whether the store was silent in this time for longer than `least`, or seemed silent
    /// to a machine that was too busy.
    pub(super) fn was_silent(&self, from: u64, until: u64, least: u64) -> bool {
        any(&self.outages, from, until, least) || self.was_slow(from, until, least)
    }

    /// Returns whether the machine was too busy in this time for longer than `least`.
    pub(super) fn was_slow(&self, from: u64, until: u64, least: u64) -> bool {
        any(&self.slow, from, until, least)
    }

    /// For how long the machine was too busy, in microseconds.
    pub(super) fn slow_time(&self) -> u64 {
        let is_calm = |(from, until): &&(u64, u64)| !any(&self.outages, *from, *until, 0);
        self.slow.iter().filter(is_calm).map(|(from, until)| until - from).sum()
    }
}

fn any(spans: &[(u64, u64)], from: u64, until: u64, least: u64) -> bool {
    spans
        .iter()
        .any(|(begin, end)| end.saturating_sub(*begin) > least && *begin <= until && *end >= from)
}

impl<'a> JobTale<'a> {
    fn new(event: &'a DayEvent, start: &'a JobStart) -> Self {
        Self {
            who: &event.who,
            start,
            started: event.at,
            queued: BTreeMap::new(),
            told: Vec::new(),
            exited: None,
            visits: Vec::new(),
            left: Vec::new(),
            ended: None,
            killed: None,
            was_stopped: false,
            hung: false,
        }
    }

    fn hear(&mut self, event: &'a DayEvent) {
        match &event.what {
            DayWhat::Queued { name } => {
                self.queued.entry(name).or_insert(event.at);
            }
            DayWhat::Told { event: told } => {
                self.told.push(told);
                self.exited = (told == "exited").then_some(event.at).or(self.exited);
            }
            DayWhat::Entered(visit) => self.visits.push((event.at, visit)),
            DayWhat::Left { status } => self.left.push((event.at, *status)),
            DayWhat::Ended { status, out, err } => {
                self.ended = Some(JobEnd { at: event.at, status: *status, out, err });
            }
            DayWhat::Killing => self.killed = Some(event.at),
            DayWhat::Stopped { .. } => self.was_stopped = true,
            DayWhat::Hung => self.hung = true,
            _ => {}
        }
    }

    /// When the job was over, as far as the history tells.
    pub(super) fn end(&self) -> u64 {
        self.ended.as_ref().map_or(u64::MAX, |end| end.at)
    }

    /// Until when the CMD that came in at this moment was certainly inside.
    pub(super) fn until(&self, entered: u64) -> u64 {
        let after = |at: &&(u64, i32)| at.0 >= entered;
        let left = self.left.iter().find(after).map(|(at, _)| *at);
        left.or_else(|| self.killed.filter(|at| *at >= entered)).unwrap_or(entered)
    }

    /// The fence of the job's first grant at the name that it asks for.
    pub(super) fn fence(&self) -> Option<u64> {
        self.visits.first()?.1.fence
    }
}
