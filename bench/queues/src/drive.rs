//! The drivers in Rust: those of Seinpaal and of apalis.

mod apalis;
mod seinpaal;

use std::{
    io::{self, BufRead},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use tokio::sync::oneshot;

use crate::{measure::now, number};

const TELL_EVERY: Duration = Duration::from_millis(20);
const PAYLOAD_BYTES: usize = 64;

/// Runs a driver, with the arguments that every driver takes: see `peer`.
pub(crate) fn run(args: &[String]) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    runtime.block_on(async {
        match words[..] {
            ["seinpaal", "push", url, ref plan @ ..] => seinpaal::push(url, Plan::new(plan)?).await,
            ["apalis", "push", url, ref plan @ ..] => apalis::push(url, Plan::new(plan)?).await,
            ["seinpaal", "work", url, concurrency, mode] => {
                seinpaal::work(url, number(concurrency)?, Tally::new(mode)).await
            }
            ["apalis", "work", url, concurrency, mode] => {
                apalis::work(url, number(concurrency)?, Tally::new(mode)).await
            }
            _ => Err(io::Error::other("what is to be driven?")),
        }
    })
}

/// The items to push.
struct Plan {
    items: u64,
    batch: u64,
    gap: Duration,
}

impl Plan {
    fn new(words: &[&str]) -> io::Result<Self> {
        let [items, batch, gap] = words else { return Err(io::Error::other("how many?")) };
        let gap = Duration::from_millis(number(gap)?);
        Ok(Self { items: number(items)?, batch: number(batch)?, gap })
    }

    /// The sizes of the batches.
    fn batches(&self) -> impl Iterator<Item = u64> + use<> {
        let (items, batch) = (self.items, self.batch);
        (0..items.div_ceil(batch)).map(move |at| batch.min(items - at * batch))
    }
}

fn payload() -> String {
    format!("{:x<PAYLOAD_BYTES$}", now())
}

fn say_pushed(started: u64) {
    println!("pushed {}", now() - started);
}

/// The work of a worker.
struct Tally {
    done: AtomicU64,
    last: AtomicU64,
    notes_latency: bool,
}

impl Tally {
    fn new(mode: &str) -> Arc<Self> {
        let notes_latency = mode == "latency";
        Arc::new(Self { done: AtomicU64::new(0), last: AtomicU64::new(0), notes_latency })
    }

    /// Notes that an item was worked on.
    fn note(&self, payload: &str) {
        if self.notes_latency {
            let pushed: u64 = payload.trim_end_matches('x').parse().unwrap_or_default();
            println!("late {}", now() - pushed);
        }
        self.last.store(now(), Ordering::Relaxed);
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Prints `ready`, waits for the order to begin, and from then on prints the progress until input
/// ends.
async fn until_told(tally: &Arc<Tally>) {
    let (sender, told) = oneshot::channel();
    println!("ready");
    thread::spawn(move || {
        let mut lines = io::stdin().lock().lines();
        let _ = lines.next().map(|_| sender.send(())); // an error means that the program ends
        lines.for_each(drop);
        std::process::exit(0);
    });
    let tally = Arc::clone(tally);
    let _ = told.await; // the program ends if no order comes
    thread::spawn(move || tell(&tally));
}

fn tell(tally: &Tally) {
    let mut told = 0;
    loop {
        thread::sleep(TELL_EVERY);
        let done = tally.done.load(Ordering::Relaxed);
        if done != told {
            told = done;
            println!("done {told} {}", tally.last.load(Ordering::Relaxed));
        }
    }
}

fn broken(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}
