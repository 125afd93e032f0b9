//! Tests of the program on ZooKeeper.

use super::support::{Held, World, until};
use seinpaal_rig::ZookeeperEnsemble;

fn world(chroot: &str) -> World {
    let mut world = World::embedded();
    world.store = format!("{}/cli/{chroot}", ZookeeperEnsemble::shared().url());
    world
}

/// The guard must go by the real lease, and not by the wanted ttl.
#[test]
fn a_command_outlives_many_leases_of_a_short_session() {
    let mut world = world("outlives");
    world.store += "?session=6s";
    let done = world.seinpaal(&["run", "a", "--ttl", "60s", "sleep", "6"]);
    assert_eq!((done.code, &done.err[..]), (0, ""));
}

#[test]
fn when_a_holder_is_killed_its_command_ends_and_then_the_next_gets_in() {
    let mut world = world("killed");
    world.store += "?session=2s";
    let (mut held, cmd) = Held::hold(&world, &["a"]);
    held.kill_hard();
    let script = format!("if [ -e /proc/{cmd} ]; then cat /proc/{cmd}/stat; else echo gone; fi");
    let done = world.seinpaal(&["run", "a", "sh", "-c", &script]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out == "gone\n" || done.out.contains(") Z "), "{}", done.out);
}

#[test]
fn a_detached_ticket_is_held_though_its_session_is_over() {
    let world = world("detached");
    let ticket = world.seinpaal(&["acquire", "a", "--ttl", "60s"]).out;
    assert_eq!(world.seinpaal(&["run", "a", "-n", "true"]).code, 75);
    assert_eq!(world.seinpaal(&["release", "a", ticket.trim()]).code, 0);
    until("it is free", || world.seinpaal(&["run", "a", "-n", "true"]).code == 0);
}

#[test]
fn what_is_wrong_with_the_url_is_told_by_the_status() {
    let mut world = world("status");
    let right = world.store.replace("zookeeper://", "zookeeper://me:right@");
    let wrong = right.replace("right", "wrong");
    for (store, code) in [
        (right, 0),
        (wrong, 77),
        ("zookeeper://127.0.0.1:1/x?connect-timeout=100ms".to_owned(), 69),
        ("zookeeper://me@127.0.0.1/x".to_owned(), 78),
        ("zookeper://127.0.0.1/x".to_owned(), 78),
    ] {
        world.store = store;
        let done = world.seinpaal(&["run", "a", "true"]);
        assert_eq!(done.code, code, "{} {}", world.store, done.err);
        assert_eq!(done.err.lines().count(), usize::from(code != 0), "{}", done.err);
        assert!(!done.err.contains("wrong@") && !done.err.contains(":wrong"), "{}", done.err);
    }
}

#[test]
fn it_keeps_no_queues_and_names_stores_that_do() {
    let done = world("queues").seinpaal(&["queue", "push", "a", "x"]);
    assert_eq!((done.code, done.err.lines().count()), (78, 1), "{done:?}");
    assert!(done.err.contains("keeps no queues: use file:"), "{done:?}");
}

#[test]
fn doctor_tells_the_session_by_which_its_leases_end() {
    let mut world = world("doctor");
    world.store += "?session=6s";
    let done = world.seinpaal(&["doctor", "--ttl", "60s"]);
    assert_eq!((done.code, &done.err[..]), (0, ""), "{done:?}");
    assert!(done.out.contains("session") && done.out.contains("3.0s"), "{done:?}");
    assert!(done.out.ends_with("all well\n"), "{done:?}");
}
