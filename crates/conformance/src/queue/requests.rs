//! The requests of the cases. What a case does not name has one ordinary value.

use std::time::Duration;

use seinpaal_proto::{
    Limit, Name, Priority,
    queue::{Configure, Dedup, Delivery, Due, FailureReason, How, Pop, Push, Renew, Request},
    time::{UNBOUNDED, micros},
};

use crate::requests::TTL_MICROS;

pub(crate) const AT_ONCE: Duration = Duration::ZERO;
pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const MINUTE: Duration = Duration::from_secs(60);
pub(crate) const HOUR: Duration = Duration::from_secs(3600);

/// An item of priority 0 without a group, at once, with three deliveries.
pub(crate) fn item(text: &str) -> Push {
    Push {
        payload: text.as_bytes().to_vec(),
        priority: Priority::default(),
        due: Due::Now,
        group: None,
        dedup: None,
        most: 3,
        about: String::new(),
    }
}

/// As [`item`], with a priority.
pub(crate) fn ranked(text: &str, priority: i32) -> Push {
    Push { priority: Priority::new(priority).unwrap(), ..item(text) }
}

/// As [`item`], of a group.
pub(crate) fn of_group(group: &str, text: &str) -> Push {
    Push { group: Some(Name::new(group).unwrap()), ..item(text) }
}

/// As [`item`], due after this long.
pub(crate) fn delayed(text: &str, delay: Duration) -> Push {
    Push { due: Due::In(micros(delay)), ..item(text) }
}

/// As [`item`], with a deduplication key.
pub(crate) fn keyed(key: &str, window: Duration) -> Push {
    Push {
        dedup: Some(Dedup { key: Name::new(key).unwrap(), window: micros(window) }),
        ..item(key)
    }
}

/// As [`item`], with at most this many deliveries.
pub(crate) fn allowed(text: &str, most: u32) -> Push {
    Push { most, ..item(text) }
}

/// A request for up to this many items, by a worker that does not wait. The clock may jump over the
/// ttl in one step.
pub(crate) fn pop(items: u32) -> Pop {
    Pop {
        items,
        ttl: TTL_MICROS,
        margin: UNBOUNDED,
        wait: false,
        drains: false,
        about: String::new(),
    }
}

/// As [`pop`], by a worker that waits for the missing items.
pub(crate) fn waiting(items: u32) -> Pop {
    Pop { wait: true, ..pop(items) }
}

/// As [`waiting`], by a worker that leaves when the queue is empty.
pub(crate) fn draining(items: u32) -> Pop {
    Pop { drains: true, ..waiting(items) }
}

pub(crate) fn finish(delivery: Delivery, how: How) -> Request {
    Request::Finish { delivery, how }
}

pub(crate) fn acknowledge(delivery: Delivery) -> Request {
    finish(delivery, How::Acknowledge)
}

pub(crate) fn give_back(delay: Duration) -> How {
    How::GiveBack { delay: micros(delay) }
}

pub(crate) fn fail(reason: &str, delay: Duration) -> How {
    How::Fail { delay: micros(delay), reason: FailureReason::new(reason) }
}

pub(crate) fn renew(deliveries: &[Delivery]) -> Request {
    let deliveries = deliveries.to_vec();
    Request::Renew(Renew { ttl: TTL_MICROS, margin: UNBOUNDED, deliveries })
}

pub(crate) fn limit(limit: u32) -> Request {
    Request::Configure(Configure::Limit(Some(Limit::new(limit).unwrap())))
}

pub(crate) fn group_limit(limit: u32) -> Request {
    Request::Configure(Configure::GroupLimit(Some(Limit::new(limit).unwrap())))
}

pub(crate) fn pause(reason: &str) -> Request {
    Request::Configure(Configure::Pause(reason.to_owned()))
}

pub(crate) fn resume() -> Request {
    Request::Configure(Configure::Resume)
}
