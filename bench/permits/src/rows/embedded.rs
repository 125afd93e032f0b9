//! The store without a server, beside two bare commits a pair: one row of 200 bytes, with the same
//! SQLite and settings, and a kernel lock around each commit.

use std::{
    fs::File,
    io,
    path::Path,
    time::{Duration, Instant},
};

use rusqlite::Connection;
use rustix::fs::{FlockOperation, flock};
use seinpaal::{Seinpaal, Semaphore};

use super::{Bench, Row, block_on};
use crate::times::median;

const ROUNDS: usize = 9;
const ROUND: Duration = Duration::from_millis(500);

pub(super) fn pairs(bench: &mut Bench, row: &Row) -> io::Result<()> {
    if !bench.wants_ours() {
        return Ok(());
    }
    let directory = tempfile::tempdir()?;
    let rounds = block_on(turn_about(directory.path()))?;
    let (ours, bare) = (|(ours, _): &(f64, f64)| *ours, |(_, bare): &(f64, f64)| *bare);
    let share = median(rounds.iter().map(|(ours, bare)| ours / bare));
    let rate = ("pairs a second", median(rounds.iter().map(ours)));
    bench.report.form(row, "Seinpaal", &[rate, ("of the bare commits' rate", share)])?;
    let rate = ("pairs a second", median(rounds.iter().map(bare)));
    bench.report.form(row, "two bare SQLite commits under flock", &[rate])
}

async fn turn_about(directory: &Path) -> io::Result<Vec<(f64, f64)>> {
    let url = format!("file://{}/store", directory.display());
    let seinpaal = Seinpaal::connect(&url).await.map_err(io::Error::other)?;
    let semaphore = seinpaal.semaphore("bench").limit(1);
    let mut bare = Bare::open(directory).map_err(io::Error::other)?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push((ours(&semaphore).await?, bare.round()?));
    }
    rounds.remove(0); // the first round made the files
    Ok(rounds)
}

async fn ours(semaphore: &Semaphore) -> io::Result<f64> {
    let (started, mut pairs) = (Instant::now(), 0_u32);
    while started.elapsed() < ROUND {
        let permit = semaphore.acquire().await.map_err(io::Error::other)?;
        permit.release().await.map_err(io::Error::other)?;
        pairs += 1;
    }
    Ok(f64::from(pairs) / started.elapsed().as_secs_f64())
}

struct Bare {
    database: Connection,
    gate: File,
}

impl Bare {
    fn open(directory: &Path) -> rusqlite::Result<Self> {
        let database = Connection::open(directory.join("bare"))?;
        database.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
             CREATE TABLE bare (name INTEGER PRIMARY KEY, row BLOB NOT NULL)",
        )?;
        let gate = File::create(directory.join("gate"));
        let gate = gate.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        Ok(Self { database, gate })
    }

    fn round(&mut self) -> io::Result<f64> {
        let (started, mut commits) = (Instant::now(), 0_u32);
        while started.elapsed() < ROUND {
            self.commit(commits)?;
            commits += 1;
        }
        Ok(f64::from(commits) / 2.0 / started.elapsed().as_secs_f64())
    }

    fn commit(&self, number: u32) -> io::Result<()> {
        let mut row = [0; 200];
        row[..4].copy_from_slice(&number.to_le_bytes());
        flock(&self.gate, FlockOperation::LockExclusive)?;
        let put = self.database.prepare_cached("INSERT OR REPLACE INTO bare VALUES (1, ?1)");
        put.and_then(|mut put| put.execute([&row[..]])).map_err(io::Error::other)?;
        Ok(flock(&self.gate, FlockOperation::Unlock)?)
    }
}
