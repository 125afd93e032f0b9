//! Tests of items by their state: they are listed, and all of them are cancelled at once.

use std::process::Stdio;

use super::support::{World, both, kill, until};

/// Returns the rows that `queue items` prints as JSON.
fn items(world: &World, args: &[&str]) -> Vec<serde_json::Value> {
    let done = world.seinpaal(&[&["queue", "items", "a", "--json"], args].concat());
    assert_eq!(done.code, 0, "{done:?}");
    done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn payloads(world: &World, args: &[&str]) -> Vec<String> {
    items(world, args).iter().map(|item| item["payload"].as_str().unwrap().to_owned()).collect()
}

fn push(world: &World, args: &[&str]) {
    let done = world.seinpaal(&[&["queue", "push", "a"], args].concat());
    assert_eq!(done.code, 0, "{done:?}");
}

/// Makes one dead item, two ready ones, one of them in a group, and a delayed one.
fn some(world: &World) {
    push(world, &["--deliveries", "1", "dead"]);
    assert_eq!(world.work("a", "exit 3").code, 0);
    push(world, &["--group", "acme", "--label", "job=42", "of a group"]);
    push(world, &["--priority", "5", "ready"]);
    push(world, &["--delay", "1h", "--label", "job=42", "delayed"]);
}

#[test]
fn items_are_listed_by_their_state_in_the_order_of_service() {
    for world in both() {
        some(&world);
        assert_eq!(payloads(&world, &[]), ["of a group", "ready", "delayed", "dead"]);
        assert_eq!(payloads(&world, &["--state", "ready"]), ["of a group", "ready"]);
        assert_eq!(payloads(&world, &["--state", "in-work"]), [""; 0]);
        assert_eq!(payloads(&world, &["--matching", "JOB=42"]), ["of a group", "delayed"]);
        let delayed = items(&world, &["--state", "delayed"]).remove(0);
        assert!(delayed["due_at_ms"].as_u64() > delayed["pushed_at_ms"].as_u64(), "{delayed}");
        assert_eq!((&delayed["state"], &delayed["deliveries"]), (&"delayed".into(), &0.into()));
        assert!(delayed["worker"].is_null() && delayed["died_at_ms"].is_null(), "{delayed}");
        let dead = items(&world, &["--state", "dead"]).remove(0);
        assert_eq!(
            (&dead["reason"], &dead["most_deliveries"]),
            (&"exit status 3".into(), &1.into())
        );
        let table = world.seinpaal(&["queue", "items", "a"]).out;
        assert_eq!(table.lines().count(), 5, "{table}");
        for words in ["in 59m", "of a group", "dead", "PAYLOAD"] {
            assert!(table.contains(words), "{words}: {table}");
        }
        let empty = world.seinpaal(&["queue", "items", "b"]);
        assert_eq!((empty.code, empty.out.as_str()), (0, ""));
        assert_eq!(world.seinpaal(&["queue", "items", "a", "--state", "done"]).code, 64);
    }
}

#[test]
fn more_items_than_a_page_has_are_all_listed_and_cancelled() {
    for world in both() {
        let script = "seq -f 'item %g' 0 2099 | $SEINPAAL queue push a --lines > /dev/null";
        assert!(world.shell_command(script).status().unwrap().success());
        let all = payloads(&world, &["--state", "ready"]);
        assert_eq!(all.len(), 2_100);
        assert_eq!((&all[0][..], &all[2_099][..]), ("item 0", "item 2099"));
        let matching = ["queue", "cancel", "a", "all", "--matching", "item 20"];
        let done = world.seinpaal(&matching);
        assert_eq!((done.code, done.out.as_str()), (0, "111\n"), "{done:?}");
        let done = world.seinpaal(&["queue", "cancel", "a", "all", "--state", "ready"]);
        assert_eq!((done.code, done.out.as_str()), (0, "1989\n"), "{done:?}");
        assert_eq!(world.queue("a")["ready"], 0);
    }
}

#[test]
fn a_cancel_of_all_must_say_which_items() {
    for world in both() {
        some(&world);
        let cancel = |args: &[&str]| world.seinpaal(&[&["queue", "cancel", "a"], args].concat());
        for wrong in [
            &["all"][..],
            &["all", "--state", "dead"],
            &["7", "--state", "ready"],
            &["7", "--matching", "x"],
        ] {
            let done = cancel(wrong);
            assert_eq!((done.code, done.err.lines().count()), (64, 1), "{wrong:?}: {done:?}");
        }
        let done = cancel(&["all", "--matching", "job=42", "--state", "delayed"]);
        assert_eq!((done.code, done.out.as_str()), (0, "1\n"), "{done:?}");
        assert_eq!(payloads(&world, &[]), ["of a group", "ready", "dead"]);
        let done = cancel(&["all", "--matching", "e"]);
        assert_eq!((done.code, done.out.as_str()), (0, "2\n"), "dead letters stay: {done:?}");
        assert_eq!(payloads(&world, &[]), ["dead"]);
    }
}

#[test]
fn all_items_in_work_that_match_are_cancelled_and_the_others_go_on() {
    for world in both() {
        for group in ["acme", "acme", "other"] {
            assert_eq!(world.seinpaal(&["queue", "push", "a", "--group", group, "x"]).code, 0);
        }
        let args = ["queue", "work", "a", "-c", "3", "--", "sh", "-c", "exec sleep 1000"];
        let mut worker = world.command(&args).stderr(Stdio::null()).spawn().unwrap();
        let pid = worker.id();
        until("all are in work", || world.queue("a")["in_work"] == 3);
        let done = world.seinpaal(&["queue", "cancel", "a", "all", "--matching", "ACME"]);
        assert_eq!((done.code, done.out.as_str()), (0, "2\n"), "{done:?}");
        assert_eq!(world.queue("a")["in_work"], 1);
        let working = items(&world, &["--state", "in-work"]).remove(0);
        assert_eq!(working["worker"]["pid"], pid, "{working}");
        // The first TERM ends no command, but the second does.
        let mut is_over = || worker.try_wait().unwrap().is_some();
        while !is_over() {
            kill("TERM", pid);
        }
        worker.wait().unwrap();
    }
}
