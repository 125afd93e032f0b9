//! One client with a permit of each of many names.

use std::{
    fs,
    io::{self, BufRead},
    time::{Duration, Instant},
};

use seinpaal::Seinpaal;
use tokio::task::JoinSet;

/// A request that takes longer is not granted.
const GRANT_TIMEOUT: Duration = Duration::from_secs(90);

/// Asks for all at once; says `granted N CLIENT_BYTES SECONDS`, and at a line of input `listed N
/// SECONDS`.
pub(super) async fn run(url: &str, names: u64) -> io::Result<()> {
    let seinpaal = Seinpaal::connect(url).await.map_err(io::Error::other)?;
    let acquire = |name| seinpaal.semaphore(&format!("bench-{name}")).limit(1).acquire();
    drop(acquire(names).await); // all that a client has anyway is there
    let (before, started) = (resident(), Instant::now());
    let asked = (0..names).map(|name| acquire(name).timeout(GRANT_TIMEOUT).into_future());
    let permits = asked.collect::<JoinSet<_>>().join_all().await;
    let permits: Vec<_> = permits.into_iter().filter_map(Result::ok).collect();
    let took = started.elapsed().as_secs_f64();
    println!("granted {} {} {took}", permits.len(), resident() - before);
    tokio::task::spawn_blocking(|| io::stdin().lock().read_line(&mut String::new())).await??;
    let started = Instant::now();
    let listed = seinpaal.list("bench-").await.map_err(io::Error::other)?;
    println!("listed {} {}", listed.len(), started.elapsed().as_secs_f64());
    std::process::exit(0)
}

/// The bytes of memory that this process has.
fn resident() -> f64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) * 1024.0
}
