//! Tests of names for slots.

use super::support::{Held, World};

const NAMING: [&str; 4] = ["limit", "boards", "--slots", "GPU-0,GPU-1,board-b"];
const TELL: &str = "echo $SEINPAAL_SLOT $SEINPAAL_SLOT_NAME $SEINPAAL_SLOT_NAMES";

#[test]
fn a_job_is_told_the_name_of_its_slot_and_can_wish_for_one() {
    for world in [World::embedded(), World::redis()] {
        assert_eq!(world.seinpaal(&NAMING).code, 0);
        let limit = world.seinpaal(&["limit", "boards"]);
        assert_eq!(limit.out.trim(), "3");
        assert!(limit.err.contains("its slots are GPU-0,GPU-1,board-b"), "{limit:?}");
        let shown = world.seinpaal(&["show", "boards"]).out;
        assert!(shown.contains("slots GPU-0,GPU-1,board-b"), "{shown}");
        let told = |args: &[&str]| {
            let all = [&["run", "boards"], args, &["--", "sh", "-c", TELL]].concat();
            world.seinpaal(&all).out.trim().to_owned()
        };
        assert_eq!(told(&[]), "0 GPU-0 GPU-0");
        assert_eq!(told(&["--slot", "board-b"]), "2 board-b board-b");
        assert_eq!(told(&["-p", "2", "--slot", "GPU-1"]), "0 GPU-0 GPU-0,GPU-1");
    }
}

/// Both stores are tested, because a `run` on the embedded store starts CMD in another way than one
/// with a guard.
#[test]
fn a_run_of_another_name_inside_is_told_nothing_of_the_slots_and_names_around_it() {
    for world in [World::embedded(), World::redis()] {
        assert_eq!(world.seinpaal(&NAMING).code, 0);
        let some = "env | grep -E 'SLOT_NAME|ALSO' | cut -d = -f 1 | sort";
        let script = format!(
            "{some}; echo -; $S run b sh -c \"{some}\"; echo -; $S run b --also c sh -c \"{some}\""
        );
        let script = format!("S={}; {script}", super::support::program());
        let args = ["run", "boards", "--also", "d", "--", "sh", "-c", &script];
        let done = world.seinpaal(&args);
        let [also, names] = [
            "SEINPAAL_ALSO_FENCES\nSEINPAAL_ALSO_SLOTS\n",
            "SEINPAAL_SLOT_NAME\nSEINPAAL_SLOT_NAMES\n",
        ];
        assert_eq!(done.out, format!("{also}{names}-\n-\n{also}"), "{done:?}");
    }
}

#[test]
fn a_run_waits_for_the_slot_it_names_and_show_says_so() {
    for world in [World::embedded(), World::redis()] {
        world.seinpaal(&NAMING);
        let (held, _) = Held::hold(&world, &["boards", "--slot", "board-b"]);
        let done = world.seinpaal(&["run", "boards", "-n", "--slot", "board-b", "true"]);
        assert_eq!(done.code, 75, "{done:?}");
        let args = ["run", "boards", "--slot", "board-b", "true"];
        let mut waiter = Held::start(world.command(&args));
        world.until_waiting("boards", 1);
        assert_eq!(world.seinpaal(&["run", "boards", "-n", "true"]).code, 0);
        let shown = world.show("boards");
        assert_eq!(shown["slot_names"], serde_json::json!(["GPU-0", "GPU-1", "board-b"]));
        for row in ["holders", "waiters"] {
            assert_eq!(shown[row][0]["slot_names"], serde_json::json!(["board-b"]));
        }
        let ticket = shown["waiters"][0]["ticket"].as_str().unwrap().to_owned();
        let why = world.seinpaal(&["show", "boards", "--why", &ticket]).out;
        assert!(why.contains("slot board-b is held by"), "{why}");
        held.let_go();
        assert_eq!(waiter.end().code, 0);
    }
}

#[test]
fn impossible_requests_are_refused_before_anything_is_written() {
    let world = World::embedded();
    for (args, code, words) in [
        (&["limit", "a", "--slots", "x,x"][..], 64, "two slots"),
        (&["limit", "a", "--slots", "x,"], 64, "empty"),
        (&["limit", "a", "2", "--slots", "x,y"], 64, "cannot be used with"),
        (
            &["run", "a", "--slot", "x", "true"],
            78,
            "no slot is called x, because the slots here have no names",
        ),
        (
            &["run", "boards", "--slot", "x", "true"],
            78,
            "no slot is called x: there are GPU-0, GPU-1, board-b",
        ),
        (
            &["run", "boards", "-p", "2", "--slot", "GPU-0", "--slot", "y", "true"],
            78,
            "no slot is called y:",
        ),
        (&["acquire", "boards", "--slot", "gpu-0"], 78, "no slot is called gpu-0:"),
        (&["run", "boards", "--slot", "GPU-0", "--slot", "GPU-1", "true"], 64, "2 slots"),
        (&["run", "boards", "--shared", "--slot", "GPU-0", "true"], 64, "cannot be used with"),
    ] {
        world.seinpaal(&NAMING);
        let done = world.seinpaal(args);
        assert!(done.code == code && done.err.contains(words), "{args:?}: {done:?}");
    }
    let (held, _) = Held::hold(&world, &["boards"]);
    for args in [&["limit", "boards", "2"][..], &["limit", "boards", "--slots", "board-b,GPU-0"]] {
        let done = world.seinpaal(args);
        assert!(done.code == 78 && done.err.contains("GPU-0"), "{args:?}: {done:?}");
    }
    held.let_go();
}
