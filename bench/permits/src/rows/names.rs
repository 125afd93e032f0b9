//! Very many names of one client.

use std::{env, io, process::Command};

use super::{Bench, Row};
use crate::{server::Server, worker::Worker};

const NAMES: f64 = 100_000.0;

pub(super) fn many(bench: &mut Bench, row: &Row) -> io::Result<()> {
    if !bench.wants_ours() {
        return Ok(());
    }
    let server = Server::start()?;
    let mut driver = Command::new(env::current_exe()?);
    let driver = driver.args(["drive", "names", &server.url(), &format!("names={NAMES}")]);
    let before = server.memory()?;
    let mut worker = Worker::start(driver)?;
    let [granted, resident, took] = worker.hear("granted")?[..] else {
        return Err(io::Error::other("the driver does not say what was granted"));
    };
    let grown = server.memory()? - before;
    worker.go()?;
    let [listed, list] = worker.hear("listed")?[..] else {
        return Err(io::Error::other("the driver does not say what was listed"));
    };
    let figures = [
        ("granted", granted),
        ("seconds", took),
        ("listed", listed),
        ("seconds to list", list),
        ("server bytes a name", grown / granted),
        ("client bytes a name", resident / granted),
    ];
    bench.report.form(row, "Seinpaal", &figures)
}
