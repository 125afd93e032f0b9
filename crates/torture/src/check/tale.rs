//! The history, request by request.

use std::{collections::BTreeMap, fmt};

use crate::history::{HistoryEvent, TortureWhat};

/// The fault that sets the store's clock.
pub(super) const CLOCK_FAULT: &str = "clock-server";

/// The history of all requests.
#[derive(Debug, Default)]
pub(super) struct PermitTale {
    /// The names and their limits.
    pub(super) names: BTreeMap<String, u32>,
    /// All requests, in the order in which they were made.
    pub(super) requests: Vec<ToldRequest>,
    /// The times of faults, in order.
    pub(super) windows: Vec<Window>,
    /// The times in which the store could grant nothing. `None` if there was no lookout.
    pub(super) outages: Option<Vec<(u64, u64)>>,
    /// The lives that were stopped, each with the moments at which it stopped and went on.
    pub(super) stops: Vec<(String, u64, u64)>,
}

/// The history of one request.
#[derive(Debug)]
pub(super) struct ToldRequest {
    pub(super) req: String,
    pub(super) life: String,
    pub(super) name: String,
    pub(super) permits: u32,
    pub(super) asked: u64,
    pub(super) timeout: Option<u64>,
    pub(super) queued: Option<u64>,
    /// The moment from which the request certainly no longer waited.
    pub(super) ends: u64,
    pub(super) grant: Option<ToldGrant>,
}

/// The grant of a request.
#[derive(Debug)]
pub(super) struct ToldGrant {
    pub(super) at: u64,
    pub(super) ticket: String,
    pub(super) fence: u64,
    pub(super) slots: Vec<u32>,
    /// The moment until which the holder believed in the permit.
    pub(super) until: u64,
    pub(super) cause: FreedBy,
}

/// The time of one fault.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) fault: String,
    /// The worker that the fault concerns. `None` if it concerns all.
    pub(super) worker: Option<usize>,
    pub(super) from: u64,
    pub(super) to: u64,
}

impl PermitTale {
    /// Reads the tale from the events, in order of time.
    #[must_use]
    pub(super) fn tell(events: &[HistoryEvent]) -> Self {
        let mut tale = Self::default();
        let mut at = BTreeMap::new();
        for event in events {
            tale.take(event, &mut at);
        }
        tale.close(events.last().map_or(0, |event| event.at));
        tale
    }

    /// Ends all requests and faults that have not ended, at the end of the history. Only a belief
    /// may last longer.
    fn close(&mut self, at: u64) {
        self.requests.iter_mut().for_each(|request| request.end(at));
        self.windows.iter_mut().for_each(|window| window.to = window.to.min(at));
        self.outages.iter_mut().flatten().for_each(|outage| outage.1 = outage.1.min(at));
        self.stops.iter_mut().for_each(|stop| stop.2 = stop.2.min(at));
    }

    fn take(&mut self, event: &HistoryEvent, places: &mut BTreeMap<String, usize>) {
        match &event.what {
            TortureWhat::Name { name, limit } => {
                self.names.insert(name.clone(), *limit);
            }
            TortureWhat::Want { req, .. } => {
                places.insert(req.clone(), self.requests.len());
                self.requests.extend(ToldRequest::asked(event));
            }
            TortureWhat::Killing { life } => self.end_life(life, event.at, FreedBy::Death),
            TortureWhat::Ended => self.end_life(&event.who, event.at, FreedBy::Release),
            TortureWhat::Stopping { life } => self.stops.push((life.clone(), event.at, u64::MAX)),
            TortureWhat::Continued { life } => {
                let stop = self.stops.iter_mut().rev().find(|stop| stop.0 == *life);
                stop.into_iter().for_each(|stop| stop.2 = event.at);
            }
            TortureWhat::Broken => self.outages.get_or_insert_default().push((event.at, u64::MAX)),
            TortureWhat::Whole => {
                let open = self.outages.iter_mut().flatten().filter(|outage| outage.1 == u64::MAX);
                open.for_each(|outage| outage.1 = event.at);
            }
            TortureWhat::FaultBegins { fault, worker } => {
                let (fault, worker) = (fault.clone(), *worker);
                self.windows.push(Window { fault, worker, from: event.at, to: u64::MAX });
            }
            TortureWhat::FaultEnds { fault, .. } => {
                let window = self.windows.iter_mut().rev().find(|window| window.fault == *fault);
                window.into_iter().for_each(|window| window.to = event.at);
            }
            what => {
                let place = req_of(what).and_then(|req| places.get(req));
                if let Some(request) = place.and_then(|place| self.requests.get_mut(*place)) {
                    request.take(event);
                }
            }
        }
    }

    fn end_life(&mut self, life: &str, at: u64, cause: FreedBy) {
        for request in self.requests.iter_mut().filter(|request| request.life == life) {
            request.end(at);
            if let Some(grant) = &mut request.grant {
                grant.end(at, cause);
            }
        }
    }

    /// Returns the times of faults, outages and stops.
    pub(super) fn trouble(&self) -> impl Iterator<Item = (u64, u64)> {
        let faults = self.windows.iter().map(|window| (window.from, window.to));
        let stops = self.stops.iter().map(|stop| (stop.1, stop.2));
        faults.chain(stops).chain(self.outages.iter().flatten().copied())
    }

    /// Returns the fence that a grant at this moment would get if nobody had set the clock. `None`
    /// if there was no grant before the clock was set.
    ///
    /// A worker notes a grant some time after the store has made it. The grant that was noted
    /// soonest says most about the clock: of the fences less their times, it has the greatest.
    pub(super) fn fence_at(&self, at: u64) -> Option<u64> {
        let set = self.windows.iter().filter(|window| window.fault == CLOCK_FAULT);
        let set = set.map(|window| window.from).min().unwrap_or(u64::MAX);
        let grants = self.requests.iter().filter_map(|request| request.grant.as_ref());
        let right = grants.filter(|grant| grant.at < set);
        let ahead = right.map(|grant| i128::from(grant.fence) - i128::from(grant.at)).max()?;
        u64::try_from(ahead + i128::from(at)).ok()
    }

    /// Counts the permits that a life believes in at this moment, and its requests that wait.
    pub(super) fn stake(&self, life: &str, at: u64) -> [u64; 2] {
        let of_life = || self.requests.iter().filter(|request| request.life == life);
        let holds = of_life().filter(|request| {
            request.grant.as_ref().is_some_and(|grant| grant.at <= at && grant.until >= at)
        });
        let waits = of_life().filter(|request| request.asked <= at && request.ends >= at);
        [holds.count() as u64, waits.count() as u64]
    }

    /// Returns the requests for a name that were granted, in the order in which they were made.
    pub(super) fn granted<'a>(
        &'a self,
        name: &'a str,
    ) -> impl Iterator<Item = (&'a ToldRequest, &'a ToldGrant)> {
        let of_name = self.requests.iter().filter(move |request| request.name == name);
        of_name.filter_map(|request| Some((request, request.grant.as_ref()?)))
    }
}

impl ToldRequest {
    fn asked(event: &HistoryEvent) -> Option<Self> {
        let TortureWhat::Want { req, name, permits, timeout } = &event.what else { return None };
        let ends = timeout.map_or(u64::MAX, |timeout| event.at.saturating_add(timeout));
        Some(Self {
            req: req.clone(),
            life: event.who.clone(),
            name: name.clone(),
            permits: *permits,
            asked: event.at,
            timeout: *timeout,
            queued: None,
            ends,
            grant: None,
        })
    }

    fn take(&mut self, event: &HistoryEvent) {
        let at = event.at;
        match (&event.what, &mut self.grant) {
            (TortureWhat::Queued { .. }, _) => self.queued = Some(at),
            (TortureWhat::Withdrawn { .. } | TortureWhat::Refused { .. }, _) => self.end(at),
            (TortureWhat::Granted { ticket, fence, slots, until, .. }, None) => {
                let (ticket, slots) = (ticket.clone(), slots.clone());
                let until = until.unwrap_or(u64::MAX);
                let cause = FreedBy::LeaseEnd;
                self.grant = Some(ToldGrant { at, ticket, fence: *fence, slots, until, cause });
                self.end(at);
            }
            (TortureWhat::Held { until, .. }, Some(grant)) if grant.cause == FreedBy::LeaseEnd => {
                grant.until = until.unwrap_or(u64::MAX);
            }
            (TortureWhat::Releasing { .. }, Some(grant)) => grant.end(at, FreedBy::Release),
            (TortureWhat::Lost { .. }, Some(grant)) => grant.end(at, FreedBy::LeaseEnd),
            _ => {}
        }
    }

    fn end(&mut self, at: u64) {
        self.ends = self.ends.min(at);
    }

    /// Returns the number of the worker that made the request.
    pub(super) fn worker(&self) -> Option<usize> {
        worker_of(&self.life)
    }
}

impl ToldGrant {
    fn end(&mut self, at: u64, cause: FreedBy) {
        if at < self.until {
            (self.until, self.cause) = (at, cause);
        }
    }
}

/// Returns the worker's number in the name of a life: 1 for `w1.3`.
pub(crate) fn worker_of(life: &str) -> Option<usize> {
    life.strip_prefix('w')?.split('.').next()?.parse().ok()
}

fn req_of(what: &TortureWhat) -> Option<&str> {
    match what {
        TortureWhat::Queued { req, .. }
        | TortureWhat::Granted { req, .. }
        | TortureWhat::Held { req, .. }
        | TortureWhat::Lost { req, .. }
        | TortureWhat::Releasing { req }
        | TortureWhat::Released { req, .. }
        | TortureWhat::Withdrawn { req }
        | TortureWhat::Refused { req, .. } => Some(req),
        _ => None,
    }
}

/// The reason why a grant became possible.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum FreedBy {
    /// The holder gave the permits back.
    Release,
    /// The holder was killed.
    Death,
    /// The belief of the holder ended by itself.
    LeaseEnd,
    /// The permits were free already, and a request came.
    Arrival,
}

impl fmt::Display for FreedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Release => "release",
            Self::Death => "holder's death",
            Self::LeaseEnd => "end of lease",
            Self::Arrival => "request for free permits",
        })
    }
}

/// A request and its grant.
pub(super) type GrantedRequest<'a> = (&'a ToldRequest, &'a ToldGrant);

pub(super) fn told((request, grant): &GrantedRequest<'_>) -> String {
    let ToldRequest { req, permits, .. } = request;
    let ToldGrant { at, fence, until, cause, .. } = grant;
    let until = if *until == u64::MAX { "life".to_owned() } else { until.to_string() };
    format!("{req} has {permits} from {at} until {until} ({cause}), fence {fence}")
}
