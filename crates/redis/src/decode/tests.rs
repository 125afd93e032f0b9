use seinpaal_proto::{Batch, Name, Request, Ticket};

use super::*;

fn batch(requests: Vec<Request>) -> Batch {
    Batch { name: Name::new("n").unwrap(), inbox: None, fence_seen: 0, requests }
}

fn release(number: u32) -> Request {
    Request::Release { ticket: Ticket(7 << 32).series().ticket(number), slots: None }
}

/// An answer at clock 5, with this time to look again.
fn answering(look_again: f64, replies: &[u8]) -> Value {
    let start = [5_f64, look_again].map(f64::to_le_bytes).concat();
    Value::BulkString([&start, replies].concat())
}

#[test]
fn each_reply_takes_its_bytes_and_none_may_be_left() {
    let two = batch(vec![release(1), release(2)]);
    let whole = [&b"\x0e\0\0\0\0"[..], b"\x08\x03"].concat();
    let read = replies(&answering(-1.0, &whole), &two).unwrap();
    let [Request::Release { ticket, .. }, Request::Release { ticket: second, .. }] =
        [&two.requests[0], &two.requests[1]]
    else {
        panic!()
    };
    let expected = [
        Reply::Released { ticket: *ticket, left: 0 },
        Reply::Ended { ticket: *second, cause: Cause::Evicted },
    ];
    assert_eq!((read.now, read.replies.as_slice()), (5, &expected[..]));
    for wrong in [&whole[..whole.len() - 1], &[&whole[..], b"\x09"].concat()[..]] {
        assert!(replies(&answering(-1.0, wrong), &two).is_err());
    }
}

#[test]
fn the_time_to_look_again_may_say_never_or_at_once() {
    let none = batch(Vec::new());
    for (told, look_in, backlog) in [(-1.0, None, false), (-2.0, None, true), (9.0, Some(9), false)]
    {
        let read = replies(&answering(told, b""), &none).unwrap();
        assert_eq!((read.look_in, read.backlog), (look_in, backlog));
    }
}

#[test]
fn what_no_script_of_ours_answers_is_damage_whose_outcome_is_unknown() {
    for value in [Value::Nil, Value::Int(3), Value::BulkString(b"OK".to_vec())] {
        let error = replies(&value, &batch(Vec::new())).unwrap_err();
        assert_eq!(
            (error.kind(), error.certainty()),
            (StoreErrorKind::Corrupt, Certainty::Unknown)
        );
    }
}
