//! Server instructions of an item of a queue, by callgrind, with the drivers of bench/queues. Its
//! src/peer.rs describes the lines that drivers read and print.

use std::{io, path::PathBuf, process::Command};

use super::{Bench, Row};
use crate::{install, peer::here, server::Server, worker::Worker};

/// The items of the shorter run, for single items and for batches. The longer run has twice as
/// many.
const ITEMS: u64 = 192;
const MANY: u64 = 640;
const BATCH: u64 = 64;

/// The peers that have queues.
pub(crate) struct QueuePeer {
    pub(crate) name: &'static str,
    shown: &'static str,
    version: &'static str,
    /// Whether one worker can work on many items at a time.
    is_concurrent: bool,
    driver: fn() -> io::Result<Vec<PathBuf>>,
}

pub(crate) const PEERS: [QueuePeer; 4] = [
    QueuePeer {
        name: "seinpaal",
        shown: "Seinpaal",
        version: env!("CARGO_PKG_VERSION"),
        is_concurrent: true,
        driver: || rust("seinpaal"),
    },
    QueuePeer {
        name: "bullmq",
        shown: "BullMQ",
        version: "6.7.0",
        is_concurrent: true,
        driver: node,
    },
    QueuePeer {
        name: "apalis",
        shown: "apalis with Redis",
        version: "1.0.0",
        is_concurrent: true,
        driver: || rust("apalis"),
    },
    QueuePeer { name: "rq", shown: "RQ", version: "2.12.0", is_concurrent: false, driver: python },
];

pub(super) fn items(bench: &mut Bench, row: &Row) -> io::Result<()> {
    for peer in PEERS.iter().filter(|peer| bench.wants(peer.name)).collect::<Vec<_>>() {
        match figures(peer) {
            Ok(figures) => {
                let command = format!("bench/run --only {} --peers {}", row.name, peer.name);
                bench.report.add(row, (peer.shown, peer.version), &figures, None, command)?;
            }
            Err(error) => bench.report.left_out(row, (peer.shown, peer.version), &error)?,
        }
    }
    Ok(())
}

fn figures(peer: &QueuePeer) -> io::Result<Vec<(&'static str, f64)>> {
    let driver = (peer.driver)()?;
    let pushed = |items, batch| pushed(&driver, items, batch);
    let worked = |items, concurrency| worked(&driver, items, concurrency);
    let mut figures = vec![
        ("push", difference(ITEMS, |items| pushed(items, 1))?),
        ("push, 64 at a time", difference(MANY, |items| pushed(items, BATCH))?),
        ("pop and acknowledge", difference(ITEMS, |items| worked(items, 1))?),
    ];
    if peer.is_concurrent {
        figures.push((
            "pop and acknowledge, 64 at once",
            difference(MANY, |items| worked(items, 64))?,
        ));
    }
    Ok(figures)
}

fn difference(items: u64, counted: impl Fn(u64) -> io::Result<f64>) -> io::Result<f64> {
    Ok((counted(2 * items)? - counted(items)?) / items as f64)
}

/// The instructions of all requests of a program that pushes this many items.
fn pushed(driver: &[PathBuf], items: u64, batch: u64) -> io::Result<f64> {
    let server = Server::counted()?;
    server.count()?;
    push(driver, &server, items, batch)?;
    server.counted_since()
}

fn push(driver: &[PathBuf], server: &Server, items: u64, batch: u64) -> io::Result<()> {
    let mut command = command(driver, "push", server);
    command.args([items, batch, 0].map(|number| number.to_string()));
    Worker::start(&mut command)?.hear("pushed").map(drop)
}

/// The instructions from the order to begin until the last item's end.
fn worked(driver: &[PathBuf], items: u64, concurrency: u64) -> io::Result<f64> {
    let server = Server::counted()?;
    push(driver, &server, items, BATCH)?;
    let mut command = command(driver, "work", &server);
    let mut worker = Worker::start(command.args([&concurrency.to_string(), "count"]))?;
    worker.hear("ready")?;
    server.count()?;
    worker.go()?;
    while worker.hear("done")?.first().is_none_or(|done| *done < items as f64) {}
    server.counted_since()
}

fn command(driver: &[PathBuf], what: &str, server: &Server) -> Command {
    let mut command = Command::new(&driver[0]);
    command.args(&driver[1..]).args([what, &server.url()]);
    command
}

fn rust(name: &str) -> io::Result<Vec<PathBuf>> {
    install::cargo(&here(".."), "seinpaal-bench-queues")?;
    let program = here("../target/release/seinpaal-bench-queues");
    Ok(vec![program, "drive".into(), name.into()])
}

fn node() -> io::Result<Vec<PathBuf>> {
    install::npm(&here("../queues"))?;
    Ok(vec!["node".into(), here("../queues/bullmq.mjs")])
}

fn python() -> io::Result<Vec<PathBuf>> {
    let environment = here("../queues/venv");
    install::python(&here("../queues"), &environment)?;
    Ok(vec![environment.join("bin/python"), here("../queues/rq_driver.py")])
}
