//! Tests with a store whose data is damaged.

use super::support::{Done, Held, World};

/// Writes bytes into every name that no ledger writes.
fn damage(world: &World) {
    let db = rusqlite::Connection::open(world.path("store").join("seinpaal.db")).unwrap();
    db.execute("UPDATE small SET state = x'0123456789'", []).unwrap();
}

fn assert_says_what_to_do(done: &Done) {
    assert_eq!((done.code, done.out.as_str()), (70, ""), "{done:?}");
    assert_eq!(done.err.lines().count(), 1, "{done:?}");
    assert!(
        done.err.contains("seinpaal.db: it is damaged; stop what uses it, move it"),
        "{done:?}"
    );
}

#[test]
fn damaged_data_is_70_whatever_is_asked_and_cmd_does_not_run() {
    let world = World::embedded();
    assert_eq!(world.seinpaal(&["limit", "a", "1"]).code, 0);
    damage(&world);
    let run = ["run", "a", "--", "echo", "ran"];
    let also = ["run", "b", "--also", "a", "--", "echo", "ran"];
    let hurried = ["run", "a", "-n", "--", "echo", "ran"];
    for args in [&["show", "a"][..], &run, &hurried, &also, &["acquire", "a"], &["list"]] {
        assert_says_what_to_do(&world.seinpaal(args));
    }
}

#[test]
fn a_wait_ends_with_70_when_the_data_is_damaged() {
    let world = World::embedded();
    let (held, _) = Held::hold(&world, &["a", "--ttl", "500ms"]);
    let mut waiter = Held::start(world.command(&["run", "a", "--", "echo", "ran"]));
    world.until_waiting("a", 1);
    damage(&world);
    assert_says_what_to_do(&waiter.end());
    assert_eq!(
        held.let_go().code,
        0,
        "CMD's own status, though the permit could not be given back"
    );
}
