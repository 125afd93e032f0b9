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
    let rows = [text("snapshot s 4 -1 4 0 0 0 0 1")];
    assert_eq!(snapshot::read(&rows).unwrap().paused, Some(String::new()));
}
