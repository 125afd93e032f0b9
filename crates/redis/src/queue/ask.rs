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

/// Whose clock, who asks (as `SENDER` in `forms.lua` says: which batch that is, until when it counts, what number was
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
    [&numbers(batch)[..], batch.session.to_string().as_bytes()].concat()
}

pub(super) fn numbers(batch: &Batch) -> Vec<u8> {
    [batch.number, batch.not_after, batch.seen].map(double).concat()
}

/// What goes on all the time, as `PUSH`, `POP` and `DELIVERY` in `forms.lua` say.
fn packed(request: &Request) -> Option<Vec<u8>> {
    match request {
        Request::Push(push) => Some([b"push:", &*push_terms(push)?].concat()),
        Request::Pop(pop) => {
            let items = u8::try_from(pop.items).unwrap_or(u8::MAX);
            Some([b"pop:", &[items][..], &*pop_terms(pop)].concat())
        }
        Request::Finish { delivery, how: How::Acknowledge } => {
            Some([b"acknowledge:", &listed(*delivery)?[..]].concat())
        }
        _ => None,
    }
}

/// What a push says before its payload, if it is due at once and has no group and no key.
pub(super) fn push_terms(push: &Push) -> Option<Vec<u8>> {
    let is_plain = push.due == Due::Now && push.group.is_none() && push.dedup.is_none();
    is_plain.then(|| {
        let mut terms = push.priority.get().to_le_bytes().to_vec();
        terms.extend(push.most.to_le_bytes());
        terms.extend(push.about.bytes());
        terms
    })
}

/// What a pop says besides how many items it asks for.
pub(super) fn pop_terms(pop: &Pop) -> Vec<u8> {
    let mut terms = [double(pop.ttl), double(pop.margin)].concat();
    terms.extend([u8::from(pop.wait), u8::from(pop.drains)]);
    terms.extend(pop.about.bytes());
    terms
}

/// A delivery as it is listed behind the head of a queue.
pub(super) fn listed(Delivery { id, fence }: Delivery) -> Option<[u8; 16]> {
    let is_exact = id.0 < MOST_EXACT && fence.0 < MOST_EXACT;
    is_exact.then(|| (u128::from(id.0) << 64 | u128::from(fence.0)).to_be_bytes())
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
