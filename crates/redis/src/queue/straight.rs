//! The answers of the straight path: the time alone, the time with the number of the first item
//! that was pushed, or the items that were popped. `lua/queue/straight*.lua` say which requests the
//! path takes.

use redis::Value;
use seinpaal_proto::{
    Fence, Priority,
    queue::{Delivery, How, ItemId, Popped, Replies, Reply, Request},
    time::UNBOUNDED,
};

use super::words::exact;

/// Returns whether an answer is one of the straight path. Any other answer is a list that begins
/// with a word.
pub(super) fn is_straight(answer: &Value) -> bool {
    match answer {
        Value::Array(parts) => matches!(parts.first(), Some(Value::Int(_))),
        Value::Int(_) | Value::BulkString(_) => true,
        _ => false,
    }
}

/// The replies, made of the requests and the numbers in the answer.
pub(super) fn read(answer: &Value, requests: &[Request]) -> Option<Replies> {
    let (now, replies) = match answer {
        Value::Int(now) => {
            let now = u64::try_from(*now).ok()?;
            (now, done(requests, now)?)
        }
        Value::BulkString(told) if told.len() == 16 => {
            (exact(told, 0)?, done(requests, exact(told, 8)?)?)
        }
        Value::Array(parts) => popped(parts, requests)?,
        _ => return None,
    };
    (now <= UNBOUNDED).then_some(Replies { now, replies, backlog: false, look_in: None })
}

/// The replies if every request was executed. Items that were pushed have numbers from `first` on.
fn done(requests: &[Request], first: u64) -> Option<Vec<Reply>> {
    let reply = |(request, number): (&Request, u64)| {
        Some(match request {
            Request::Push(_) if number <= UNBOUNDED => Reply::Pushed { id: ItemId(number) },
            Request::Finish { delivery, how: How::Acknowledge } => {
                Reply::Acknowledged { id: delivery.id }
            }
            Request::Renew(renew) => {
                Reply::Renewed { valid_for: Some(renew.ttl), lost: Vec::new() }
            }
            _ => return None,
        })
    };
    requests.iter().zip(first..).map(reply).collect()
}

fn popped(parts: &[Value], requests: &[Request]) -> Option<(u64, Vec<Reply>)> {
    let [Value::Int(now), Value::Int(left), rows @ ..] = parts else { return None };
    let (Request::Pop(pop), before) = requests.split_last()? else { return None };
    let pairs = rows.chunks(2).map(|pair| match pair {
        [Value::BulkString(told), Value::BulkString(payload)] => item(told, payload),
        _ => None,
    });
    let items = pairs.collect::<Option<Vec<_>>>()?;
    let mut replies = done(before, 0)?;
    // The general path also answers 0 if there are no items.
    let valid_for = Some(if items.is_empty() { 0 } else { pop.ttl });
    replies.push(Reply::Popped { items, valid_for, left: u64::try_from(*left).ok()? });
    Some((u64::try_from(*now).ok()?, replies))
}

/// How many bytes `POPPED` has before the text that describes the item.
const ABOUT: usize = 33;

/// An item that was popped and has no group, in the format `POPPED`.
fn item(told: &[u8], payload: &[u8]) -> Option<Popped> {
    let id = u64::from_be_bytes(*told.first_chunk()?);
    let counted = |at: usize| Some(u32::from_le_bytes(*told.get(at..)?.first_chunk()?));
    let priority = i8::from_le_bytes(*told.get(32..)?.first_chunk()?);
    Some(Popped {
        delivery: Delivery { id: ItemId(id), fence: Fence(exact(told, 8)?) },
        attempt: counted(24)?,
        most: counted(28)?,
        priority: Priority::new(priority.into()).ok()?,
        group: None,
        about: std::str::from_utf8(told.get(ABOUT..)?).ok()?.to_owned(),
        pushed: exact(told, 16)?,
        payload: payload.to_vec(),
    })
    .filter(|_| id <= UNBOUNDED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::words::double;
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
        let counts = [1_u32, 3].map(u32::to_le_bytes).concat();
        let numbers = [11, 10].map(double).concat();
        [&9_u64.to_be_bytes()[..], &numbers, &counts, &[0xff], b"me"].concat()
    }

    fn of_pop(told: &[u8], requests: &[Request]) -> Option<Replies> {
        let [item, payload] = [told, b"payload"].map(|part| Value::BulkString(part.to_vec()));
        read(&Value::Array(vec![Value::Int(12), Value::Int(4), item, payload]), requests)
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
        for length in 0..ABOUT {
            assert_eq!(of_pop(&whole[..length], &[pop()]), None, "{length}");
        }
        for at in [0, 15, 23, 32] {
            let mut broken = whole.clone();
            broken[at] = 0x7f;
            assert_eq!(of_pop(&broken, &[pop()]), None, "{at}");
        }
        assert_eq!(of_pop(&whole, &[pop(), pop()]), None);
        assert_eq!(of_pop(&whole, &[finish()]), None);
        for (answer, request) in [(-1, finish()), (1 << 60, finish()), (12, pop())] {
            assert_eq!(read(&Value::Int(answer), &[request]), None, "{answer}");
        }
        assert_eq!(read(&Value::BulkString(vec![0; 15]), &[finish()]), None);
        let odd = [Value::Int(12), Value::Int(4), Value::BulkString(whole)];
        assert_eq!(read(&Value::Array(odd.to_vec()), &[pop()]), None);
    }
}
