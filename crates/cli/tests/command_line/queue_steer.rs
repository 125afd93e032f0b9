//! Tests of the commands that show and control queues.

use super::support::{World, both};

fn keys(value: &serde_json::Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Makes `count` items of the queue `a` that died of exit status 3.
fn kill_items(world: &World, count: usize) -> Vec<String> {
    let push = ["queue", "push", "a", "x", "--deliveries", "1", "--group", "g", "--label", "k=v"];
    let ids = (0..count).map(|_| world.seinpaal(&push).out.trim_end().to_owned()).collect();
    assert_eq!(world.work("a", "exit 3").code, 0);
    ids
}

#[test]
fn show_and_list_have_exactly_the_promised_fields() {
    for world in both() {
        let mut expected: Vec<&str> =
            "name ready delayed in_work dead limit group_limit oldest_ms state pause_reason"
                .split(' ')
                .collect();
        expected.sort_unstable();
        let shown = world.queue("a");
        assert_eq!(keys(&shown), expected);
        assert!(
            shown["limit"].is_null() && shown["oldest_ms"].is_null() && shown["state"] == "open"
        );
        world.push("a", "x");
        world.push("b/1", "x");
        world.push("b/2", "x");
        assert!(world.queue("a")["oldest_ms"].is_u64());
        let list = world.seinpaal(&["queue", "list", "b/", "--json"]).out;
        let rows: Vec<serde_json::Value> =
            list.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(rows.iter().map(|row| &row["name"]).eq(["b/1", "b/2"]), "{list}");
        assert!(rows.iter().all(|row| keys(row) == expected));
        assert_eq!(world.seinpaal(&["queue", "list"]).out.lines().count(), 4);
        assert_eq!(world.seinpaal(&["list"]).out, "", "queues are no semaphores");
    }
}

#[test]
fn limits_are_read_and_changed() {
    for world in both() {
        let limit = |args: &[&str]| {
            let done = world.seinpaal(&[&["queue", "limit", "a"], args].concat());
            assert_eq!((done.code, done.err.as_str()), (0, ""), "{args:?}");
            done.out
        };
        assert_eq!(limit(&[]), "none\n");
        assert_eq!(limit(&["4"]), "");
        assert_eq!(limit(&[]), "4\n");
        limit(&["--group", "2"]);
        assert_eq!(limit(&[]), "4, 2 a group\n");
        let json: serde_json::Value = serde_json::from_str(&limit(&["--json"])).unwrap();
        assert_eq!(json, serde_json::json!({"name": "a", "limit": 4, "group_limit": 2}));
        limit(&["none", "--group", "none"]);
        assert_eq!(limit(&[]), "none\n");
    }
}

#[test]
fn a_paused_queue_says_why_and_delivers_nothing_until_it_is_resumed() {
    for world in both() {
        world.push("a", "x");
        assert_eq!(world.seinpaal(&["queue", "pause", "a", "--reason", "a flood"]).code, 0);
        assert_eq!(world.queue("a")["state"], "paused");
        assert!(world.seinpaal(&["queue", "show", "a"]).out.contains("paused (a flood)"));
        let mut worker = super::support::Held::start(world.command(&[
            "queue",
            "work",
            "a",
            "--until-empty",
            "cat",
        ]));
        super::support::until("it stands in line", || {
            world.seinpaal(&["queue", "show", "a"]).out.contains("1 idle")
        });
        assert_eq!(world.queue("a")["ready"], 1);
        assert_eq!(world.seinpaal(&["queue", "resume", "a"]).code, 0);
        assert_eq!(worker.end().out, "x");
    }
}

#[test]
fn a_queue_with_items_is_unattended_until_a_worker_comes_and_again_when_it_has_gone() {
    for world in both() {
        let state = || world.queue("a")["state"].as_str().unwrap().to_owned();
        world.seinpaal(&["queue", "push", "a", "later", "--delay", "1h"]);
        assert_eq!(state(), "open", "nothing is ready");
        world.push("a", "x");
        world.push("a", "y");
        assert_eq!(state(), "unattended");
        assert!(world.seinpaal(&["queue", "list"]).out.contains("unattended"));
        world.seinpaal(&["queue", "pause", "a"]);
        assert_eq!(state(), "paused");
        world.seinpaal(&["queue", "resume", "a"]);
        let script = "echo in >in; until [ -e out ]; do sleep 0.05; done";
        let work = ["queue", "work", "a", "sh", "-c", script];
        let mut worker = super::support::Held::start(world.command(&work));
        super::support::until_written(&world.path("in"));
        assert_eq!(state(), "open", "one is in work");
        worker.signal("TERM");
        std::fs::write(world.path("out"), "").unwrap();
        assert_eq!(worker.end().code, 0);
        world.push("a", "z");
        assert_eq!(state(), "unattended");
    }
}

#[test]
fn purge_takes_out_what_waits_and_says_how_much() {
    for world in both() {
        kill_items(&world, 1);
        world.push("a", "x");
        world.seinpaal(&["queue", "push", "a", "y", "--delay", "1h"]);
        assert_eq!(world.seinpaal(&["queue", "purge", "a"]).out, "2\n");
        assert_eq!(world.seinpaal(&["queue", "purge", "a"]).out, "0\n");
        assert_eq!(world.queue("a")["dead"], 1, "dead letters stay");
    }
}

#[test]
fn a_cancelled_item_is_gone_and_an_unknown_one_is_122() {
    for world in both() {
        let id = world.push("a", "x");
        let done = world.seinpaal(&["queue", "cancel", "a", &id]);
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "", ""));
        assert_eq!(world.queue("a")["ready"], 0);
        for args in [
            ["cancel", "a", &id].as_slice(),
            &["dead", "a", "--replay", &id],
            &["dead", "a", "--drop", "7"],
        ] {
            let done = world.seinpaal(&[&["queue"], args].concat());
            assert_eq!((done.code, done.err.lines().count()), (122, 1), "{args:?}: {done:?}");
        }
        assert_eq!(world.seinpaal(&["queue", "cancel", "a", "x"]).code, 64);
    }
}

#[test]
fn dead_letters_are_listed_with_their_reasons() {
    for world in both() {
        assert_eq!(world.seinpaal(&["queue", "dead", "a"]).out, "");
        let ids = kill_items(&world, 2);
        let table = world.seinpaal(&["queue", "dead", "a"]).out;
        assert_eq!(table.lines().count(), 3, "{table}");
        assert!(
            ids.iter().all(|id| table.contains(id)) && table.contains("exit status 3"),
            "{table}"
        );
        let json = world.seinpaal(&["queue", "dead", "a", "--json"]).out;
        let letter: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
        assert_eq!(letter["id"].to_string(), ids[0]);
        assert_eq!(
            (&letter["reason"], &letter["deliveries"]),
            (&"exit status 3".into(), &1.into())
        );
        assert_eq!(
            (&letter["group"], &letter["labels"]),
            (&"g".into(), &serde_json::json!({"k": "v"}))
        );
        assert_eq!((&letter["payload"], &letter["bytes"]), (&"x".into(), &1.into()));
        assert!(letter["died_at_ms"].as_u64() >= letter["pushed_at_ms"].as_u64());
    }
}

#[test]
fn a_dead_letter_that_is_replayed_is_delivered_from_the_first_again() {
    for world in both() {
        let ids = kill_items(&world, 3);
        let done = world.seinpaal(&["queue", "dead", "a", "--replay", &ids[1]]);
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "", ""));
        let worked = world.work("a", "echo $SEINPAAL_ITEM $SEINPAAL_ATTEMPT").out;
        assert_eq!(worked, format!("{} 1\n", ids[1]));
        assert_eq!(world.seinpaal(&["queue", "dead", "a", "--replay", "all"]).out, "2\n");
        assert_eq!(world.queue("a")["ready"], 2);
    }
}

#[test]
fn a_dead_letter_that_is_dropped_is_gone() {
    for world in both() {
        let ids = kill_items(&world, 3);
        assert_eq!(world.seinpaal(&["queue", "dead", "a", "--drop", &ids[0]]).code, 0);
        assert_eq!(world.queue("a")["dead"], 2);
        assert_eq!(world.seinpaal(&["queue", "dead", "a", "--drop", "all"]).out, "2\n");
        assert_eq!(world.queue("a")["dead"], 0);
    }
}

#[test]
fn a_name_may_have_anything_in_it() {
    for world in both() {
        let name = "{a} b/ü'\"";
        world.push(name, "x");
        assert_eq!(world.queue(name)["name"], name);
        assert_eq!(world.work(name, "cat; echo \"$SEINPAAL_NAME\"").out, format!("x{name}\n"));
    }
}

#[test]
fn every_command_has_help_and_a_page() {
    let world = World::embedded();
    for command in "push work show list items dead limit pause resume purge cancel".split(' ') {
        let done = world.seinpaal(&["queue", command, "--help"]);
        assert!(done.code == 0 && done.out.contains("Exit status"), "{command}");
        let done = world.seinpaal(&["man", "queue", command]);
        assert!(done.code == 0 && done.out.contains(".TH"), "{command}: {done:?}");
        assert_eq!(
            world.seinpaal(&["queue", command]).code,
            if command == "list" { 0 } else { 64 }
        );
    }
    assert!(world.seinpaal(&["completions", "bash"]).out.contains("until-empty"));
    let done = world.seinpaal(&["queue"]);
    assert_eq!((done.code, done.err.lines().count()), (64, 1));
}

/// Makes a dead letter of each of these payloads, in this order.
fn kill_each(world: &World, payloads: &[&str]) {
    for payload in payloads {
        let args = ["queue", "push", "a", "--deliveries", "1", "--group", payload, payload];
        assert_eq!(world.seinpaal(&args).code, 0);
    }
    assert_eq!(world.work("a", "exit 1").code, 0);
}

#[test]
fn all_dead_letters_that_match_are_listed_replayed_and_dropped_and_no_others() {
    for world in both() {
        kill_each(&world, &["to: ann", "to: bob", "from: bob"]);
        let lines = |args: &[&str]| {
            let done = world.seinpaal(&[&["queue", "dead", "a", "--json"], args].concat());
            assert_eq!(done.code, 0, "{done:?}");
            done.out.lines().count()
        };
        assert_eq!([lines(&[]), lines(&["--matching", "TO:"])], [3, 2]);
        let replayed =
            world.seinpaal(&["queue", "dead", "a", "--matching", "to: b", "--replay", "all"]);
        assert_eq!((replayed.code, replayed.out.as_str()), (0, "1\n"), "{replayed:?}");
        let dropped =
            world.seinpaal(&["queue", "dead", "a", "--matching", "from", "--drop", "all"]);
        assert_eq!((dropped.code, dropped.out.as_str()), (0, "1\n"), "{dropped:?}");
        let seen = world.queue("a");
        assert_eq!((&seen["ready"], &seen["dead"]), (&1.into(), &1.into()), "{seen}");
        let one = world.seinpaal(&["queue", "dead", "a", "--matching", "x", "--drop", "7"]);
        assert_eq!((one.code, one.err.lines().count()), (64, 1), "{one:?}");
    }
}
