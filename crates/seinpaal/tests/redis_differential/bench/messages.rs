//! Wakeups as they are published, by docs/internals/stores/redis.md.

use redis::Value;
use seinpaal_proto::{Cause, Inbox, Wakeup, What};

use super::{super::history, KEY};

pub(super) fn channel(i: u64) -> String {
    channel_of(history::inbox(i))
}

pub(super) fn channel_of(inbox: Inbox) -> String {
    format!("seinpaal:inbox:{inbox}")
}

pub(super) fn text(value: &Value) -> String {
    redis::from_redis_value_ref(value).unwrap()
}

/// A wakeup in the form in which docs/internals/stores/redis.md says that it is published.
pub(super) fn message(wakeup: &Wakeup) -> String {
    let (channel, ticket) = (channel_of(wakeup.inbox), wakeup.ticket);
    match &wakeup.what {
        What::Granted { fence, slots, limit } => {
            format!("{channel} granted {ticket} {fence} {slots} {limit} {KEY}")
        }
        What::Ended(cause) => format!("{channel} ended {ticket} {} {KEY}", word(*cause)),
    }
}

fn word(cause: Cause) -> &'static str {
    match cause {
        Cause::Released => "released",
        Cause::Cancelled => "cancelled",
        Cause::Expired => "expired",
        Cause::Evicted => "evicted",
        Cause::TooMany => "toomany",
        Cause::Attached => "attached",
    }
}
