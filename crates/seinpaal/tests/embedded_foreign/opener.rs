//! Another program that opens the database: a shell, a browser, a backup.

use std::{
    env, fs,
    io::BufRead,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use fastrand::Rng;
use rusqlite::{Connection, Result};

use super::processes;

fn say(what: &str) {
    println!("> {what}");
}

/// Obeys line by line. `loop SEED` opens and closes the database until the input ends.
pub(super) fn run() {
    let dir = PathBuf::from(env::var(processes::DIR).unwrap());
    let file = dir.join("seinpaal.db");
    say("open");
    while let Some(line) = next_line() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["once"] => {
                look(&file).unwrap();
                say("looked");
            }
            ["vacuum-into", copy] => {
                vacuum_into(&file, Path::new(copy)).unwrap();
                say("copied");
            }
            ["check"] => say(&check(&file).unwrap_or_else(|error| error.to_string())),
            ["loop", seed] => return look_until_told(&dir, seed.parse().unwrap()),
            _ => panic!("no such order: {line}"),
        }
    }
}

/// Locks the input for one line only, because during `loop` another thread waits for its end.
fn next_line() -> Option<String> {
    std::io::stdin().lock().lines().next()?.ok()
}

fn look_until_told(dir: &Path, seed: u64) {
    let is_over = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&is_over);
    thread::spawn(move || {
        next_line();
        told.store(true, Ordering::Relaxed);
    });
    let mut rng = Rng::with_seed(seed);
    let mut looks = 0;
    while !is_over.load(Ordering::Relaxed) {
        match one_of(dir, rng.u64(..6)) {
            Err(error) if is_damage(&error) => say(&format!("violation: {error}")),
            _ => looks += 1, // busy, or the database is not there yet
        }
    }
    say(&format!("looks {looks}"));
}

fn one_of(dir: &Path, what: u64) -> Result<()> {
    let file = dir.join("seinpaal.db");
    match what {
        0 => {
            let copy = dir.join("../copy.db");
            let _ = fs::remove_file(&copy);
            vacuum_into(&file, &copy)
        }
        1 => {
            let _ = fs::copy(&file, dir.join("../copied.db"));
            Ok(())
        }
        2 => connect(&file)?.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())),
        3 => connect(&file)?.execute_batch("BEGIN IMMEDIATE; COMMIT"),
        _ => look(&file),
    }
}

/// Looks as `sqlite3 FILE 'select …'` does: it opens the file for writing, and closes it.
fn look(file: &Path) -> Result<()> {
    connect(file)?.query_row("SELECT count(*) FROM small", [], |_| Ok(()))
}

fn connect(file: &Path) -> Result<Connection> {
    use rusqlite::OpenFlags;
    Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

fn vacuum_into(file: &Path, copy: &Path) -> Result<()> {
    connect(file)?.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).map(drop)
}

fn check(file: &Path) -> Result<String> {
    connect(file)?.query_row("PRAGMA integrity_check", [], |row| row.get(0))
}

fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}
