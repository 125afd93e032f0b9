//! The embedded store beside other openers of its database: a second connection of the same
//! process, database shells, backups, and processes that are killed meanwhile.
#![cfg(all(feature = "embedded", target_os = "linux"))]

mod judge;
mod late;
mod opener;
mod pair;
#[path = "../processes/mod.rs"]
mod processes;
mod siege;

use std::{
    env, fs,
    os::unix::fs::MetadataExt,
    path::Path,
    process::{Command, id},
};

use processes::BOUND;
use seinpaal::Seinpaal;
use siege::{ROLE, Siege};

/// The processes of these tests: what each does is named in its environment.
#[test]
fn a_client_process() {
    match env::var(ROLE).as_deref() {
        Ok("pair") => pair::run(),
        Ok("opener") => opener::run(),
        _ => processes::client::run(),
    }
}

fn url(dir: &Path) -> String {
    format!("file://{}", dir.display())
}

/// Opens the database as a database shell does, in a process of its own, and closes it again.
fn look_with_another_program(dir: &Path) {
    let mut shell = Command::new("sqlite3");
    match shell.arg(dir.join("seinpaal.db")).arg("SELECT count(*) FROM small").output() {
        Ok(done) => assert!(done.status.success(), "{done:?}"),
        Err(_) => look_by_ourselves(dir), // no such program here
    }
}

fn look_by_ourselves(dir: &Path) {
    let mut opener = processes::Client::spawn(siege::command(dir, "opener"));
    assert_eq!(opener.line(), "open");
    assert_eq!(opener.order("once"), "looked");
    opener.end();
}

/// Returns whether this process has a lock of SQLite's on the database. `/proc/locks` is read a
/// page at a time, and a lock may be missing from it although it was held all the time, if others
/// were dropped between two pages. So it is read several times: nothing takes the lock again once
/// it was dropped.
fn has_lock_on_database(dir: &Path) -> bool {
    (0..20).any(|_| is_lock_on_database_told(dir))
}

fn is_lock_on_database_told(dir: &Path) -> bool {
    let inode = fs::metadata(dir.join("seinpaal.db")).unwrap().ino().to_string();
    let locks = fs::read_to_string("/proc/locks").unwrap();
    locks.lines().any(|lock| {
        let words: Vec<&str> = lock.split_whitespace().collect();
        let is_on_it = words.iter().any(|word| word.split(':').nth(2) == Some(&inode));
        is_on_it && words.contains(&"POSIX") && words.contains(&&*id().to_string())
    })
}

#[tokio::test]
async fn nothing_that_a_process_does_with_connections_drops_the_lock_on_the_database() {
    let dir = tempfile::tempdir().unwrap();
    let url = url(dir.path());
    let holds = |what: &str| assert!(has_lock_on_database(dir.path()), "after {what}");
    let first = Seinpaal::connect(&url).await.unwrap();
    holds("connecting");
    let second = Seinpaal::connect(&url).await.unwrap();
    holds("connecting a second time");
    let permit = second.mutex("m").lock().await.unwrap();
    holds("taking a permit");
    first.queue("q").push("x").await.unwrap();
    second.queue("q").push("y").await.unwrap();
    holds("pushing");
    first.queue("q").pop().await.unwrap().acknowledge().await.unwrap();
    holds("working");
    permit.release().await.unwrap();
    second.list("").await.unwrap();
    drop(second);
    holds("closing the second");
    look_with_another_program(dir.path());
    holds("a look by another program");
    drop(Seinpaal::connect(&url).await.unwrap());
    holds("connecting and closing again");
}

#[tokio::test]
async fn a_database_shell_beside_two_connections_of_a_process_lets_nobody_in_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) =
        (Seinpaal::connect(&url(dir.path())).await, Seinpaal::connect(&url(dir.path())).await);
    let (first, second) = (first.unwrap(), second.unwrap());
    look_with_another_program(dir.path());
    let held = first.semaphore("n").limit(1).acquire().await.unwrap();
    for round in 0..3 {
        let mut newcomer = processes::Client::start(dir.path());
        assert_eq!(newcomer.order("try n 1 1"), "busy", "round {round}");
        assert_eq!(newcomer.order(&format!("push q {round}")), "pushed");
        newcomer.end();
        let item = second.queue("q").pop().timeout(BOUND).await.unwrap();
        assert_eq!(item.payload(), format!("{round}").as_bytes());
        item.acknowledge().await.unwrap();
        look_with_another_program(dir.path());
    }
    assert!(held.is_held());
    held.release().await.unwrap();
    let mut newcomer = processes::Client::start(dir.path());
    assert_eq!(newcomer.order("try n 1 1"), "granted");
}

#[test]
fn pairs_of_connections_beside_openers_and_kills_keep_the_limit_and_every_item() {
    let seconds = env::var("SEINPAAL_FOREIGN_SECONDS").map_or(6, |text| text.parse().unwrap());
    let seed = env::var("SEINPAAL_SEED").map_or(1, |text| text.parse().unwrap());
    let report = Siege::begin(seed).last(seconds).end();
    println!("seed {seed}: {report}");
    assert!(report.violations.is_empty(), "seed {seed}: {report}");
    assert!(report.grants > 0 && report.done > 0 && report.looks > 0, "seed {seed}: {report}");
}

#[test]
fn a_backup_by_vacuum_into_opens_as_a_store_of_its_own() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut client = processes::Client::start(dir.path());
    assert_eq!(client.order("push q a"), "pushed");
    let mut opener = processes::Client::spawn(siege::command(dir.path(), "opener"));
    assert_eq!(opener.line(), "open");
    let copy = other.path().join("seinpaal.db");
    assert_eq!(opener.order(&format!("vacuum-into {}", copy.display())), "copied");
    opener.end();
    let mut restored = processes::Client::start(other.path());
    assert_eq!(restored.order("work q 1"), "works on a 1");
    assert_eq!(client.order("work q 1"), "works on a 1", "the store itself is as it was");
}

#[test]
fn a_stopped_store_may_be_copied_file_by_file() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut client = processes::Client::start(dir.path());
    assert_eq!(client.order("push q a"), "pushed");
    client.end();
    let from = format!("{}/.", dir.path().display());
    let copied = Command::new("cp").arg("-a").arg(from).arg(other.path()).status().unwrap();
    assert!(copied.success());
    let mut restored = processes::Client::start(other.path());
    assert_eq!(restored.order("work q 1"), "works on a 1");
}
