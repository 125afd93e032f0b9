//! What the script of queues is given: lines of text, and payloads as they are.

use std::fmt::Write;

use redis::{RedisWrite, ToRedisArgs};
use seinpaal_proto::{
    Limit,
    queue::{
        Batch, Configure, Delivery, Due, How, MAX_PAYLOAD_BYTES, MOST_PAYLOAD, Pop, Purge, Push,
        Renew, Request,
    },
};

use crate::store::{Certainty, StoreError, StoreErrorKind};

/// Lua's numbers are exact up to here; what is beyond it is never.
const MOST_EXACT: u64 = 1 << 53;

/// One argument of the script.
pub(super) enum Argument<'a> {
    Text(String),
    Payload(&'a [u8]),
}

impl ToRedisArgs for Argument<'_> {
    fn write_redis_args<W: RedisWrite + ?Sized>(&self, out: &mut W) {
        match self {
            Self::Text(text) => out.write_arg(text.as_bytes()),
            Self::Payload(payload) => out.write_arg(payload),
        }
    }
}

/// What no session sends: it would be cut here, and then half of it done.
pub(super) fn refuse_too_much(batch: &Batch) -> Result<(), StoreError> {
    let payloads = batch.requests.iter().filter_map(|request| match request {
        Request::Push(push) => Some(push.payload.len()),
        _ => None,
    });
    let longest = payloads.clone().max().unwrap_or(0);
    let is_too_much = batch.requests.len() > Batch::MOST
        || longest > MAX_PAYLOAD_BYTES
        || payloads.sum::<usize>() > MOST_PAYLOAD;
    if !is_too_much {
        return Ok(());
    }
    let message = format!(
        "a batch has at most {} requests and {MOST_PAYLOAD} bytes of payload, {MAX_PAYLOAD_BYTES} each: please report this",
        Batch::MOST
    );
    Err(StoreError::new(StoreErrorKind::Internal, Certainty::NotExecuted, message))
}

/// Whose clock, who asks, which batch that is and until when it counts, what number was seen, and a line for
/// each request; after that of a push the payload.
pub(super) fn arguments(batch: &Batch, now: Option<u64>) -> Vec<Argument<'_>> {
    let mut arguments = vec![
        Argument::Text(now.map(|now| now.to_string()).unwrap_or_default()),
        Argument::Text(batch.session.to_string()),
        exact(batch.number),
        exact(batch.not_after),
        exact(batch.seen),
    ];
    for request in &batch.requests {
        arguments.push(Argument::Text(line(request)));
        if let Request::Push(push) = request {
            arguments.push(Argument::Payload(&push.payload));
        }
    }
    arguments
}

fn exact(number: u64) -> Argument<'static> {
    Argument::Text(number.min(MOST_EXACT).to_string())
}

fn line(request: &Request) -> String {
    match request {
        Request::Push(push) => push_line(push),
        Request::Pop(pop) => pop_line(pop),
        Request::Renew(renew) => renew_line(renew),
        Request::Finish { delivery, how } => finish_line(*delivery, how),
        Request::Leave => "leave".into(),
        Request::Cancel { id } => format!("cancel {id}"),
        Request::Replay { id } => format!("replay {id}"),
        Request::Drop { id } => format!("drop {id}"),
        Request::Purge(Purge::Waiting) => "purge waiting".into(),
        Request::Purge(Purge::Dead) => "purge dead".into(),
        Request::Configure(Configure::Limit(limit)) => format!("configure limit {}", dash(*limit)),
        Request::Configure(Configure::GroupLimit(limit)) => {
            format!("configure group {}", dash(*limit))
        }
        Request::Configure(Configure::Pause(reason)) => format!("configure pause {reason}"),
        Request::Configure(Configure::Resume) => "configure resume ".into(),
        Request::Inspect { rows } => format!("inspect {rows}"),
        Request::Dead { after, rows } => format!("dead {} {rows}", after.0.min(MOST_EXACT)),
        // The script refuses it, and says so, should the ledger ever know more than we do.
        _ => "unknown".into(),
    }
}

fn dash(limit: Option<Limit>) -> String {
    limit.map_or_else(|| "-".into(), |limit| limit.to_string())
}

fn push_line(push: &Push) -> String {
    let due = match push.due {
        Due::Now => "-".into(),
        Due::In(delay) => format!("+{}", delay.min(MOST_EXACT)),
        Due::At(at) => format!("@{}", at.min(MOST_EXACT)),
    };
    let group = push.group.as_deref().unwrap_or_default();
    let (key, window) = match &push.dedup {
        Some(dedup) => (&*dedup.key, dedup.window),
        None => ("", 0),
    };
    format!(
        "push {} {due} {} {window} {} {} {group}{key}{}",
        push.priority.get(),
        push.most,
        group.len(),
        key.len(),
        push.about
    )
}

fn pop_line(pop: &Pop) -> String {
    let Pop { items, ttl, margin, wait, drains, about } = pop;
    let (margin, wait, drains) = (margin.min(&MOST_EXACT), u8::from(*wait), u8::from(*drains));
    format!("pop {items} {ttl} {margin} {wait} {drains} {about}")
}

fn renew_line(renew: &Renew) -> String {
    let mut line = format!("renew {} {} ", renew.ttl, renew.margin.min(MOST_EXACT));
    for Delivery { id, fence } in &renew.deliveries {
        // Writing to a String cannot fail.
        let _ = write!(line, "{id}:{fence},");
    }
    line
}

fn finish_line(Delivery { id, fence }: Delivery, how: &How) -> String {
    match how {
        How::Acknowledge => format!("acknowledge {id} {fence}"),
        How::GiveBack { delay } => format!("giveback {id} {fence} {}", delay.min(&MOST_EXACT)),
        How::Fail { delay, reason } => {
            format!("fail {id} {fence} {} {}", delay.min(&MOST_EXACT), reason.as_str())
        }
        _ => "unknown".into(),
    }
}
