use seinpaal_proto::{Name, Renew, Ticket, Whom};

use super::*;

fn text(text: &str) -> Value {
    Value::BulkString(text.as_bytes().to_vec())
}

fn answer(parts: &[&str]) -> Value {
    Value::Array(parts.iter().map(|part| text(part)).collect())
}

#[test]
fn an_unknown_word_is_damage_and_names_the_script() {
    let error = parse(answer(&["done 5 0 -", "winged 1"]), "acquire", 1).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt);
    assert!(
        error.to_string().contains("acquire") && error.to_string().contains("winged"),
        "{error}"
    );
}

#[test]
fn damage_is_told_in_one_short_line() {
    let long = Value::SimpleString("a\u{1b}\n".repeat(100_000));
    let said = redis::parse_redis_value(b"-ERR one\rtwo\r\n").unwrap();
    for value in [long, said] {
        let error = parse(value, "acquire", 1).unwrap_err().to_string();
        assert!(error.len() < 300 && !error.contains(char::is_control), "{error:?}");
    }
}

#[test]
fn an_answer_too_few_is_damage() {
    assert!(parse(answer(&["done 5 0 -"]), "release", 1).is_err());
}

#[test]
fn the_clock_the_backlog_and_the_next_look_are_read() {
    let replies = parse(answer(&["done 5 1 250"]), "step", 0).unwrap();
    assert_eq!((replies.now, replies.backlog, replies.look_in), (5, true, Some(250)));
}

#[test]
fn a_number_that_lua_cannot_say_is_damage() {
    for done in ["done 9007199254740993 0 -", "done 5 0 18446744073709551615"] {
        assert!(parse(answer(&[done]), "step", 0).is_err(), "{done}");
    }
    assert!(parse(answer(&["done 5 0 9007199254740992"]), "step", 0).is_ok());
}

#[test]
fn an_empty_reason_is_still_a_pause() {
    let rows = [text("snapshot s 4 -1 4 0 0 0 0 0 1")];
    assert_eq!(snapshot::read(&rows).unwrap().paused, Some(String::new()));
}

/// An answer to the requests of the fuzz target, as the scripts write it where a few sessions take
/// turns.
fn of_line(parts: &[&[u8]]) -> Option<Replies> {
    let proof = Request::Renew(Renew {
        lease: Ticket(0).into(),
        ttl: 9,
        margin: 1,
        whom: Whom::Tickets(vec![Ticket(1)]),
    });
    let batch = Batch {
        name: Name::new("n").unwrap(),
        inbox: None,
        fence_seen: 0,
        requests: vec![Request::Release { ticket: Ticket(1), slots: None }, proof],
    };
    of_batch(Value::BulkString(parts.concat()), "step", &batch).ok()
}

#[test]
fn an_answer_from_a_line_says_the_time_when_to_look_in_and_each_reply() {
    let [now, never, soon] = [-5.0_f64, -1.0, 250.0].map(f64::to_le_bytes);
    let (fence, slot, permits) = (7.0_f64.to_le_bytes(), 2_u32.to_le_bytes(), 3_u32.to_le_bytes());
    let replies = of_line(&[&now, &soon, &fence, &slot, &permits]).unwrap();
    assert_eq!((replies.now, replies.look_in), (5, Some(250)));
    assert_eq!(replies.replies[0], Reply::Released { ticket: Ticket(1), left: 0 });
    let Reply::Tickets { valid_for: Some(9), tickets } = &replies.replies[1] else { panic!() };
    let held =
        TicketReply::Held { fence: Fence(7), slots: Slots::range(2, 4), names: SlotNames::none() };
    assert_eq!(tickets, &[held]);
    assert_eq!(of_line(&[&now, &never, &fence, &slot, &permits]).unwrap().look_in, None);
    assert!(of_line(&[&now, &never, &fence, &slot]).is_none());
    assert!(of_line(&[&now, &never, &fence, &slot, &permits, &slot]).is_none());
    assert!(of_line(&[&now, &never, &fence, &slot, &[0; 4]]).is_none(), "no permits are none");
}
