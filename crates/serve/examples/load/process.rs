//! `serve` as a process of its own, and its use of the machine.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use seinpaal::Seinpaal;
use seinpaal_serve::{Dashboard, Options, StreamRoom};
use tokio::net::TcpListener;

use super::Fallible;

/// Linux always reports processor time in hundredths of a second. This is their number in a second.
const TICKS: u64 = 100;

/// The process. It ends when this value is dropped.
pub(super) struct Serve {
    process: Child,
    address: String,
}

/// Serves the pages of a store, and prints their address.
pub(super) async fn serve(store: &str, streams: usize) -> Fallible<()> {
    let seinpaal = Seinpaal::connect(store).await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let room = StreamRoom::make(streams);
    let options = Options { streams: room.streams, ..Options::default() };
    let router = Dashboard::new(seinpaal, options)?.router();
    Ok(seinpaal_serve::serve(listener, router, room.connections).await?)
}

impl Serve {
    pub(super) fn start(store: &str, streams: usize) -> Fallible<Self> {
        let mut process = Command::new(env::current_exe()?)
            .args(["serve", store, &streams.to_string()])
            .stdout(Stdio::piped())
            .spawn()?;
        let mut address = String::new();
        let stdout = process.stdout.take().ok_or("it has no stdout")?;
        BufReader::new(stdout).read_line(&mut address)?;
        Ok(Self { process, address: address.trim().to_owned() })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Returns how many files the process has open. Each connection is one.
    pub(super) fn files(&self) -> Fallible<usize> {
        Ok(fs::read_dir(format!("/proc/{}/fd", self.process.id()))?.count())
    }

    /// Returns the processor time of the process, in user and in kernel mode.
    pub(super) fn processor_time(&self) -> Fallible<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        let (_, fields) = stat.rsplit_once(") ").ok_or("not a stat")?;
        let fields: Vec<_> = fields.split(' ').collect();
        let ticks: u64 = fields[11].parse::<u64>()? + fields[12].parse::<u64>()?;
        Ok(Duration::from_millis(ticks * 1000 / TICKS))
    }

    /// Returns how much memory the process takes, in bytes.
    pub(super) fn memory(&self) -> Fallible<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next());
        Ok(kilobytes.ok_or("no VmRSS")?.parse::<u64>()? * 1024)
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
