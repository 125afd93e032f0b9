//! The answers of the script of queues.

use redis::Value;
use seinpaal_proto::{
    Fence, Name, Priority,
    queue::{
        Delivery, DeliveryHistory, GroupRow, ItemId, ItemRow, Popped, Replies, Reply, Request,
        RowState, Snapshot, WorkRow,
    },
};

use super::{straight, words::ReplyWords};
use crate::decode::unreadable;
use seinpaal_store::StoreError;

/// Reads the answer to these requests.
pub(super) fn parse(answer: Value, requests: &[Request]) -> Result<Replies, StoreError> {
    if straight::is_straight(&answer) {
        return straight::read(&answer, requests).ok_or_else(|| unreadable(&answer));
    }
    let Value::Array(mut answers) = answer else { return Err(unreadable(&answer)) };
    let done = answers.first().and_then(done_of);
    let (Some(done), true) = (done, answers.len() == requests.len() + 1) else {
        return Err(unreadable(&Value::Array(answers)));
    };
    let mut replies = Vec::with_capacity(requests.len());
    for (answer, request) in answers.drain(1..).zip(requests) {
        replies.push(reply(answer, request).map_err(|unread| unreadable(&unread))?);
    }
    Ok(Replies { replies, ..done })
}

fn done_of(value: &Value) -> Option<Replies> {
    let mut words = ReplyWords::of(value)?;
    words.expect("done")?;
    Some(Replies {
        now: words.number()?,
        replies: Vec::new(),
        backlog: words.flag()?,
        look_in: words.or_dash()?,
    })
}

/// Reads the reply to a request. A value that cannot be read is returned as the error, to be shown.
fn reply(answer: Value, request: &Request) -> Result<Reply, Value> {
    let Value::Array(parts) = answer else {
        return said(&answer, request).ok_or(answer);
    };
    let Some((first, rest)) = parts.split_first() else { return Err(Value::Array(parts)) };
    let read = ReplyWords::of(first).and_then(|mut words| match words.word()? {
        "popped" => popped(words, rest),
        "snapshot" => snapshot(words, rest),
        "items" => items(&words, rest),
        _ => None,
    });
    read.ok_or(Value::Array(parts))
}

/// Reads a reply in words. The reply repeats numbers from the request, so a number that is not
/// exact on the server comes back as it was asked.
fn said(answer: &Value, request: &Request) -> Option<Reply> {
    let mut words = ReplyWords::of(answer)?;
    let reply = match request {
        Request::Renew(renew) if words.rest().starts_with("renewed ") => {
            words.word()?;
            return renewed(words, &renew.deliveries);
        }
        _ => Reply::from_line(words.rest()).ok()?,
    };
    Some(match (reply, request) {
        (Reply::Lost { .. }, Request::Finish { delivery, .. }) => Reply::Lost { id: delivery.id },
        (reply, _) => reply,
    })
}

/// Reads the reply to a renewal. A lost delivery is named by its place in the request.
fn renewed(mut words: ReplyWords<'_>, deliveries: &[Delivery]) -> Option<Reply> {
    let valid_for = Some(words.number()?);
    let places = words.rest().split(',').filter(|place| !place.is_empty());
    let lost = places.map(|place| deliveries.get(place.parse::<usize>().ok()?).copied());
    Some(Reply::Renewed { valid_for, lost: lost.collect::<Option<_>>()? })
}

fn popped(mut words: ReplyWords<'_>, rest: &[Value]) -> Option<Reply> {
    let (valid_for, left) = (Some(words.number()?), words.number()?);
    let items = in_pairs(rest)?.map(item).collect::<Option<Vec<_>>>()?;
    Some(Reply::Popped { items, valid_for, left })
}

fn in_pairs(rest: &[Value]) -> Option<impl Iterator<Item = (&Value, &Value)>> {
    let pairs = rest.chunks_exact(2);
    pairs.remainder().is_empty().then(|| pairs.map(|pair| (&pair[0], &pair[1])))
}

fn item((line, payload): (&Value, &Value)) -> Option<Popped> {
    let mut words = ReplyWords::of(line)?;
    let delivery = Delivery { id: ItemId(words.number()?), fence: Fence(words.number()?) };
    let (attempt, most, priority) = (words.parsed()?, words.parsed()?, priority(&mut words)?);
    let pushed = words.number()?;
    let (group, about) = words.counted()?;
    let (group, about) = (name(group)?, about.to_owned());
    let payload = bytes(payload)?.to_vec();
    Some(Popped { delivery, attempt, most, priority, group, about, pushed, payload })
}

fn snapshot(mut words: ReplyWords<'_>, rest: &[Value]) -> Option<Reply> {
    let mut snapshot = Snapshot {
        limit: narrow(words.or_dash()?)?,
        group_limit: narrow(words.or_dash()?)?,
        ready: words.parsed()?,
        delayed: words.parsed()?,
        in_work: words.parsed()?,
        dead: words.parsed()?,
        idle: words.parsed()?,
        oldest: words.or_dash()?,
        next_due: words.or_dash()?,
        paused: words.rest().strip_prefix(':').map(str::to_owned),
        ..Snapshot::default()
    };
    for row in rest {
        let mut words = ReplyWords::of(row)?;
        match words.word()? {
            "work" => snapshot.work.push(work(words)?),
            "group" => snapshot.groups.push(GroupRow {
                in_work: words.parsed()?,
                ready: words.parsed()?,
                group: Name::new(words.rest()).ok()?,
            }),
            _ => return None,
        }
    }
    Some(Reply::Snapshot(snapshot))
}

fn work(mut words: ReplyWords<'_>) -> Option<WorkRow> {
    let (id, fence) = (ItemId(words.number()?), Fence(words.number()?));
    let attempt = words.parsed()?;
    let (worked, valid_for) = (words.number()?, Some(words.number()?));
    let by = words.parsed()?;
    let (group, about) = words.counted()?;
    let (group, about) = (name(group)?, about.to_owned());
    Some(WorkRow { id, fence, attempt, group, by, about, worked, valid_for })
}

/// Reads a page of items: the place where the next page begins, and the rows.
fn items(words: &ReplyWords<'_>, rest: &[Value]) -> Option<Reply> {
    let next = match words.rest() {
        "-" => None,
        place => Some(place.parse().ok()?),
    };
    let rows = in_pairs(rest)?.map(item_row).collect::<Option<Vec<_>>>()?;
    Some(Reply::Items { rows, next })
}

fn item_row((line, payload): (&Value, &Value)) -> Option<ItemRow> {
    let mut words = ReplyWords::of(line)?;
    let standing = words.word()?;
    let (id, attempt, most) = (ItemId(words.number()?), words.parsed()?, words.parsed()?);
    let priority = priority(&mut words)?;
    let (pushed, length, said) = (words.number()?, words.parsed()?, words.word()?);
    // The texts stand last, behind their lengths, because they may contain any character.
    let sizes: [usize; 3] = [words.parsed()?, words.parsed()?, words.parsed()?];
    let (group, rest) = words.rest().split_at_checked(sizes[0])?;
    let (about, rest) = rest.split_at_checked(sizes[1])?;
    let (history, worker) = rest.split_at_checked(sizes[2])?;
    Some(ItemRow {
        id,
        state: state(standing, said, worker)?,
        attempt,
        most,
        priority,
        group: name(group)?,
        about: about.to_owned(),
        pushed,
        history: DeliveryHistory::decode(history),
        bytes: length,
        payload: bytes(payload)?.to_vec(),
    })
}

fn state(standing: &str, said: &str, worker: &str) -> Option<RowState> {
    Some(match standing {
        "o" | "r" => RowState::Ready,
        "d" => RowState::Delayed { due: said.parse().ok()? },
        "x" => RowState::Dead { at: said.parse().ok()? },
        "w" => {
            let mut parts = said.splitn(4, ':');
            RowState::InWork {
                fence: Fence(parts.next()?.parse().ok()?),
                worked: parts.next()?.parse().ok()?,
                valid_for: Some(parts.next()?.parse().ok()?),
                by: parts.next()?.parse().ok()?,
                about: worker.to_owned(),
            }
        }
        _ => return None,
    })
}

fn priority(words: &mut ReplyWords<'_>) -> Option<Priority> {
    Priority::new(words.parsed()?).ok()
}

/// Reads the name of a group. An empty text stands for no group.
fn name(text: &str) -> Option<Option<Name>> {
    if text.is_empty() { Some(None) } else { Name::new(text).ok().map(Some) }
}

fn narrow(number: Option<u64>) -> Option<Option<u32>> {
    number.map(u32::try_from).transpose().ok()
}

fn bytes(value: &Value) -> Option<&[u8]> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        Value::SimpleString(text) => Some(text.as_bytes()),
        _ => None,
    }
}
