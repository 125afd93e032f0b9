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

use crate::script::double;
use seinpaal_store::{Certainty, StoreError, StoreErrorKind};

/// Lua's numbers are exact up to here; what is beyond it is never.
const MOST_EXACT: u64 = 1 << 53;

/// One argument of the script.
pub(super) enum Argument<'a> {
    Made(Vec<u8>),
    Payload(&'a [u8]),
}

impl ToRedisArgs for Argument<'_> {
    fn write_redis_args<W: RedisWrite + ?Sized>(&self, out: &mut W) {
        match self {
            Self::Made(bytes) => out.write_arg(bytes),
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

/// Whose clock, who asks (as `SENDER` in `begin.lua` says: which batch that is, until when it counts, what number was
/// seen, and the session), and a line for each request; after that of a push the payload.
pub(super) fn arguments(batch: &Batch, now: Option<u64>) -> Vec<Argument<'_>> {
    let now = now.map(|now| now.to_string()).unwrap_or_default();
    let mut arguments = vec![Argument::Made(now.into_bytes()), Argument::Made(sender(batch))];
    for request in &batch.requests {
        arguments.push(Argument::Made(packed(request).unwrap_or_else(|| line(request).into())));
        if let Request::Push(push) = request {
            arguments.push(Argument::Payload(&push.payload));
        }
    }
    arguments
}

fn sender(batch: &Batch) -> Vec<u8> {
    let numbers = [batch.number, batch.not_after, batch.seen];
    let mut sender: Vec<u8> = numbers.into_iter().flat_map(double).collect();
    sender.extend(batch.session.to_string().bytes());
    sender
}

/// What goes on all the time, as `PUSH`, `POP` and `DELIVERY` in `begin.lua` say.
fn packed(request: &Request) -> Option<Vec<u8>> {
    match request {
        Request::Push(push) => packed_push(push),
        Request::Pop(pop) => Some(packed_pop(pop)),
        Request::Finish { delivery, how: How::Acknowledge } => packed_delivery(*delivery),
        _ => None,
    }
}

fn packed_push(push: &Push) -> Option<Vec<u8>> {
    let is_plain = push.due == Due::Now && push.group.is_none() && push.dedup.is_none();
    is_plain.then(|| {
        let mut packed = b"push:".to_vec();
        packed.extend(push.priority.get().to_le_bytes());
        packed.extend(push.most.to_le_bytes());
        packed.extend(push.about.bytes());
        packed
    })
}

fn packed_pop(pop: &Pop) -> Vec<u8> {
    let mut packed = b"pop:".to_vec();
    packed.push(u8::try_from(pop.items).unwrap_or(u8::MAX));
    packed.extend(double(pop.ttl));
    packed.extend(double(pop.margin));
    packed.extend([u8::from(pop.wait), u8::from(pop.drains)]);
    packed.extend(pop.about.bytes());
    packed
}

fn packed_delivery(Delivery { id, fence }: Delivery) -> Option<Vec<u8>> {
    (id.0 < MOST_EXACT && fence.0 < MOST_EXACT).then(|| {
        let mut packed = b"acknowledge:".to_vec();
        packed.extend(double(id.0));
        packed.extend(double(fence.0));
        packed
    })
}

fn line(request: &Request) -> String {
    match request {
        Request::Push(push) => push_line(push),
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
