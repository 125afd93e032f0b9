//! The arguments of the script of queues: the requests one after the other, and then the payloads
//! unchanged. `lua/queue/forms.lua` has the formats.

use redis::{RedisWrite, ToRedisArgs};
use seinpaal_proto::{
    Limit,
    queue::{
        Batch, Configure, Dedup, Delivery, Due, How, MAX_PAYLOAD_BYTES, MOST_PAYLOAD, Pop, Purge,
        Push, Renew, Request,
    },
};

use super::words::double;
use seinpaal_store::{Certainty, StoreError, StoreErrorKind};

/// Lua's numbers are exact up to here. No item and no time is beyond it.
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

/// Refuses a batch that no session sends, before its payloads travel. The script also refuses too
/// many requests and a payload that is too long, but it does not check the sum of all payloads.
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

/// The arguments: one with the clock, the asker and the requests, and then the payload of each
/// push.
pub(super) fn arguments(batch: &Batch, now: Option<u64>) -> Vec<Argument<'_>> {
    let mut line = Vec::with_capacity(START_AND_ONE + 17 * batch.requests.len());
    line.extend(now.map_or((-1.0_f64).to_le_bytes(), double));
    line.extend([batch.number, batch.not_after, batch.seen].map(double).concat());
    line.extend(format!("s{}", batch.session).bytes());
    batch.requests.iter().for_each(|request| put(&mut line, request));
    let payloads = batch.requests.iter().filter_map(|request| match request {
        Request::Push(push) => Some(Argument::Payload(&push.payload)),
        _ => None,
    });
    [Argument::Made(line)].into_iter().chain(payloads).collect()
}

/// Room for the clock, the asker and most single requests.
const START_AND_ONE: usize = 160;

fn put(line: &mut Vec<u8>, request: &Request) {
    match request {
        // The kinds have the numbers that they have in `forms.lua`.
        Request::Push(push) => put_push(line, push),
        Request::Finish { delivery, how: How::Acknowledge } => {
            line.push(2);
            line.extend(listed(*delivery));
        }
        Request::Pop(pop) => put_pop(line, pop),
        Request::Renew(renew) => put_renew(line, renew),
        request => {
            line.push(6);
            put_text(line, &words(request));
        }
    }
}

/// Puts a push. The due time, the group and the key follow if the push has any of them.
fn put_push(line: &mut Vec<u8>, push: &Push) {
    let is_plain = push.due == Due::Now && push.group.is_none() && push.dedup.is_none();
    line.push(if is_plain { 1 } else { 5 });
    line.extend(push.priority.get().to_le_bytes());
    line.extend(push.most.to_le_bytes());
    put_text(line, &push.about);
    if is_plain {
        return;
    }
    let (how, due) = match push.due {
        Due::Now => (0, 0),
        Due::In(delay) => (1, delay),
        Due::At(at) => (2, at),
    };
    let (key, window) =
        push.dedup.as_ref().map_or(("", 0), |Dedup { key, window }| (&**key, *window));
    line.push(how);
    line.extend([due, window].map(double).concat());
    put_text(line, push.group.as_deref().unwrap_or_default());
    put_text(line, key);
}

fn put_pop(line: &mut Vec<u8>, pop: &Pop) {
    // A number that does not fit is out of range for the script in any case.
    line.extend([3, u8::try_from(pop.items).unwrap_or(u8::MAX)]);
    line.extend([pop.ttl, pop.margin].map(double).concat());
    line.extend([u8::from(pop.wait), u8::from(pop.drains)]);
    put_text(line, &pop.about);
}

fn put_renew(line: &mut Vec<u8>, renew: &Renew) {
    line.push(4);
    line.extend([renew.ttl, renew.margin].map(double).concat());
    line.extend(length(16 * renew.deliveries.len()));
    line.extend(renew.deliveries.iter().flat_map(|delivery| listed(*delivery)));
}

fn put_text(line: &mut Vec<u8>, text: &str) {
    line.extend(length(text.len()));
    line.extend(text.bytes());
}

/// The length of a text. A length that does not fit becomes the largest number, which the script
/// refuses.
fn length(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes()
}

/// A delivery as it is listed behind the head of a queue. A number that Lua cannot hold exactly
/// becomes one that no delivery has.
fn listed(Delivery { id, fence }: Delivery) -> [u8; 16] {
    let [id, fence] = [id.0, fence.0].map(|number| u128::from(number.min(MOST_EXACT)));
    (id << 64 | fence).to_be_bytes()
}

fn words(request: &Request) -> String {
    match request {
        Request::Finish { delivery, how } => finish_line(*delivery, how),
        Request::Leave => "leave".into(),
        Request::Cancel { id, spares_work: false } => format!("cancel {id}"),
        Request::Cancel { id, spares_work: true } => format!("cancel {id} waiting"),
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
        Request::List { after, rows } => format!("list {rows} {after}"),
        // `put` packs these requests. The script would refuse the word.
        Request::Push(_) | Request::Pop(_) | Request::Renew(_) => "packed".into(),
    }
}

fn dash(limit: Option<Limit>) -> String {
    limit.map_or_else(|| "-".into(), |limit| limit.to_string())
}

fn finish_line(Delivery { id, fence }: Delivery, how: &How) -> String {
    match how {
        How::GiveBack { delay } => format!("giveback {id} {fence} {}", delay.min(&MOST_EXACT)),
        How::Fail { delay, reason } => {
            format!("fail {id} {fence} {} {}", delay.min(&MOST_EXACT), reason.as_str())
        }
        // `put` packs an acknowledgement.
        How::Acknowledge => "packed".into(),
    }
}
