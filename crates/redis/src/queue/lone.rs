//! What goes alone all the time: a push, a pop of one item, an acknowledgement, or an acknowledgement with the next pop.
//! `lua/queue/lean.lua` says how that travels, and takes it straight on.

use redis::Value;
use seinpaal_proto::{
    Fence, Priority,
    queue::{Batch, Delivery, How, ItemId, Popped, Replies, Reply, Request},
    time::UNBOUNDED,
};

use super::ask::{Argument, listed, numbers, pop_terms, push_terms};
use crate::{reply::exact, script::double};

/// Nothing if it is anything else.
pub(super) fn arguments(batch: &Batch, now: Option<u64>) -> Option<Vec<Argument<'_>>> {
    let (operation, terms) = terms(&batch.requests)?;
    let now = now.map_or((-1.0_f64).to_le_bytes(), double);
    let session = batch.session.to_string();
    let parts = [&[operation], &now[..], &numbers(batch), b"s", session.as_bytes(), &terms];
    let mut arguments = vec![Argument::Made(parts.concat())];
    if let [Request::Push(push)] = &batch.requests[..] {
        arguments.push(Argument::Payload(&push.payload));
    }
    Some(arguments)
}

/// Which it is, and what it says.
fn terms(requests: &[Request]) -> Option<(u8, Vec<u8>)> {
    match requests {
        [Request::Push(push)] => Some((1, push_terms(push)?)),
        [Request::Pop(pop)] if pop.items == 1 => Some((2, pop_terms(pop))),
        [Request::Finish { delivery, how: How::Acknowledge }] => {
            Some((3, listed(*delivery)?.to_vec()))
        }
        [Request::Finish { delivery, how: How::Acknowledge }, Request::Pop(pop)]
            if pop.items == 1 =>
        {
            Some((4, [&listed(*delivery)?[..], &pop_terms(pop)].concat()))
        }
        _ => None,
    }
}

/// Whether an answer is that of the straight path: of what begins with a word only the first byte of a number is 0.
pub(super) fn is_lone(answer: &Value) -> bool {
    match answer {
        Value::Array(parts) => {
            matches!(parts.first(), Some(Value::BulkString(first)) if first.first() == Some(&0))
        }
        Value::Int(_) | Value::BulkString(_) => true,
        _ => false,
    }
}

/// What was asked, with what the answer adds.
pub(super) fn read(answer: &Value, requests: &[Request]) -> Option<Replies> {
    let (now, replies) = match answer {
        Value::Int(now) => (u64::try_from(*now).ok()?, vec![plainest(*now, requests)?]),
        Value::BulkString(told) => {
            let ([Request::Push(_)], 16) = (requests, told.len()) else { return None };
            (exact(told, 0)?, vec![Reply::Pushed { id: ItemId(exact(told, 8)?) }])
        }
        Value::Array(parts) => popped(parts, requests)?,
        _ => return None,
    };
    let is_whole = now <= UNBOUNDED && replies.len() == requests.len();
    is_whole.then_some(Replies { now, replies, backlog: false, look_in: None })
}

/// The time is all that is to be said: it is the number of an item, too.
fn plainest(now: i64, requests: &[Request]) -> Option<Reply> {
    match requests {
        [Request::Push(_)] => Some(Reply::Pushed { id: ItemId(now.try_into().ok()?) }),
        [request] => done(request),
        _ => None,
    }
}

/// What is said of an acknowledgement that counted.
pub(super) fn done(request: &Request) -> Option<Reply> {
    match request {
        Request::Finish { delivery, how: How::Acknowledge } => {
            Some(Reply::Acknowledged { id: delivery.id })
        }
        _ => None,
    }
}

fn popped(parts: &[Value], requests: &[Request]) -> Option<(u64, Vec<Reply>)> {
    let [Value::BulkString(told), Value::BulkString(payload)] = parts else { return None };
    let (Request::Pop(pop), before) = requests.split_last()? else { return None };
    let (now, left) = (exact(told, ITEM)?, exact(told, ITEM + 8)?);
    let item = item(told, ITEM + 16, payload)?;
    let mut replies = before.iter().map(done).collect::<Option<Vec<_>>>()?;
    replies.push(Reply::Popped { items: vec![item], valid_for: Some(pop.ttl), left });
    Some((now, replies))
}

/// How many bytes `POPPED` has before what the item's maker says of it.
pub(super) const ITEM: usize = 33;

/// An item that was popped and has no group, as `POPPED` says.
pub(super) fn item(told: &[u8], about_at: usize, payload: &[u8]) -> Option<Popped> {
    let id = u64::from_be_bytes(*told.first_chunk()?);
    let counted = |at: usize| Some(u32::from_le_bytes(*told.get(at..)?.first_chunk()?));
    let priority = i8::from_le_bytes(*told.get(32..)?.first_chunk()?);
    Some(Popped {
        delivery: Delivery { id: ItemId(id), fence: Fence(exact(told, 8)?) },
        attempt: counted(24)?,
        most: counted(28)?,
        priority: Priority::new(priority.into()).ok()?,
        group: None,
        about: std::str::from_utf8(told.get(about_at..)?).ok()?.to_owned(),
        pushed: exact(told, 16)?,
        payload: payload.to_vec(),
    })
    .filter(|_| id <= UNBOUNDED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seinpaal_proto::queue::Pop;

    fn finish() -> Request {
        let delivery = Delivery { id: ItemId(7), fence: Fence(8) };
        Request::Finish { delivery, how: How::Acknowledge }
    }

    fn pop() -> Request {
        let about = String::new();
        Request::Pop(Pop { items: 1, ttl: 5, margin: 1, wait: false, drains: false, about })
    }

    fn told() -> Vec<u8> {
        let numbers =
            |numbers: &[u64]| numbers.iter().copied().flat_map(double).collect::<Vec<_>>();
        let counts = [1_u32, 3].map(u32::to_le_bytes).concat();
        let parts = [&9_u64.to_be_bytes()[..], &numbers(&[11, 10]), &counts, &[0xff]];
        [&parts.concat()[..], &numbers(&[12, 4]), b"me"].concat()
    }

    fn of_pop(told: &[u8], requests: &[Request]) -> Option<Replies> {
        let parts = [told, b"payload"].map(|part| Value::BulkString(part.to_vec()));
        read(&Value::Array(parts.to_vec()), requests)
    }

    #[test]
    fn an_answer_to_a_pop_is_read_with_what_was_asked() {
        let replies = of_pop(&told(), &[finish(), pop()]).unwrap();
        let [Reply::Acknowledged { id }, Reply::Popped { items, valid_for, left }] =
            &replies.replies[..]
        else {
            panic!("{replies:?}")
        };
        assert_eq!((replies.now, id.0, *valid_for, *left), (12, 7, Some(5), 4));
        let item = &items[0];
        assert_eq!((item.delivery.id.0, item.delivery.fence.0, item.pushed), (9, 11, 10));
        assert_eq!((item.attempt, item.most, item.priority.get()), (1, 3, -1));
        assert_eq!((&*item.about, &*item.payload), ("me", &b"payload"[..]));
    }

    #[test]
    fn what_cannot_be_read_is_no_answer() {
        let whole = told();
        for length in 0..ITEM + 16 {
            assert_eq!(of_pop(&whole[..length], &[pop()]), None, "{length}");
        }
        for at in [0, 15, 23, 32, 40, 48] {
            let mut broken = whole.clone();
            broken[at] = 0x7f;
            assert_eq!(of_pop(&broken, &[pop()]), None, "{at}");
        }
        assert_eq!(of_pop(&whole, &[pop(), pop()]), None);
        assert_eq!(of_pop(&whole, &[finish()]), None);
        for (answer, request) in [(-1, finish()), (1 << 60, finish()), (12, pop())] {
            assert_eq!(read(&Value::Int(answer), &[request]), None, "{answer}");
        }
        assert_eq!(read(&Value::BulkString(vec![0; 16]), &[finish()]), None);
    }
}
