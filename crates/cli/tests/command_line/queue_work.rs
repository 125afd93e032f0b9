//! Tests of `queue work`: the fate of items, and the environment of CMD.

use super::support::{Held, World, both, gate::Gate, until};

#[test]
fn an_item_is_gone_when_cmd_ends_with_0() {
    for world in both() {
        world.push("a", "x");
        let done = world.work("a", "cat");
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "x", ""));
        let shown = world.queue("a");
        assert_eq!((&shown["ready"], &shown["dead"]), (&0.into(), &0.into()));
    }
}

#[test]
fn an_item_that_cmd_gives_back_comes_again_and_that_delivery_does_not_count() {
    for world in both() {
        world.seinpaal(&["queue", "push", "a", "x", "--deliveries", "1"]);
        let script =
            "echo $SEINPAAL_ATTEMPT; if [ -e again ]; then exit 0; fi; touch again; exit 75";
        let args = [
            "queue",
            "work",
            "a",
            "--until-empty",
            "--give-back-after",
            "10ms",
            "sh",
            "-c",
            script,
        ];
        let done = world.seinpaal(&args);
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "1\n1\n", ""));
        assert_eq!(world.queue("a")["dead"], 0);
    }
}

#[test]
fn an_item_that_fails_comes_again_until_it_is_a_dead_letter_with_the_reason() {
    for world in both() {
        world.seinpaal(&["queue", "push", "a", "x", "--deliveries", "3"]);
        let script =
            "echo $SEINPAAL_ATTEMPT; if [ $SEINPAAL_ATTEMPT = 2 ]; then kill -9 $$; fi; exit 3";
        let args =
            ["queue", "work", "a", "--until-empty", "--retry-base", "10ms", "sh", "-c", script];
        let done = world.seinpaal(&args);
        assert_eq!((done.code, done.out.as_str()), (0, "1\n2\n3\n"), "{done:?}");
        assert!(done.err.contains("exit status 3") && done.err.lines().count() == 1, "{done:?}");
        let dead = world.seinpaal(&["queue", "dead", "a", "--json"]).out;
        let dead: serde_json::Value = serde_json::from_str(&dead).unwrap();
        let reasons = ["exit status 3", "killed by signal 9", "exit status 3"];
        let history = dead["history"].as_array().unwrap().iter().map(|end| &end["reason"]);
        assert!(history.eq(reasons), "{dead}");
    }
}

#[test]
fn cmd_is_told_about_the_item() {
    for world in both() {
        let args = ["--group", "g h", "--label", "one=1", "--label", "two=a b"];
        let id = world.seinpaal(&[&["queue", "push", "a", "x"], &args[..]].concat()).out;
        let script = "echo \"$SEINPAAL_NAME|$SEINPAAL_ITEM|$SEINPAAL_ATTEMPT|$SEINPAAL_DELIVERIES|$SEINPAAL_GROUP\"; \
                      echo \"$SEINPAAL_LABELS\"; echo $SEINPAAL_FENCE";
        let done = world.work("a", script);
        let (told, fence) = done.out.trim_end().rsplit_once('\n').unwrap();
        assert_eq!(told, format!("a|{}|1|5|g h\none=1\ntwo=a b", id.trim_end()));
        assert!(fence.parse::<u64>().unwrap() > id.trim_end().parse().unwrap());
        world.push("a", "x");
        assert_eq!(world.work("a", "echo \"<$SEINPAAL_GROUP>\"").out, "<>\n");
    }
}

#[test]
fn cmd_may_leave_its_payload_unread() {
    for world in both() {
        let done = world.shell("head -c 1048576 /dev/zero | $SEINPAAL queue push a -");
        assert_eq!(done.code, 0, "{done:?}");
        let done = world.seinpaal(&["queue", "work", "a", "--until-empty", "true"]);
        assert_eq!((done.code, done.err.as_str()), (0, ""));
        assert_eq!(world.queue("a")["dead"], 0);
    }
}

#[test]
fn stdout_and_stderr_are_cmds_own() {
    let world = World::embedded();
    world.push("a", "x");
    let done = world.work("a", "printf out; printf err >&2");
    assert_eq!((done.out.as_str(), done.err.as_str()), ("out", "err"));
}

#[test]
fn a_dead_letter_is_told_in_a_line_unless_quiet() {
    let world = World::embedded();
    for (flag, lines) in [("-v", 3), ("--until-empty", 1), ("-q", 0)] {
        world.seinpaal(&["queue", "push", "a", "x", "--deliveries", "1"]);
        let mut args = vec!["queue", "work", "a", flag, "false"];
        if flag != "--until-empty" {
            args.insert(3, "--until-empty");
        }
        let done = world.seinpaal(&args);
        assert_eq!((done.code, done.err.lines().count()), (0, lines), "{done:?}");
    }
    assert_eq!(world.queue("a")["dead"], 3);
}

#[test]
fn what_cannot_be_run_is_found_out_before_an_item_is_taken() {
    let world = World::embedded();
    world.seinpaal(&["queue", "push", "a", "x", "--deliveries", "1"]);
    for (command, code) in
        [("no-such-command-anywhere", 127), ("/no/such", 127), ("/etc/passwd", 126)]
    {
        let done = world.seinpaal(&["queue", "work", "a", command]);
        assert_eq!((done.code, done.err.lines().count()), (code, 1), "{done:?}");
    }
    assert_eq!(world.queue("a")["ready"], 1);
    assert_eq!(world.work("a", "echo $SEINPAAL_ATTEMPT").out, "1\n");
}

#[test]
fn what_vanishes_meanwhile_ends_the_worker_and_the_item_stays() {
    for world in both() {
        let script = world.path("cmd");
        std::fs::write(&script, "#!/bin/sh\nrm -f cmd\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, mode).unwrap();
        world.push("a", "x");
        world.push("a", "y");
        let done = world.seinpaal(&["queue", "work", "a", "./cmd"]);
        assert_eq!((done.code, done.err.lines().count()), (127, 1), "{done:?}");
        assert_eq!(world.work("a", "cat; echo $SEINPAAL_ATTEMPT").out, "y1\n");
    }
}

#[test]
fn c_items_are_in_work_at_once_and_show_names_their_workers() {
    for world in both() {
        let gate = Gate::new(&world);
        let ids = ["1", "2", "3"].map(|payload| world.push("a", payload));
        let mut worker = Held::start(world.command(&[
            "queue",
            "work",
            "a",
            "-c",
            "2",
            "--until-empty",
            "sh",
            "-c",
            gate.hold(),
        ]));
        let first_two = [worker.line(), worker.line()];
        assert!(first_two.iter().all(|pid| pid.parse::<u32>().is_ok()), "{first_two:?}");
        let shown = world.queue("a");
        assert_eq!((&shown["ready"], &shown["in_work"]), (&1.into(), &2.into()));
        let page = world.seinpaal(&["queue", "show", "a"]).out;
        assert!(ids[..2].iter().all(|id| page.contains(id)) && !page.contains(&ids[2]), "{page}");
        assert!(page.contains(&format!(" {} ", worker.pid())), "{page}");
        gate.open();
        assert_eq!(worker.end().code, 0);
        assert_eq!(world.queue("a")["ready"], 0);
    }
}

#[test]
fn a_worker_holds_to_the_limits_and_learns_of_new_ones() {
    for world in both() {
        let gate = Gate::new(&world);
        assert_eq!(world.seinpaal(&["queue", "limit", "a", "none", "--group", "1"]).code, 0);
        for payload in ["1", "2"] {
            world.seinpaal(&["queue", "push", "a", payload, "--group", "g"]);
        }
        world.seinpaal(&["queue", "push", "a", "3", "--group", "h"]);
        let args = ["queue", "work", "a", "-c", "3", "--until-empty", "sh", "-c", gate.hold()];
        let mut worker = Held::start(world.command(&args));
        worker.line();
        worker.line();
        assert_eq!(world.queue("a")["in_work"], 2, "one of each group");
        assert_eq!(world.seinpaal(&["queue", "limit", "a", "--group", "none"]).code, 0);
        worker.line();
        assert_eq!(world.queue("a")["in_work"], 3);
        gate.open();
        assert_eq!(worker.end().code, 0);
    }
}

#[test]
fn until_empty_waits_for_what_others_work_on() {
    for world in both() {
        let gate = Gate::new(&world);
        world.push("a", "x");
        let mut first = Held::start(world.command(&[
            "queue",
            "work",
            "a",
            "--until-empty",
            "sh",
            "-c",
            gate.hold(),
        ]));
        first.line();
        let mut second =
            Held::start(world.command(&["queue", "work", "a", "--until-empty", "false"]));
        until("the second stands in line", || {
            world.seinpaal(&["queue", "show", "a"]).out.contains("1 idle")
        });
        assert!(matches!(second.process.try_wait(), Ok(None)));
        gate.open();
        assert_eq!((first.end().code, second.end().code), (0, 0));
    }
}

#[test]
fn until_empty_waits_for_delayed_items_and_ends_at_once_without_items() {
    for world in both() {
        assert_eq!(world.work("a", "cat").code, 0);
        world.seinpaal(&["queue", "push", "a", "x", "--delay", "300ms"]);
        assert_eq!(world.work("a", "cat").out, "x");
    }
}

#[test]
fn an_idle_worker_is_called_when_an_item_comes() {
    for world in both() {
        let mut worker =
            Held::start(world.command(&["queue", "work", "a", "sh", "-c", "cat; echo"]));
        until("it stands in line", || {
            world.seinpaal(&["queue", "show", "a"]).out.contains("1 idle")
        });
        for payload in ["one", "two"] {
            world.push("a", payload);
            assert_eq!(worker.line(), payload);
        }
        worker.signal("TERM");
        assert_eq!(worker.end().code, 0);
    }
}
