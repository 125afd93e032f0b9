//! Tests of SQLite's index of its log, which one `run` leaves to the next (docs/decisions/embedded.md).

use std::{
    fs::{self, File},
    os::unix::fs::FileExt,
    path::PathBuf,
    process::Stdio,
    thread,
    time::{Duration, SystemTime},
};

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use super::support::{World, until};

/// The offset of four bytes that SQLite never reads, and clears when it makes the index anew.
const UNUSED: u64 = 132;
const MARK: [u8; 4] = *b"mark";

fn file(world: &World, name: &str) -> PathBuf {
    world.path("store").join(name)
}

/// Gives the gate an old date. The date says when a process last had to wait there, and for a
/// moment after that a run opens the store in another way. A new gate, or one that was written, has
/// a recent date.
fn nobody_waited_lately(world: &World) {
    let gate = File::options().write(true).open(file(world, "gate")).unwrap();
    gate.set_modified(SystemTime::UNIX_EPOCH).unwrap();
}

/// Makes a store whose index a run has just left to the next.
fn left_behind() -> World {
    let world = World::embedded();
    until("a run has noted the index", || {
        assert_eq!(world.seinpaal(&["run", "a", "true"]).code, 0);
        nobody_waited_lately(&world);
        fs::metadata(file(&world, "gate")).unwrap().len() > 0 || !tells_mounts(&world)
    });
    let index = File::options().write(true).open(file(&world, "seinpaal.db-shm")).unwrap();
    index.write_all_at(&MARK, UNUSED).unwrap();
    world
}

/// Returns whether the next run finds the index unchanged.
fn is_found(world: &World) -> bool {
    assert_eq!(world.seinpaal(&["run", "a", "true"]).code, 0);
    let mut there = [0; 4];
    let index = File::open(file(world, "seinpaal.db-shm")).unwrap();
    index.read_exact_at(&mut there, UNUSED).unwrap();
    there == MARK
}

/// Returns whether the kernel can distinguish a mount from a later one at the same place.
fn tells_mounts(world: &World) -> bool {
    let unique = StatxFlags::from_bits_retain(0x4000);
    let told = statx(CWD, world.root(), AtFlags::empty(), unique).unwrap();
    told.stx_mask & unique.bits() != 0
}

fn assert_is_sound(world: &World) {
    let db = rusqlite::Connection::open(file(world, "seinpaal.db")).unwrap();
    let said: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(said, "ok");
}

#[test]
fn a_run_finds_the_index_as_the_last_one_left_it() {
    let world = left_behind();
    assert_eq!(is_found(&world), tells_mounts(&world));
    assert_is_sound(&world);
}

#[test]
fn an_index_of_another_boot_is_made_anew() {
    let world = left_behind();
    let note = fs::read_to_string(file(&world, "gate")).unwrap();
    fs::write(file(&world, "gate"), note.replace('-', "+")).unwrap();
    nobody_waited_lately(&world);
    assert!(!is_found(&world));
    assert_eq!(fs::read_to_string(file(&world, "gate")).unwrap(), note);
}

#[test]
fn an_index_of_another_log_is_made_anew() {
    let world = left_behind();
    let earlier = fs::read(file(&world, "seinpaal.db-wal")).unwrap();
    assert_eq!(world.seinpaal(&["run", "a", "true"]).code, 0);
    fs::write(file(&world, "seinpaal.db-wal"), earlier).unwrap();
    assert!(!is_found(&world));
    assert_is_sound(&world);
}

#[test]
fn runs_that_are_killed_at_any_moment_leave_a_sound_store() {
    let world = left_behind();
    for round in 0..60 {
        let mut run = world.command(&["run", "-j", "1", "a", "--", "true"]);
        let mut run = run.stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_micros(250 * round));
        run.kill().unwrap();
        run.wait().unwrap();
        if round % 6 == 0 {
            assert_eq!(world.seinpaal(&["limit", "b", &(round + 1).to_string()]).code, 0);
        }
    }
    assert_eq!(world.seinpaal(&["limit", "b"]).out, "55\n");
    assert_eq!(world.seinpaal(&["run", "-j", "1", "a", "--", "true"]).code, 0);
    assert_is_sound(&world);
}
