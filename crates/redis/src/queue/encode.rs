//! Writes batches about queues as their script reads them. The format: lua/queues/README.md.

use redis::{RedisWrite, ToRedisArgs};
use seinpaal_proto::{
    Limit, Name,
    queue::{
        Batch, Configure, Delivery, Due, How, ItemId, ItemPosition, MAX_PAYLOAD_BYTES,
        MOST_PAYLOAD, Pop, Purge, Push, Request,
    },
    time::UNBOUNDED,
};
use seinpaal_store::{Certainty, StoreError, StoreErrorKind};

use super::layout::{NO_LIMIT, member, ranked};
use crate::encode::Setting;

/// One argument of the script.
pub(super) enum Argument<'a> {
    Requests(Vec<u8>),
    Payload(&'a [u8]),
}

impl ToRedisArgs for Argument<'_> {
    fn write_redis_args<W: RedisWrite + ?Sized>(&self, out: &mut W) {
        match self {
            Self::Requests(bytes) => out.write_arg(bytes),
            Self::Payload(payload) => out.write_arg(payload),
        }
    }
}

/// Refuses a batch that no session sends, before its payloads travel.
pub(super) fn refuse_too_much(batch: &Batch) -> Result<(), StoreError> {
    let payloads = payloads(batch).map(<[u8]>::len);
    let longest = payloads.clone().max().unwrap_or(0);
    if batch.requests.len() <= Batch::MOST
        && longest <= MAX_PAYLOAD_BYTES
        && payloads.sum::<usize>() <= MOST_PAYLOAD
    {
        return Ok(());
    }
    let message = format!(
        "a batch has at most {} requests and {MOST_PAYLOAD} bytes of payload, {MAX_PAYLOAD_BYTES} each: please report this",
        Batch::MOST
    );
    Err(refused(message))
}

/// The arguments of a batch: the requests, and then the payload of each push.
///
/// # Errors
/// If a request is too long for the format.
pub(super) fn arguments(batch: &Batch, setting: Setting) -> Result<Vec<Argument<'_>>, StoreError> {
    let requests = requests(batch, batch.requests.iter().map(body_of), setting)?;
    let payloads = payloads(batch).map(Argument::Payload);
    Ok([Argument::Requests(requests)].into_iter().chain(payloads).collect())
}

/// The argument of an inspection that goes on with a page at this cursor.
pub(super) fn page(
    batch: &Batch,
    rows: u32,
    cursor: &[u8],
    setting: Setting,
) -> Result<Vec<u8>, StoreError> {
    let batch = Batch { number: 0, requests: Vec::new(), ..batch.clone() };
    requests(&batch, [(14, list(rows, cursor))].into_iter(), setting)
}

fn requests(
    batch: &Batch,
    bodies: impl Iterator<Item = (u8, Vec<u8>)>,
    setting: Setting,
) -> Result<Vec<u8>, StoreError> {
    let mut out = vec![setting.options()];
    out.extend([batch.number, batch.not_after, batch.seen].map(number).as_flattened());
    out.extend(batch.session.0.to_be_bytes());
    for (code, body) in bodies {
        let size =
            u16::try_from(body.len()).map_err(|_| refused("a request is too long".into()))?;
        out.push(code);
        out.extend(size.to_le_bytes());
        out.extend(body);
    }
    out.extend(setting.now.map(number).as_slice().as_flattened());
    Ok(out)
}

fn payloads(batch: &Batch) -> impl Iterator<Item = &[u8]> + Clone {
    batch.requests.iter().filter_map(|request| match request {
        Request::Push(push) => Some(&push.payload[..]),
        _ => None,
    })
}

/// The code of a request, and what follows it.
fn body_of(request: &Request) -> (u8, Vec<u8>) {
    match request {
        Request::Push(push) => (1, push_body(push)),
        Request::Pop(pop) => (2, pop_body(pop)),
        Request::Finish { delivery, how } => match how {
            How::Acknowledge => (3, attempt(*delivery).to_vec()),
            How::GiveBack { delay } => (4, [&attempt(*delivery)[..], &number(*delay)].concat()),
            How::Fail { delay, reason } => {
                let reason = reason.as_str().as_bytes();
                (5, [&attempt(*delivery), &number(*delay)[..], reason].concat())
            }
        },
        Request::Renew(renew) => {
            let attempts = renew.deliveries.iter().flat_map(|delivery| attempt(*delivery));
            (
                6,
                [renew.ttl, renew.margin]
                    .map(number)
                    .into_iter()
                    .flatten()
                    .chain(attempts)
                    .collect(),
            )
        }
        Request::Leave => (7, Vec::new()),
        Request::Cancel { id, spares_work } => {
            (8, [&job(*id)[..], &[u8::from(*spares_work)]].concat())
        }
        Request::Replay { id } => (9, job(*id).to_vec()),
        Request::Drop { id } => (10, job(*id).to_vec()),
        Request::Purge(Purge::Waiting) => (11, b"w".to_vec()),
        Request::Purge(Purge::Dead) => (11, b"x".to_vec()),
        Request::Configure(change) => (12, configure(change)),
        Request::Inspect { rows } => (13, short(*rows).to_vec()),
        Request::List { after, rows } => (14, list(*rows, &cursor(after))),
    }
}

fn push_body(push: &Push) -> Vec<u8> {
    let (how, when) = match push.due {
        Due::Now => (0, 0),
        Due::In(delay) => (1, delay),
        Due::At(at) => (2, at),
    };
    let group = push.group.as_deref().unwrap_or_default();
    let (key, window) =
        push.dedup.as_ref().map_or(("", 0), |dedup| (dedup.key.as_str(), dedup.window));
    let how = how + 4 * u8::from(!group.is_empty()) + 8 * u8::from(!key.is_empty());
    let mut out = push.priority.get().to_le_bytes().to_vec();
    out.extend(push.most.to_le_bytes());
    out.push(how);
    out.extend([when, window].map(number).as_flattened());
    out.extend([group, key].map(|text| (text.len() as u16).to_le_bytes()).as_flattened());
    [group, key, &push.about].iter().for_each(|text| out.extend(text.bytes()));
    out
}

fn pop_body(pop: &Pop) -> Vec<u8> {
    // A number that does not fit is out of range for the script in any case.
    let mut out = vec![u8::try_from(pop.items).unwrap_or(u8::MAX)];
    out.extend([pop.ttl, pop.margin].map(number).as_flattened());
    out.push(u8::from(pop.wait) + 2 * u8::from(pop.drains));
    out.extend(pop.about.bytes());
    out
}

fn configure(change: &Configure) -> Vec<u8> {
    let limited = |letter: u8, limit: &Option<Limit>| {
        [&[letter][..], &limit.map_or(NO_LIMIT, Limit::get).to_le_bytes()].concat()
    };
    match change {
        Configure::Limit(limit) => limited(b'l', limit),
        Configure::GroupLimit(limit) => limited(b'g', limit),
        Configure::Pause(reason) => [b"p", reason.as_bytes()].concat(),
        Configure::Resume => b"r".to_vec(),
    }
}

fn list(rows: u32, cursor: &[u8]) -> Vec<u8> {
    [&short(rows), cursor].concat()
}

/// The member of the order behind which a list begins.
fn cursor(place: &ItemPosition) -> Vec<u8> {
    match place {
        ItemPosition::Open(rank, id) => member(b"a", ranked(*rank), *id),
        ItemPosition::Grouped(None, ..) => b"g".to_vec(),
        ItemPosition::Grouped(Some(group), rank, id) => {
            member(&of_group(group), ranked(*rank), *id)
        }
        ItemPosition::Delayed(time, id) => member(b"d", *time, *id),
        ItemPosition::InWork(time, id) => member(b"e", *time, *id),
        ItemPosition::Dead(id) => [&b"x"[..], &job(*id)].concat(),
    }
}

/// The letters with which the members of a group begin.
pub(super) fn of_group(group: &Name) -> Vec<u8> {
    [b"g", group.as_bytes(), b"\0"].concat()
}

/// A number as Lua has it, exact up to 2^53. A larger one means *without end*.
#[allow(clippy::cast_precision_loss, reason = "it is exact up to the bound")]
fn number(number: u64) -> [u8; 8] {
    (number.min(UNBOUNDED) as f64).to_le_bytes()
}

/// A number of rows. The script gives fewer in any case if it is that large.
fn short(rows: u32) -> [u8; 2] {
    u16::try_from(rows).unwrap_or(u16::MAX).to_le_bytes()
}

fn job(id: ItemId) -> [u8; 8] {
    id.0.to_be_bytes()
}

fn attempt(Delivery { id, fence }: Delivery) -> [u8; 16] {
    (u128::from(id.0) << 64 | u128::from(fence.0)).to_be_bytes()
}

fn refused(message: String) -> StoreError {
    StoreError::new(StoreErrorKind::Internal, Certainty::NotExecuted, message)
}
