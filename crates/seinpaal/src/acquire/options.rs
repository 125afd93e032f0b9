//! The options of a request for permits, and the check of them before anything is sent.

use std::{sync::Arc, time::Duration};

use seinpaal_proto::{
    BadName, Enqueue, Kind, Limit, LimitRule, MAX_ABOUT_BYTES, Name, OnMismatch, Permits, Priority,
    RenewalPromise, SlotNames, time::Micros,
};

use crate::{
    driver::WantedPermits,
    error::{AcquireError, BadSetting},
    seinpaal::Seinpaal,
};

/// The options of all kinds of requests.
#[derive(Clone, Debug)]
pub(crate) struct AcquireOptions {
    pub(crate) seinpaal: Seinpaal,
    pub(crate) name: Result<Name, BadName>,
    pub(crate) kind: Kind,
    pub(crate) limit: Option<u32>,
    pub(crate) on_mismatch: OnMismatch,
    pub(crate) permits: u32,
    pub(crate) wishes: Vec<String>,
    pub(crate) priority: i32,
    pub(crate) ttl: Option<Duration>,
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) to_detach: bool,
}

impl AcquireOptions {
    /// Checks all options before anything is sent.
    pub(super) fn wanted(&self) -> Result<WantedPermits, AcquireError> {
        let limit = match self.limit {
            Some(limit) => {
                Some(LimitRule { limit: Limit::new(limit)?, on_mismatch: self.on_mismatch })
            }
            None => None,
        };
        let ttl = self.ttl.map(|ttl| self.seinpaal.checked_ttl(ttl)).transpose()?;
        Ok(WantedPermits {
            name: self.name.clone()?,
            kind: self.kind,
            permits: Permits::new(self.permits)?,
            wishes: self.wishes()?,
            limit,
            // An `Acquire` changes this after the other checks.
            enqueue: Enqueue::No,
            priority: Priority::new(self.priority)?,
            ttl,
            deadline: None,
            about: self.about(ttl)?,
            attach: None,
        })
    }

    fn wishes(&self) -> Result<SlotNames, BadSetting> {
        if self.wishes.is_empty() {
            return Ok(SlotNames::none());
        }
        let wishes = SlotNames::new(self.wishes.iter().cloned())?;
        if wishes.count() > self.permits {
            return Err(BadSetting::Wishes { slots: wishes.count(), permits: self.permits });
        }
        Ok(wishes)
    }

    fn about(&self, ttl: Option<Micros>) -> Result<Arc<str>, BadSetting> {
        check_labels(&self.labels)?;
        let about = self.seinpaal.client.about_with(&self.labels, self.promise(ttl));
        if about.len() > MAX_ABOUT_BYTES {
            return Err(BadSetting::AboutTooLong(about.len()));
        }
        Ok(about)
    }

    /// The promise of the holder to people who look at it: by when it renews. It promises nothing
    /// if the permit is to be detached, or if the store ends leases by sessions of its own, which
    /// may be shorter than the ttl.
    fn promise(&self, ttl: Option<Micros>) -> RenewalPromise {
        let config = self.seinpaal.handle.config();
        match ttl.unwrap_or(config.ttl) {
            ttl if self.to_detach || ttl > config.longest_lease => RenewalPromise::NONE,
            ttl => RenewalPromise::to(ttl),
        }
    }
}

pub(crate) fn check_labels(labels: &[(String, String)]) -> Result<(), BadSetting> {
    for (key, value) in labels {
        let is_odd = key.is_empty()
            || key.contains('=')
            || key.chars().chain(value.chars()).any(char::is_control);
        if is_odd {
            return Err(BadSetting::Label(format!("{key}={value}")));
        }
    }
    Ok(())
}
