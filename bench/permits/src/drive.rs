//! The drivers in Rust: those of Seinpaal, rslock and distributed-lock-redis. See `peer`.

mod distributed_lock;
mod names;
mod rslock;
mod seinpaal;

use std::{
    collections::HashMap,
    io::{self, BufRead},
    rc::Rc,
    time::Duration,
};

use tokio::task::LocalSet;

use crate::{peer::OURS, times::now};

/// A time that is longer than every hold and every wait.
const FOREVER: Duration = Duration::from_secs(60);

/// The lock of one task: how the task acquires and releases it.
trait Lock {
    type Held;
    async fn acquire(&self) -> io::Result<Self::Held>;
    async fn release(held: Self::Held) -> io::Result<()>;
}

/// The work of a driver: see `peer`.
struct Orders(HashMap<String, u64>);

pub(crate) fn run(args: &[String]) -> io::Result<()> {
    let [kind, url, words @ ..] = args else { return Err(io::Error::other("drive what?")) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let orders = Rc::new(Orders::read(words)?);
    let work = async {
        match kind.as_str() {
            OURS => serve(seinpaal::locks(url, &orders).await?, orders).await,
            "rslock" => serve(rslock::locks(url, &orders), orders).await,
            "distributed-lock" => serve(distributed_lock::locks(url, &orders).await?, orders).await,
            "names" => names::run(url, orders.of("names")).await,
            _ => Err(io::Error::other("drive whom?")),
        }
    };
    runtime.block_on(LocalSet::new().run_until(work))
}

async fn serve<L: Lock + 'static>(locks: Vec<L>, orders: Rc<Orders>) -> io::Result<()> {
    let locks: Vec<Rc<L>> = locks.into_iter().map(Rc::new).collect();
    for lock in locks.iter().take(usize::try_from(orders.of("names")).unwrap_or(1)) {
        L::release(lock.acquire().await?).await?;
    }
    let mut lines = lines();
    println!("ready");
    while lines.recv().await.is_some() {
        round(&locks, &orders).await?;
    }
    // Permits and waits that are left end with the process.
    std::process::exit(0)
}

async fn round<L: Lock + 'static>(locks: &[Rc<L>], orders: &Rc<Orders>) -> io::Result<()> {
    let started = now();
    let until = started + orders.of("millis") * 1_000_000;
    let task = |(at, lock): (usize, &Rc<L>)| {
        tokio::task::spawn_local(task(at, Rc::clone(lock), Rc::clone(orders), until))
    };
    let tasks: Vec<_> = locks.iter().enumerate().map(task).collect();
    let mut pairs = Vec::new();
    for task in tasks {
        pairs.push(task.await??);
    }
    let (least, most) = (pairs.iter().min(), pairs.iter().max());
    let (least, most) = (least.copied().unwrap_or_default(), most.copied().unwrap_or_default());
    println!("took {} {} {least} {most}", now() - started, pairs.iter().sum::<u64>());
    Ok(())
}

async fn task<L: Lock>(at: usize, lock: Rc<L>, orders: Rc<Orders>, until: u64) -> io::Result<u64> {
    let (count, stamps) = (orders.of("count"), orders.of("stamps") > 0);
    let (hold, pause) = (orders.millis("hold"), orders.millis("pause"));
    let mut pairs = 0;
    while if count > 0 { pairs < count } else { now() < until } {
        let asked = now();
        let held = lock.acquire().await?;
        let granted = now();
        sleep(hold).await;
        let released = now();
        L::release(held).await?;
        pairs += 1;
        if stamps {
            println!("held {at} {asked} {granted} {released}");
        }
        sleep(pause).await;
    }
    Ok(pairs)
}

async fn sleep(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

/// The lines of input. A thread reads them, because a blocking read would stop the runtime.
fn lines() -> tokio::sync::mpsc::UnboundedReceiver<()> {
    let (sender, lines) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for _ in io::stdin().lock().lines() {
            let _ = sender.send(()); // the receiver lives as long as the program
        }
    });
    lines
}

impl Orders {
    fn read(words: &[String]) -> io::Result<Self> {
        let read = |word: &String| {
            let (key, value) = word.split_once('=')?;
            Some((key.to_owned(), value.parse().ok()?))
        };
        let orders = words.iter().map(read).collect::<Option<_>>();
        orders.map(Self).ok_or_else(|| io::Error::other("an order is a key, = and a number"))
    }

    fn of(&self, key: &str) -> u64 {
        self.0.get(key).copied().unwrap_or_default()
    }

    fn millis(&self, key: &str) -> Duration {
        Duration::from_millis(self.of(key))
    }

    /// The name of each task.
    fn names(&self) -> impl Iterator<Item = String> {
        let (tasks, names) = (self.of("tasks"), self.of("names").max(1));
        (0..tasks).map(move |task| format!("bench-{}", task % names))
    }

    /// Returns whether each task has a connection of its own.
    fn are_apart(&self) -> bool {
        self.of("clients") > 0
    }

    fn limit(&self) -> u32 {
        u32::try_from(self.of("limit")).unwrap_or(1)
    }
}
