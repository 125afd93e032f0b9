//! Tests of deliveries whose worker is killed, cut off, or told that the item is cancelled.

use super::support::{Held, World, both, gate::Gate, kill, lives, until};

/// A script that prints its own process id, and that of a process in the background that ignores
/// TERM.
const STUBBORN: &str = "echo $$; (trap '' TERM; exec sleep 1000) & echo $!; exec sleep 1000";

fn work(world: &World, options: &[&str], script: &str) -> Held {
    let args = [&["queue", "work", "a"], options, &["sh", "-c", script]].concat();
    Held::start(world.command(&args))
}

#[test]
fn on_this_machine_the_item_stays_in_work_until_the_cmd_of_a_killed_worker_ends() {
    let world = World::embedded();
    let gate = Gate::new(&world);
    world.push("a", "x");
    let mut worker = work(&world, &[], gate.hold());
    let cmd = worker.line().parse().unwrap();
    worker.kill_hard();
    assert!(lives(cmd), "it is not to be disturbed");
    assert_eq!(world.queue("a")["in_work"], 1);
    gate.open();
    until("it has ended", || !lives(cmd));
    assert_eq!(
        world.work("a", "cat; echo $SEINPAAL_ATTEMPT").out,
        "x2\n",
        "nobody could acknowledge it"
    );
}

#[test]
fn on_this_machine_an_item_stays_in_work_though_cmd_closed_what_it_inherited() {
    let world = World::embedded();
    let gate = Gate::new(&world);
    world.push("a", "x");
    let close = "import os, sys; os.closerange(3, 4096); os.execvp(\"sh\", [\"sh\", \"-c\"] + sys.argv[1:])";
    let script = format!("exec python3 -c '{close}' '{}'", gate.hold());
    let mut worker = work(&world, &["-c", "2"], &script);
    let cmd = worker.line().parse().unwrap();
    worker.kill_hard();
    assert!(lives(cmd), "it is not to be disturbed");
    assert_eq!(world.queue("a")["in_work"], 1);
    gate.open();
    assert_eq!(world.work("a", "cat; echo $SEINPAAL_ATTEMPT").out, "x2\n");
}

#[test]
fn on_this_machine_each_cmd_of_a_killed_worker_keeps_its_own_item_only() {
    let world = World::embedded();
    let gate = Gate::new(&world);
    world.push("a", "short");
    world.push("a", "long");
    let script =
        format!("if [ $(cat) = short ]; then echo $$; exec sleep 1000; fi; {}", gate.hold());
    let mut worker = work(&world, &["-c", "2"], &script);
    let cmds: [u32; 2] = [worker.line().parse().unwrap(), worker.line().parse().unwrap()];
    let (short, long) = if is_sleeping(cmds[0]) { (cmds[0], cmds[1]) } else { (cmds[1], cmds[0]) };
    worker.kill_hard();
    kill("KILL", short);
    let mut other = work(&world, &[], "cat; echo");
    assert_eq!(other.line(), "short");
    assert!(lives(long));
    until("the short one is acknowledged", || world.queue("a")["in_work"] == 1);
    assert!(lives(long));
    gate.open();
    assert_eq!(other.line(), "long");
    other.signal("TERM");
    assert_eq!(other.end().code, 0);
}

fn is_sleeping(pid: u32) -> bool {
    let mut found = None;
    until("it has become sleep or cat", || {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        found = [&b"sleep"[..], b"cat"].iter().position(|name| line.starts_with(name));
        found.is_some()
    });
    found == Some(0)
}

#[test]
fn on_this_machine_many_cmds_of_a_killed_worker_keep_all_their_items() {
    let world = World::embedded();
    let gate = Gate::new(&world);
    let count = 40;
    let push = format!("seq {count} | $SEINPAAL queue push a --lines");
    assert_eq!(world.shell(&push).code, 0);
    let mut worker = work(&world, &["-c", "40"], gate.hold());
    let cmds: Vec<u32> = (0..count).map(|_| worker.line().parse().unwrap()).collect();
    worker.kill_hard();
    let shown = world.queue("a");
    assert_eq!((&shown["in_work"], &shown["ready"]), (&count.into(), &0.into()));
    gate.open();
    until("they have ended", || cmds.iter().all(|cmd| !lives(*cmd)));
    assert_eq!(world.work("a", "cat; echo").out.lines().count(), count as usize);
}

#[test]
fn on_this_machine_the_second_cmd_of_a_worker_counts_as_well_as_the_first() {
    let world = World::embedded();
    let gate = Gate::new(&world);
    world.push("a", "first");
    world.push("a", "second");
    let script = format!("if [ $(cat) = first ]; then exit 0; fi; {}", gate.hold());
    let mut worker = work(&world, &[], &script);
    let cmd = worker.line().parse().unwrap();
    worker.kill_hard();
    assert!(lives(cmd));
    assert_eq!(world.queue("a")["in_work"], 1);
    gate.open();
    assert_eq!(world.work("a", "cat").out, "second");
}

#[test]
fn on_this_machine_what_a_cmd_left_in_the_background_does_not_keep_the_item() {
    let world = World::embedded();
    let gate = Gate::new(&world);
    world.push("a", "x");
    let script = format!("setsid sleep 1000 >/dev/null 2>&1 & echo $!; {}", gate.hold());
    let mut worker = work(&world, &[], &script);
    let daemon = worker.line().parse().unwrap();
    worker.line();
    worker.kill_hard();
    gate.open();
    assert_eq!(world.work("a", "cat").out, "x");
    assert!(lives(daemon));
    kill("KILL", daemon);
}

#[test]
fn on_a_server_the_whole_group_of_a_killed_worker_is_gone_before_the_next_delivery() {
    let world = World::redis();
    world.push("a", "first");
    world.push("a", "second");
    // The guard of the first command looks after the second.
    let script = format!("if [ $(cat) = first ]; then exit 0; fi; {STUBBORN}");
    let mut worker = work(&world, &["--ttl", "3s"], &script);
    let (cmd, background) = (worker.line().parse().unwrap(), worker.line().parse().unwrap());
    worker.kill_hard();
    let states =
        format!("grep -h ^State /proc/{cmd}/status /proc/{background}/status 2>/dev/null; true");
    let done = world.work("a", &format!("cat; echo; {states}"));
    // A zombie whose new parent has not looked yet does no harm.
    let mut lines = done.out.lines();
    assert_eq!(lines.next(), Some("second"), "{done:?}");
    assert!(lines.all(|line| line.contains("zombie")), "{done:?}");
    until("the group is gone", || !lives(cmd) && !lives(background));
}

#[test]
fn on_a_server_a_stopped_worker_cannot_keep_cmd_running_past_the_lease() {
    let world = World::redis();
    world.push("a", "x");
    let mut worker = work(&world, &["--ttl", "2s"], STUBBORN);
    let (cmd, background) =
        (worker.line().parse::<u32>().unwrap(), worker.line().parse::<u32>().unwrap());
    worker.signal("STOP");
    let states =
        format!("grep -h ^State /proc/{cmd}/status /proc/{background}/status 2>/dev/null; true");
    let done = world.work("a", &states);
    assert!(done.out.lines().all(|line| line.contains("zombie")), "{done:?}");
    worker.signal("CONT");
    worker.signal("TERM");
    assert_eq!(worker.end().code, 0);
    assert_eq!(world.queue("a")["ready"], 0);
}

#[test]
fn a_silent_store_costs_the_delivery_and_the_worker_goes_on_when_it_is_back() {
    let world = World::redis();
    world.push("a", "x");
    let script = "if [ -e again ]; then echo $SEINPAAL_ATTEMPT; exit 0; fi; touch again; \
                  trap 'echo orderly; exit 3' TERM; echo $$; while :; do sleep 1 >/dev/null 2>&1 & wait; done";
    let mut worker = work(&world, &["--ttl", "2s", "--until-empty"], script);
    worker.line();
    world.redis.as_ref().unwrap().pause();
    assert_eq!(worker.line(), "orderly");
    world.redis.as_ref().unwrap().resume();
    let attempt = worker.line();
    assert!(
        attempt == "1" || attempt == "2",
        "given back in time, or its lease ran out: {attempt}"
    );
    let done = worker.end();
    assert_eq!((done.code, done.err.lines().count()), (0, 1), "{done:?}");
    assert_eq!(world.queue("a")["dead"], 0);
}

#[test]
fn the_cmd_of_a_cancelled_item_is_stopped_and_the_worker_goes_on() {
    for world in both() {
        let id = world.push("a", "x");
        let script = "if [ $(cat) = y ]; then echo y; exit 0; fi; \
                      trap 'echo orderly; exit 0' TERM; echo $$; while :; do sleep 1 >/dev/null 2>&1 & wait; done";
        let mut worker = work(&world, &[], script);
        worker.line();
        assert_eq!(world.seinpaal(&["queue", "cancel", "a", &id]).code, 0);
        assert_eq!(worker.line(), "orderly");
        world.push("a", "y");
        assert_eq!(worker.line(), "y");
        worker.signal("TERM");
        let done = worker.end();
        assert_eq!(done.code, 0, "{done:?}");
        assert!(done.err.lines().next().unwrap().contains("lost"), "{done:?}");
    }
}
