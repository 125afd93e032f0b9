//! `bench`: measures the speed of the store through the public API.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use seinpaal::{AcquireError, Permit, ReleaseError, Seinpaal, Semaphore};
use tokio::{sync::Notify, task::JoinSet, time::timeout};

use crate::{
    args::{BenchArgs, Global},
    connection::{connect, on_runtime},
    exit::{Exit, Failure},
    output::{self, NamedStore, Voice, json},
    run::{Signals, unless_ended},
    settings,
};

/// How many tasks, or names, a row with many of them has.
const MANY: usize = 64;
/// The length of leases. It is short, so that the permits of a lost connection are soon free.
const TTL: Duration = Duration::from_secs(10);
/// How long the last releases may take. After that the leases end by themselves.
const PARTING: Duration = Duration::from_secs(10);

/// The measurements. Each takes a part of the time.
const ROWS: [BenchRow; 5] = [
    BenchRow { what: "one task, one name", tasks: 1, names: 1, is_relay: false },
    BenchRow { what: "many tasks, one name", tasks: MANY, names: 1, is_relay: false },
    BenchRow { what: "one task, many names", tasks: 1, names: MANY, is_relay: false },
    BenchRow { what: "many tasks, many names", tasks: MANY, names: MANY, is_relay: false },
    BenchRow { what: "hand-over", tasks: 2, names: 1, is_relay: true },
];

#[derive(Clone, Copy)]
struct BenchRow {
    what: &'static str,
    tasks: usize,
    names: usize,
    /// Whether two clients hand one permit to and fro. Each figure is then the time from a release
    /// until the other client has the permit.
    is_relay: bool,
}

/// The times of all pairs of acquire and release, and the time of the whole row.
struct Measurement {
    row: BenchRow,
    pairs: Vec<Duration>,
    lasted: Duration,
}

/// Measures one row at a time, and prints each as soon as it is complete.
pub(super) fn bench(global: &Global, args: &BenchArgs, voice: Voice) -> Result<Exit, Failure> {
    let choice = settings::choose(global)?;
    let part = Duration::from_secs(u64::from(args.seconds)) / ROWS.len() as u32;
    let ended = on_runtime(async {
        let mut signals = Signals::listen()?;
        let connecting =
            connect(&choice, Some(TTL), "seinpaal bench", Duration::ZERO, voice, &mut signals);
        let seinpaal = connecting.await?;
        let connecting =
            connect(&choice, Some(TTL), "seinpaal bench", Duration::ZERO, voice, &mut signals);
        let other = connecting.await?;
        let measuring = Box::pin(measure_all([&seinpaal, &other], part, global.json));
        let ended = unless_ended(&mut signals, measuring).await;
        // Closing gives back all permits and leaves all lines, even after a signal.
        for seinpaal in [&seinpaal, &other] {
            let _ = timeout(PARTING, seinpaal.close()).await;
        }
        ended?
    });
    ended.map(|()| Exit::Success).map_err(|failure| failure.about(NamedStore::new("", &choice.url)))
}

async fn measure_all(
    seinpaal: [&Seinpaal; 2],
    part: Duration,
    as_json: bool,
) -> Result<(), Failure> {
    let prefix = format!("seinpaal-bench-{:016x}-", rand_word()?);
    if !as_json {
        output::print(&Measurement::heads())?;
    }
    for row in ROWS {
        let measured = measure(seinpaal, row, &prefix, part).await?;
        let row = if as_json { measured.json() } else { measured.row() };
        output::print(&row)?;
    }
    Ok(())
}

/// Reads a random number from the kernel, so that two runs never share a name.
fn rand_word() -> Result<u64, Failure> {
    let mut bytes = [0; 8];
    let read = std::fs::File::open("/dev/urandom")
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes));
    read.map_err(|error| Failure::internal(format!("cannot read /dev/urandom: {error}")))?;
    Ok(u64::from_ne_bytes(bytes))
}

async fn measure(
    [seinpaal, other]: [&Seinpaal; 2],
    row: BenchRow,
    prefix: &str,
    part: Duration,
) -> Result<Measurement, Failure> {
    let began = Instant::now();
    let until = began + part;
    let mut tasks = if row.is_relay {
        start_relay([seinpaal, other], prefix, until)
    } else {
        start_pairs(seinpaal, row, prefix, until)
    };
    let mut pairs = Vec::new();
    while let Some(done) = tasks.join_next().await {
        let done = done.map_err(|error| Failure::internal(format!("a task ended: {error}")))?;
        pairs.extend(done?);
    }
    pairs.sort();
    Ok(Measurement { row, pairs, lasted: began.elapsed() })
}

/// Tasks that measure. Each returns the times of its pairs.
type Measuring = JoinSet<Result<Vec<Duration>, Failure>>;

/// Starts two clients with a connection each, as if they were on two machines.
fn start_relay(clients: [&Seinpaal; 2], prefix: &str, until: Instant) -> Measuring {
    let relay = Arc::new(Relay::default());
    let mut tasks = JoinSet::new();
    for client in clients {
        let semaphore = client.semaphore(&format!("{prefix}relay"));
        tasks.spawn(hand_over(semaphore, Arc::clone(&relay), until));
    }
    tasks
}

/// Starts the tasks of a row. With many tasks and many names, each task has its own name. A single
/// task goes through all names.
fn start_pairs(seinpaal: &Seinpaal, row: BenchRow, prefix: &str, until: Instant) -> Measuring {
    let names: Vec<_> =
        (0..row.names).map(|n| seinpaal.semaphore(&format!("{prefix}{n}"))).collect();
    let mut tasks = JoinSet::new();
    for task in 0..row.tasks {
        let mine = names.iter().skip(task % row.names).step_by(row.tasks).cloned().collect();
        tasks.spawn(pairs(mine, until));
    }
    tasks
}

/// Acquires and releases again and again, and returns the time of each pair.
async fn pairs(names: Vec<Semaphore>, until: Instant) -> Result<Vec<Duration>, Failure> {
    let mut took = Vec::new();
    for semaphore in names.iter().cycle() {
        let began = Instant::now();
        release(acquire(semaphore.acquire().into_future()).await?).await?;
        took.push(began.elapsed());
        if Instant::now() >= until {
            break;
        }
    }
    Ok(took)
}

/// The messages between the two clients that hand a permit to and fro.
#[derive(Default)]
struct Relay {
    /// Tells that the other client stands in line.
    queued: Notify,
    /// The moment at which the permit was last given back.
    released_at: Mutex<Option<Instant>>,
}

/// Hands the permit over again and again. Returns the times from just before each release until the
/// waiting client had the permit.
async fn hand_over(
    semaphore: Semaphore,
    relay: Arc<Relay>,
    until: Instant,
) -> Result<Vec<Duration>, Failure> {
    let mut took = Vec::new();
    loop {
        let tell = Arc::clone(&relay);
        let request = semaphore.acquire().on_queued(move |_| tell.queued.notify_one());
        let permit = acquire(request.into_future()).await?;
        let before = relay.released_at.lock().ok().and_then(|mut at| at.take());
        took.extend(before.map(|at| at.elapsed()));
        let left = until.saturating_duration_since(Instant::now());
        let is_over = timeout(left, relay.queued.notified()).await.is_err();
        if let Ok(mut at) = relay.released_at.lock() {
            *at = (!is_over).then(Instant::now);
        }
        release(permit).await?;
        if is_over {
            // This wakes the other client, which waits for a sign that this one stands in line.
            relay.queued.notify_one();
            return Ok(took);
        }
    }
}

async fn acquire(
    request: impl Future<Output = Result<Permit, AcquireError>>,
) -> Result<Permit, Failure> {
    request.await.map_err(|error| match error {
        AcquireError::Store(error) => error.into(),
        other => Failure::new(Exit::Unreachable, other),
    })
}

async fn release(permit: Permit) -> Result<(), Failure> {
    let released: Result<(), ReleaseError> = permit.release().await;
    released.map_err(|error| Failure::new(Exit::Unreachable, error))
}

impl Measurement {
    fn per_second(&self) -> f64 {
        self.pairs.len() as f64 / self.lasted.as_secs_f64()
    }

    /// Returns the time that this many hundredths of the pairs did not exceed.
    fn percentile(&self, hundredths: usize) -> Option<Duration> {
        let at = (self.pairs.len() * hundredths).div_ceil(100).saturating_sub(1);
        self.pairs.get(at).copied()
    }

    fn heads() -> String {
        line(["", "TASKS", "NAMES", "PAIRS/S", "P50", "P99", "MAX"].map(str::to_owned))
    }

    fn row(&self) -> String {
        let time = |length: Option<Duration>| {
            length.map_or_else(
                || "-".to_owned(),
                |length| format!("{:.3} ms", length.as_secs_f64() * 1e3),
            )
        };
        line([
            self.row.what.to_owned(),
            self.row.tasks.to_string(),
            self.row.names.to_string(),
            format!("{:.0}", self.per_second()),
            time(self.percentile(50)),
            time(self.percentile(99)),
            time(self.pairs.last().copied()),
        ])
    }

    fn json(&self) -> String {
        let micros = |length: Option<Duration>| length.map(|length| length.as_micros());
        json::line(&json::Measured {
            what: self.row.what,
            tasks: self.row.tasks,
            names: self.row.names,
            pairs: self.pairs.len(),
            seconds: self.lasted.as_secs_f64(),
            pairs_per_second: self.per_second(),
            p50_us: micros(self.percentile(50)),
            p99_us: micros(self.percentile(99)),
            max_us: micros(self.pairs.last().copied()),
        })
    }
}

/// Formats a row. The columns have fixed widths, because rows are printed one by one.
fn line([what, tasks, names, pairs, p50, p99, max]: [String; 7]) -> String {
    format!("{what:<24}{tasks:>6}{names:>7}{pairs:>9}{p50:>13}{p99:>13}{max:>13}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_time_that_so_many_took_no_longer_than() {
        let pairs = (1..=200).map(Duration::from_millis).collect();
        let lasted = Duration::from_secs(10);
        let measured = Measurement { row: ROWS[0], pairs, lasted };
        assert_eq!(measured.percentile(50), Some(Duration::from_millis(100)));
        assert_eq!(measured.percentile(99), Some(Duration::from_millis(198)));
        let none = Measurement { row: ROWS[0], pairs: Vec::new(), lasted };
        assert_eq!(none.percentile(99), None);
    }
}
