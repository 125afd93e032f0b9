//! Tests of estimates, which are based on the last holds of a name. There is none until a hold has
//! ended.

use super::{
    support::{Held, World, both, screen::Screen},
    why::one_hold_has_ended,
};

/// Two jobs that take turns for ever, so that one holds and one waits. Each hold lasts longer than
/// a second.
struct Busy(Vec<Held>);

impl Busy {
    fn start(world: &World) -> Self {
        let script = "while [ ! -e over ]; do $SEINPAAL run a --priority 9 sleep 1.4; done";
        let jobs = [(); 2].map(|()| Held::start(world.shell_command(script)));
        world.until_waiting("a", 1);
        Self(jobs.into())
    }

    fn end(mut self, world: &World) {
        std::fs::write(world.path("over"), "").unwrap();
        self.0.iter_mut().for_each(|job| assert_eq!(job.end().code, 0));
    }
}

#[test]
fn a_run_that_waits_tells_an_estimate_as_soon_as_a_hold_has_ended() {
    for world in both() {
        let busy = Busy::start(&world);
        let script = "exec $SEINPAAL run a --events 5 true 5>&1";
        let mut waiter = Held::start(world.shell_command(script));
        let told = loop {
            let event: serde_json::Value = serde_json::from_str(&waiter.line()).unwrap();
            assert_ne!(event["event"], "acquired", "it is behind those with a higher priority");
            if event["event"] == "position" {
                if event["estimate"]["holds_seen"].is_u64() {
                    break event["estimate"].clone();
                }
                assert_eq!(event["estimate"]["kind"], "no-hold-ended", "{event}");
            }
        };
        assert!(told["holds_seen"].as_u64().unwrap() >= 1, "{told}");
        assert!(told["typical_hold_ms"].as_u64().unwrap() >= 1000, "{told}");
        assert_eq!((&told["kind"], told["wait_ms"].is_u64()), (&"about".into(), true));
        assert!(told["text"].as_str().unwrap().contains("going by the"), "{told}");
        busy.end(&world);
        assert_eq!(waiter.end().code, 0);
    }
}

#[test]
fn top_explains_its_estimate_by_the_last_holds() {
    let world = World::embedded();
    let busy = Busy::start(&world);
    let mut screen = Screen::start(&world, &["sh", "-c", "exec $SEINPAAL top"]);
    screen.until_shown("1 waiting");
    screen.typed("\r");
    screen.until_shown("EXPECTED");
    screen.until_shown("going by the");
    screen.typed("q");
    screen.end();
    busy.end(&world);
}

#[test]
fn while_no_hold_has_ended_show_says_that_there_is_no_estimate_and_why() {
    for world in both() {
        let (held, _) = Held::hold(&world, &["a"]);
        let mut waiter = Held::start(world.command(&["run", "a", "true"]));
        world.until_waiting("a", 1);
        let estimate = world.show("a")["waiters"][0]["estimate"].clone();
        let is_told = (&estimate["kind"], estimate["wait_ms"].is_null());
        assert_eq!(is_told, (&"no-hold-ended".into(), true));
        assert_eq!(estimate["text"], "cannot say: no hold has ended yet");
        assert!(!world.seinpaal(&["show", "a"]).out.contains("about "));
        held.let_go();
        assert_eq!(waiter.end().code, 0);
    }
}

#[test]
fn show_estimates_each_wait_except_for_waiters_that_are_shut_out() {
    for world in both() {
        one_hold_has_ended(&world, "1");
        let (held, _) = Held::hold(&world, &["a"]);
        let mut waiter = Held::start(world.command(&["run", "a", "true"]));
        world.until_waiting("a", 1);
        let estimate = world.show("a")["waiters"][0]["estimate"].clone();
        assert_eq!((&estimate["kind"], estimate["wait_ms"].is_u64()), (&"about".into(), true));
        let table = world.seinpaal(&["show", "a"]).out;
        assert!(table.contains("EXPECTED") && table.contains("about "), "{table}");
        world.seinpaal(&["pause", "a", "--reason", "repairs"]);
        let estimate = world.show("a")["waiters"][0]["estimate"].clone();
        assert_eq!((&estimate["kind"], estimate["wait_ms"].is_null()), (&"paused".into(), true));
        let table = world.seinpaal(&["show", "a"]).out;
        assert!(table.contains("EXPECTED") && !table.contains("about "), "{table}");
        world.seinpaal(&["resume", "a"]);
        held.let_go();
        assert_eq!(waiter.end().code, 0);
    }
}
