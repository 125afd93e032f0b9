//! Tests that every error is one line with the event, the thing concerned and the remedy. `endings`
//! has the errors of `run`.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

use super::support::{World, both};

/// A command line, its exit status, and the words that its error must have.
type Row = (&'static str, i32, &'static [&'static str]);

const OF_A_NAME: [Row; 9] = [
    ("renew a 0123", 122, &["a (", "no ticket", "seinpaal show"]),
    ("renew a 0123456789abcdef0123456789abcdef", 122, &["a (", "no such ticket", "seinpaal show"]),
    (
        "release a 0123456789abcdef0123456789abcdef",
        122,
        &["a (", "no such ticket", "seinpaal show"],
    ),
    ("evict a 0123456789abcdef0123456789abcdef", 122, &["a (", "no such ticket", "seinpaal show"]),
    ("release a $OVER", 122, &["a (", "over", "acquire again"]),
    ("renew a $OVER", 122, &["a (", "over", "acquire again"]),
    ("queue cancel q 7", 122, &["q (", "7"]),
    ("queue dead q --drop 7", 122, &["q (", "7"]),
    ("acquire a -j 2 -p 3", 78, &["a (", "3 permits", "-p"]),
];

#[test]
fn errors_about_a_name_say_the_name_the_store_and_what_to_do() {
    for world in both() {
        let over = world.seinpaal(&["acquire", "a"]).out.trim_end().to_owned();
        world.seinpaal(&["release", "a", &over]);
        for (line, code, words) in OF_A_NAME {
            let done = world.shell(&format!("OVER={over}; $SEINPAAL {line}"));
            assert_eq!((done.code, done.err.lines().count()), (code, 1), "{line}: {done:?}");
            assert!(done.err.contains(&world.store), "{line}: {done:?}");
            for word in words {
                assert!(done.err.contains(word), "{line}: {word:?} is missing: {done:?}");
            }
        }
    }
}

const OF_A_STORE: [Row; 12] = [
    ("list", 69, &["start the server"]),
    ("show a", 69, &["a: ", "start the server"]),
    ("limit a 3", 69, &["a: ", "start the server"]),
    ("pause a", 69, &["a: ", "start the server"]),
    ("resume a", 69, &["a: ", "start the server"]),
    ("acquire a", 69, &["a: ", "start the server"]),
    ("renew a 0123456789abcdef0123456789abcdef", 69, &["a: ", "start the server"]),
    ("release a 0123456789abcdef0123456789abcdef", 69, &["a: ", "start the server"]),
    ("queue push q x", 69, &["q: ", "start the server"]),
    ("queue work q true", 69, &["q: ", "start the server"]),
    ("queue show q", 69, &["q: ", "start the server"]),
    ("run a -w 1s true", 69, &["a: ", "start the server"]),
];

#[test]
fn errors_about_a_store_say_the_store_and_what_to_do_and_no_password() {
    let mut world = World::embedded();
    world.store = "redis://ann:s3cret@127.0.0.1:1?connect-timeout=1s".to_owned();
    for (line, code, words) in OF_A_STORE {
        let done = world.shell(&format!("$SEINPAAL {line}"));
        assert_eq!((done.code, done.err.lines().count()), (code, 1), "{line}: {done:?}");
        assert!(done.err.contains("redis://ann@127.0.0.1:1"), "{line}: {done:?}");
        assert!(!done.err.contains("s3cret"), "{line}: {done:?}");
        for word in words {
            assert!(done.err.contains(word), "{line}: {word:?} is missing: {done:?}");
        }
    }
}

#[test]
fn an_argument_that_is_no_text_is_named_and_those_of_cmd_may_be_any_bytes() {
    let world = World::embedded();
    let odd = OsStr::from_bytes(b"na\xffme");
    let output = world.command(&["run"]).arg(odd).arg("true").output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), err.lines().count()), (Some(64), 1), "{err}");
    assert!(err.contains("argument 2, na\u{fffd}me, is not UTF-8"), "{err}");
    let output = world.command(&["run", "a", "printf", "%s"]).arg(odd).output().unwrap();
    assert_eq!(output.stdout, b"na\xffme");
}

#[test]
fn a_url_in_a_wrong_place_is_named_without_its_password() {
    let world = World::embedded();
    for (args, shown) in [
        (&["-s", "list", "redis://:s3cret@h"][..], "redis://***@h"),
        (&["-s", "list", "redis://ann:s3:c@ret@h/1"], "redis://***@h/1"),
        (&["-s", "list", "unix:///s?pass=s3cret&s3cret"], "unix:///s?pass=***"),
        (&["top", "--sort", "redis://:s3cret@h"], "redis://***@h"),
        (&["top", "--sort=redis+sentinel://h/m?sentinel-pass=s3cret"], "sentinel-pass=***"),
        (&["queue", "redis:s3cret@h"], "redis:***@h"),
        (&["run", "-jredis://:s3cret@h", "a", "true"], "redis://***@h"),
        (&["--store-file", "redis://:s3cret@h", "list"], "redis://***@h"),
    ] {
        let done = world.seinpaal(args);
        assert_eq!(done.err.lines().count(), 1, "{args:?}: {done:?}");
        assert!(done.err.contains(shown), "{args:?}: {done:?}");
        assert!(["s3", "ret"].iter().all(|part| !done.err.contains(part)), "{args:?}: {done:?}");
    }
    let odd = OsStr::from_bytes(b"redis://:s3cret\xff@h");
    let output = world.command(&["-s"]).arg(odd).arg("list").output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.contains("redis://***@h") && !err.contains("s3cret"), "{err}");
}

#[test]
fn too_few_descriptors_are_ours_to_explain_and_not_cmds() {
    let world = World::embedded();
    let mut seen = 0;
    for most in 8..40 {
        let done = world.shell(&format!("ulimit -n {most}; $SEINPAAL run a true"));
        assert_ne!(done.code, 126, "CMD is not to blame: {done:?}");
        if done.code != 0 {
            seen += 1;
            assert!(!done.err.contains("cannot run"), "{most}: {done:?}");
        }
    }
    assert!(seen > 0, "some are too few");
    assert_eq!(world.show("a")["permits_held"], 0);
}

#[test]
fn cmd_does_not_learn_the_store_if_it_is_hidden_from_it() {
    for world in both() {
        world.push("q", "x");
        for (line, shown) in [
            ("run a", world.store.as_str()),
            ("run a --hide-store", "none"),
            ("queue work q --until-empty --hide-store", "none"),
        ] {
            let done =
                world.shell(&format!("$SEINPAAL {line} -- sh -c 'echo ${{SEINPAAL_STORE-none}}'"));
            assert_eq!((done.code, done.out.trim_end()), (0, shown), "{line}: {done:?}");
        }
    }
}

#[test]
fn twice_v_prints_what_the_library_logs() {
    let world = World::redis();
    let done = world.seinpaal(&["run", "-vv", "a", "true"]);
    assert_eq!(done.code, 0);
    assert!(done.err.contains("seinpaal: debug: "), "{done:?}");
    assert!(done.err.lines().all(|line| line.starts_with("seinpaal: ")), "{done:?}");
    assert!(!world.seinpaal(&["run", "-v", "a", "true"]).err.contains("debug"));
}
