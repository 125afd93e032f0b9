//! Tests of a `run` inside the CMD of a `run` of the same name.

mod ends;
mod stores;

use super::support::{Held, World, both, program};

fn inside(world: &World, outer: &[&str], script: &str) -> super::support::Done {
    let script = format!("S={}; {script}", program());
    world.seinpaal(&[&["run"], outer, &["--", "sh", "-c", &script]].concat())
}

#[test]
fn a_run_inside_goes_in_under_the_permit_of_the_run_around_it() {
    for world in both() {
        let script =
            "echo $SEINPAAL_TICKET $SEINPAAL_FENCE $SEINPAAL_SLOT $SEINPAAL_LIMIT $SEINPAAL_NAME";
        let done =
            inside(&world, &["a"], &format!("{script}; $S run a -n sh -c '{script}; exit 5'"));
        assert_eq!((done.code, done.err.as_str()), (5, ""));
        let lines: Vec<_> = done.out.lines().collect();
        assert_eq!(lines.len(), 2, "{done:?}");
        assert_eq!(lines[0], lines[1]);
        assert_eq!(world.show("a")["permits_held"], 0);
    }
}

#[test]
fn a_run_goes_in_however_deep_it_is_and_in_a_pipe() {
    for world in both() {
        let script = "sh -c 'echo x | $S run a -n sh -c \"cat; $S run a -n -- sh -c \\\"$S run a -n echo deep\\\"\" | cat'";
        let done = inside(&world, &["a"], &format!("export S; {script}"));
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "x\ndeep\n", ""));
    }
}

#[test]
fn cmd_of_the_outer_run_may_be_the_inner_run_itself() {
    for world in both() {
        let done = world.seinpaal(&["run", "a", program(), "run", "a", "-n", "echo", "in"]);
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "in\n", ""));
    }
}

#[test]
fn a_run_with_no_reenter_waits_like_anybody() {
    for world in both() {
        let done = inside(&world, &["a"], "$S run a --no-reenter -n true; echo $?");
        assert_eq!(done.out, "75\n", "{done:?}");
        let done = inside(
            &world,
            &["a", "-j", "2"],
            "$S run a --no-reenter -n sh -c 'echo $SEINPAAL_SLOT'",
        );
        assert_eq!(done.out, "1\n", "{done:?}");
    }
}

#[test]
fn another_name_and_another_store_are_entered_as_usual() {
    let world = World::redis();
    let script =
        "export S; $S run b -n sh -c 'echo $SEINPAAL_NAME; $S run a -n echo a; $S run b -n echo b'";
    let done = inside(&world, &["a"], script);
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "b\na\nb\n", ""));
    let elsewhere = format!("file://{}/elsewhere", world.root().display());
    let script =
        format!("echo $SEINPAAL_TICKET; $S run -s {elsewhere} a -n sh -c 'echo $SEINPAAL_TICKET'");
    let done = inside(&world, &["a"], &script);
    let tickets: Vec<_> = done.out.lines().collect();
    assert_eq!(tickets.len(), 2, "{done:?}");
    assert_ne!(tickets[0], tickets[1], "{done:?}");
}

#[test]
fn a_reader_goes_in_under_a_writer_and_a_writer_not_under_a_reader() {
    for world in both() {
        let done = inside(
            &world,
            &["a", "--exclusive"],
            "$S run a --shared -n $S run a --exclusive -n echo in",
        );
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "in\n", ""));
        let done = inside(
            &world,
            &["a", "--shared"],
            "$S run a --shared -n echo in; $S run a --exclusive true",
        );
        assert_eq!((done.code, done.out.as_str()), (78, "in\n"), "{done:?}");
        assert_eq!(done.err.lines().count(), 1, "{done:?}");
        let done = inside(&world, &["a"], "$S run a --shared true");
        assert_eq!(done.code, 78, "another kind of lock: {done:?}");
    }
}

#[test]
fn more_permits_than_are_held_and_another_limit_are_78() {
    for world in both() {
        let script = "$S run a -p 2 -n sh -c 'echo $SEINPAAL_PERMITS'; $S run a -p 3 true";
        let done = inside(&world, &["a", "-j", "4", "-p", "2"], script);
        assert_eq!((done.code, done.out.as_str()), (78, "2\n"), "{done:?}");
        assert!(done.err.contains("holds 2") && done.err.contains("asks for 3"), "{done:?}");
        let script = "$S run a -j 4 -n echo same; $S run a -j 5 --adopt-limit -n echo adopted; $S run a -j 5 true";
        let done = inside(&world, &["a", "-j", "4"], script);
        assert_eq!((done.code, done.out.as_str()), (78, "same\nadopted\n"), "{done:?}");
        assert!(done.err.contains("limit is 4") && done.err.contains("says 5"), "{done:?}");
        assert_eq!(world.seinpaal(&["limit", "a", "3"]).code, 0);
        let done = inside(&world, &["a"], "$S run a -j 5 -n echo pinned");
        assert_eq!((done.code, done.out.as_str()), (0, "pinned\n"), "{done:?}");
    }
}

#[test]
fn a_run_of_several_names_takes_those_that_are_not_held() {
    for world in both() {
        let script = "echo $SEINPAAL_FENCE; $S run b --also a -n sh -c 'echo $SEINPAAL_NAME; echo $SEINPAAL_ALSO_FENCES; $S show b --json'";
        let done = inside(&world, &["a"], &format!("export S; {script}"));
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
        let lines: Vec<_> = done.out.lines().collect();
        assert_eq!((lines[1], lines[2]), ("b", lines[0]), "{done:?}");
        assert!(lines[3].contains("\"permits_held\":1"), "{done:?}");
        assert_eq!(world.show("b")["permits_held"], 0);
        let script = "$S run a --also b -n echo both; $S run b --also a --also c -n echo all";
        let done = inside(&world, &["a", "--also", "b"], script);
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "both\nall\n", ""));
    }
}

#[test]
fn a_run_inside_that_sends_others_away_leaves_the_run_around_it_alone() {
    for world in both() {
        let script = "for how in cancel-running replace-waiting; do \
                      $S run a --also b --on-conflict $how echo in; done; echo then";
        let done = inside(&world, &["a"], script);
        let told = (done.code, done.out.as_str(), done.err.as_str());
        assert_eq!(told, (0, "in\nin\nthen\n", ""));
    }
}

#[test]
fn a_forged_or_stale_variable_lets_nobody_in() {
    for world in both() {
        let (mut held, _) =
            Held::run(&world, &["a"], "echo $$; echo \"$SEINPAAL_HELD\"; exec cat >/dev/null");
        let real = held.line();
        assert!(real.contains("\"ticket\""), "{real}");
        let us = std::process::id();
        let forged = real.replace(&format!("\"pid\":{}", held.pid()), &format!("\"pid\":{us}"));
        assert_ne!(forged, real);
        for value in
            [real.as_str(), forged.as_str(), "", "[]", "{}", "[{\"name\":\"a\"}]", "nonsense"]
        {
            let mut command = world.command(&["run", "a", "-n", "true"]);
            let code = command.env("SEINPAAL_HELD", value).output().unwrap().status.code();
            assert_eq!(code, Some(75), "{value}");
        }
        assert_eq!(held.let_go().code, 0);
    }
}

#[test]
fn a_ticket_that_holds_no_more_lets_nobody_in() {
    for world in both() {
        // The outer CMD ignores TERM, and its run goes on.
        let script = "trap '' TERM; $S evict a $SEINPAAL_TICKET; $S run -v a -n echo in; echo $?";
        let done = inside(&world, &["a", "--on-lost", "warn"], script);
        // No run holds the name any more, so the inner run gets a permit of its own.
        assert!(done.out.starts_with("in\n0"), "{done:?}");
        assert!(done.err.contains("got slot"), "{done:?}");
        let script = "trap '' TERM; $S evict a $SEINPAAL_TICKET; $S acquire a >ticket; $S run a -n echo in; echo $?";
        let done = inside(&world, &["a", "--on-lost", "warn"], script);
        assert!(done.out.starts_with("75\n"), "{done:?}");
        let ticket = std::fs::read_to_string(world.path("ticket")).unwrap();
        world.seinpaal(&["release", "a", ticket.trim()]);
    }
}

#[test]
fn a_store_that_is_silent_when_it_is_asked_is_69() {
    let world = World::redis();
    let (held, _) = Held::hold(&world, &["b"]);
    let script = format!("echo $$; read line; {} run a -n true 2>err; echo $?", program());
    let mut command = world.command(&["run", "a", "--ttl", "1m", "--", "sh", "-c", &script]);
    command.stdin(std::process::Stdio::piped());
    let mut outer = Held::start(command);
    outer.line();
    world.redis.as_ref().unwrap().pause();
    use std::io::Write;
    outer.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    assert_eq!(outer.line(), "69");
    world.redis.as_ref().unwrap().resume();
    assert_eq!(outer.end().code, 0);
    held.let_go();
}

#[test]
fn events_of_the_inner_run_tell_the_ticket_and_the_end() {
    let world = World::embedded();
    let done = inside(
        &world,
        &["a"],
        "echo $SEINPAAL_TICKET; $S run a --events 5 sh -c 'exit 4' 5>events; echo $?",
    );
    let (ticket, status) = done.out.trim_end().split_once('\n').unwrap();
    assert_eq!(status, "4");
    let events = std::fs::read_to_string(world.path("events")).unwrap();
    let events: Vec<serde_json::Value> =
        events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 2, "{events:?}");
    assert_eq!((&events[0]["event"], &events[0]["ticket"]), (&"acquired".into(), &ticket.into()));
    assert_eq!((&events[1]["event"], &events[1]["status"]), (&"exited".into(), &4.into()));
}

#[test]
fn no_password_stands_in_the_variable() {
    let world = World::with_redis(&["--requirepass", "hush"]);
    let store = format!("{}?pass=hush", world.store);
    let done = world.seinpaal(&[
        "run",
        "-s",
        &store,
        "--hide-store",
        "a",
        "sh",
        "-c",
        "echo $SEINPAAL_HELD",
    ]);
    assert!(
        done.code == 0 && done.out.contains("redis.sock") && !done.out.contains("hush"),
        "{done:?}"
    );
}
