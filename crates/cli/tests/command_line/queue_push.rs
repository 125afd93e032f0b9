//! Tests of `queue push`: payloads stay unchanged, lines are pushed as they come, and bad input is
//! refused.

use std::{fs, io::Write};

use super::support::{Held, World, both};

#[test]
fn push_prints_the_number_of_the_item_and_later_ones_are_greater() {
    for world in both() {
        let number = |done: super::support::Done| {
            assert_eq!((done.code, done.err.as_str()), (0, ""));
            done.out.trim_end().parse::<u64>().unwrap()
        };
        let first = number(world.seinpaal(&["queue", "push", "a", "one"]));
        let second = number(world.seinpaal(&["queue", "push", "a", "two"]));
        assert!(first < second);
        assert_eq!(world.work("a", "cat; echo").out, "one\ntwo\n");
    }
}

#[test]
fn a_duplicate_prints_the_number_of_the_first_and_is_no_error() {
    for world in both() {
        let push = ["queue", "push", "a", "x", "--dedup", "k"];
        let first = world.seinpaal(&push);
        let again = world.seinpaal(&push);
        assert_eq!((again.code, &again.out), (0, &first.out));
        assert!(again.err.contains("duplicate") && again.err.lines().count() == 1, "{again:?}");
        assert_eq!(world.seinpaal(&[&push[..], &["-q"]].concat()).err, "");
        let json = world.seinpaal(&[&push[..], &["--json", "-q"]].concat()).out;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let id: u64 = first.out.trim_end().parse().unwrap();
        assert_eq!(json, serde_json::json!({"name": "a", "id": id, "duplicate": true}));
        assert_eq!(world.queue("a")["ready"], 1);
    }
}

#[test]
fn a_key_is_remembered_for_its_window_and_no_longer() {
    for world in both() {
        let push = ["queue", "push", "a", "x", "--dedup", "k"];
        let first = world.seinpaal(&[&push[..], &["--dedup-window", "0"]].concat()).out;
        let second = world.seinpaal(&push).out;
        assert_ne!(first, second);
        assert_eq!(world.seinpaal(&push).out, second);
    }
}

#[test]
fn a_payload_from_stdin_reaches_cmd_byte_for_byte_up_to_a_mebibyte() {
    for world in both() {
        let mut payload: Vec<u8> = (0..1 << 20).map(|n: u32| (n * 7 + n / 256) as u8).collect();
        payload[..5].copy_from_slice(b"\0\xff\n\r\0");
        fs::write(world.path("in"), &payload).unwrap();
        let done = world.shell("$SEINPAAL queue push a - < in");
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
        assert_eq!(world.work("a", "cat > out").code, 0);
        assert!(fs::read(world.path("out")).unwrap() == payload);
    }
}

#[test]
fn a_longer_payload_is_refused_with_advice_also_if_it_never_ends() {
    let world = World::embedded();
    for script in [
        "$SEINPAAL queue push a - < /dev/zero",
        "yes | tr -d '\\n' | $SEINPAAL queue push a --lines",
    ] {
        let done = world.shell(script);
        assert_eq!((done.code, done.err.lines().count()), (64, 1), "{done:?}");
        assert!(done.err.contains("push a reference"), "{done:?}");
    }
    assert_eq!(world.queue("a")["ready"], 0);
}

#[test]
fn every_line_is_an_item_in_order_whatever_stands_in_it() {
    for world in both() {
        let done =
            world.shell("printf 'a b\\n\\n-\\r\\n\\377\\000z' | $SEINPAAL queue push a --lines");
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
        let ids: Vec<u64> = done.out.lines().map(|line| line.parse().unwrap()).collect();
        assert!(ids.len() == 4 && ids.is_sorted(), "{ids:?}");
        let worked = world.work("a", "echo $SEINPAAL_ITEM $(od -An -tx1)");
        let hex = ["61 20 62", "", "2d 0d", "ff 00 7a"];
        let expected =
            ids.iter().zip(hex).map(|(id, hex)| format!("{id} {hex}").trim_end().to_owned());
        assert_eq!(worked.out.lines().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}

#[test]
fn many_lines_go_in_order() {
    for world in both() {
        let done = world.shell("seq 1000 | $SEINPAAL queue push a --lines");
        assert_eq!((done.code, done.out.lines().count()), (0, 1000));
        assert_eq!(world.queue("a")["ready"], 1000);
    }
}

#[test]
fn a_line_is_pushed_when_it_comes_and_not_when_the_input_ends() {
    for world in both() {
        let mut push = Held::start(world.command(&["queue", "push", "a", "--lines"]));
        for waiting in 1..=3 {
            writeln!(push.stdin.as_mut().unwrap(), "line").unwrap();
            assert!(push.line().parse::<u64>().is_ok());
            assert_eq!(world.queue("a")["ready"], waiting);
        }
        let done = push.let_go();
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "", ""));
    }
}

#[test]
fn a_line_that_is_too_long_is_named_and_those_before_it_are_pushed() {
    let world = World::embedded();
    let done = world.shell(
        "{ echo one; echo two; head -c 1048577 /dev/zero; echo; echo four; } | $SEINPAAL queue push a --lines",
    );
    assert_eq!((done.code, done.out.lines().count()), (64, 2), "{done:?}");
    assert!(done.err.contains("line 3: ") && done.err.lines().count() == 1, "{done:?}");
    assert_eq!(world.queue("a")["ready"], 2);
}

#[test]
fn the_higher_priority_goes_first_and_only_due_items_are_delivered() {
    for world in both() {
        for args in [
            ["--priority", "0", "normal"],
            ["--priority", "-5", "low"],
            ["--priority", "100", "high"],
            ["--due", "2001-01-01T00:00:00Z", "past"],
            ["--delay", "1h", "later"],
            ["--due", "@9999999999", "much later"],
        ] {
            let done = world.seinpaal(&[&["queue", "push", "a"], &args[..]].concat());
            assert_eq!((done.code, done.err.as_str()), (0, ""), "{args:?}");
        }
        let shown = world.queue("a");
        assert_eq!((&shown["ready"], &shown["delayed"]), (&4.into(), &2.into()));
        // The fourth command stops the worker, which would otherwise wait for the delayed items.
        let script = "{ cat; echo; } | tee -a log; \
                      if [ $(cat log | wc -l) = 4 ]; then kill -TERM $PPID; fi";
        let done = world.seinpaal(&["queue", "work", "a", "sh", "-c", script]);
        assert_eq!(done.out, "high\nnormal\npast\nlow\n", "{done:?}");
    }
}

#[test]
fn what_cannot_be_pushed_is_64_in_one_line() {
    let world = World::embedded();
    for args in [
        &[][..],
        &["a"],
        &["a", "x", "--lines"],
        &["", "x"],
        &["a", "x", "--priority", "101"],
        &["a", "x", "--deliveries", "0"],
        &["a", "x", "--group", ""],
        &["a", "x", "--label", "=v"],
        &["a", "x", "--due", "tomorrow"],
        &["a", "x", "--due", "@1", "--delay", "1s"],
        &["a", "x", "--dedup", "k", "--dedup-window", "8d"],
        &["a", "--lines", "--dedup", "k"],
        &["a", "x", "y"],
    ] {
        let done = world.seinpaal(&[&["queue", "push"], args].concat());
        assert_eq!((done.code, done.err.lines().count()), (64, 1), "{args:?}: {done:?}");
        assert_eq!(done.out, "");
    }
}
