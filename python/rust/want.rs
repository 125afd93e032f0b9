//! The requests of Python: the fields of `seinpaal._want.Want`, checked.

use std::time::Duration;

use pyo3::prelude::*;
use seinpaal::{Acquire, OnMismatch, Seinpaal, Semaphore, TryAcquire};

use crate::{
    failure::Failure,
    whole::{self, Whole},
};

/// A request for permits.
#[derive(FromPyObject)]
pub(crate) struct Want {
    kind: String,
    name: String,
    limit: Option<Whole>,
    on_mismatch: String,
    permits: Whole,
    priority: Whole,
    ttl: Option<f64>,
    timeout: Option<f64>,
    max_waiting: Option<Whole>,
    labels: Vec<(String, String)>,
    slot_names: Vec<String>,
}

pub(crate) fn seconds(what: &str, seconds: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        Failure::new("BadSetting", format!("{what} is a number of seconds, not {seconds}"))
    })
}

/// The options that both kinds of requests have.
macro_rules! described {
    ($request:expr, $want:expr) => {{
        let mut request = $request.priority(whole::priority(&$want.priority)?);
        if let Some(permits) = $want.permits()? {
            request = request.permits(permits);
        }
        if let Some(ttl) = $want.ttl {
            request = request.ttl(seconds("a ttl", ttl)?);
        }
        if let Some(timeout) = $want.timeout {
            request = request.timeout(seconds("a timeout", timeout)?);
        }
        for (key, value) in &$want.labels {
            request = request.label(key, value);
        }
        for name in &$want.slot_names {
            request = request.slot(name);
        }
        request
    }};
}

impl Want {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn ttl(&self) -> Option<f64> {
        self.ttl
    }

    /// The number of permits, if the caller may choose it. A writer always has all permits.
    fn permits(&self) -> Result<Option<u32>, Failure> {
        match self.kind.as_str() {
            "read" | "write"
                if matches!(self.permits, Whole::Small(1)) && self.slot_names.is_empty() =>
            {
                Ok(None)
            }
            "read" | "write" => {
                let message =
                    "a reader or a writer does not say how many permits it wants, or which";
                Err(Failure::new("BadCount", message))
            }
            _ => whole::permits(&self.permits).map(Some),
        }
    }

    pub(crate) fn acquire(&self, seinpaal: &Seinpaal) -> Result<Acquire, Failure> {
        let request = match self.kind.as_str() {
            "mutex" => seinpaal.mutex(&self.name).lock(),
            "read" => seinpaal.rwlock(&self.name).read(),
            "write" => seinpaal.rwlock(&self.name).write(),
            _ => self.semaphore(seinpaal)?.acquire(),
        };
        let request = described!(request, self);
        Ok(match &self.max_waiting {
            Some(most) => request.max_waiting(whole::max_waiting(most)?),
            None => request,
        })
    }

    pub(crate) fn try_acquire(&self, seinpaal: &Seinpaal) -> Result<TryAcquire, Failure> {
        let request = match self.kind.as_str() {
            "mutex" => seinpaal.mutex(&self.name).try_lock(),
            "read" => seinpaal.rwlock(&self.name).try_read(),
            "write" => seinpaal.rwlock(&self.name).try_write(),
            _ => self.semaphore(seinpaal)?.try_acquire(),
        };
        Ok(described!(request, self))
    }

    /// The semaphore, for requests that inspect or steer its name.
    pub(crate) fn semaphore(&self, seinpaal: &Seinpaal) -> Result<Semaphore, Failure> {
        let semaphore = match self.kind.as_str() {
            "mutex" => seinpaal.mutex(&self.name).as_semaphore().clone(),
            "read" | "write" => seinpaal.rwlock(&self.name).as_semaphore().clone(),
            _ => seinpaal.semaphore(&self.name),
        };
        let semaphore = semaphore.on_mismatch(match self.on_mismatch.as_str() {
            "adopt" => OnMismatch::Adopt,
            "set" => OnMismatch::Set,
            "exact" => OnMismatch::Exact,
            _ => OnMismatch::Refuse,
        });
        Ok(match &self.limit {
            None => semaphore,
            Some(limit) => semaphore.limit(whole::limit(limit)?),
        })
    }
}
