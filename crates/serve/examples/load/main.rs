//! Measures the cost of many open pages, and of a scrape of many names. Starts a Redis server and
//! `serve`, each as a process of its own, and loads both.
//!
//! With `--deaf N`, it opens N more pages and never reads them. Then it opens streams up to the
//! bound, and prints the answer to one more.

mod crowd;
mod page;
mod process;

use std::{
    env,
    error::Error,
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream};
use page::{Page, get};
use process::Serve;
use seinpaal::{Permit, Seinpaal};
use seinpaal_rig::RedisServer;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// How many permits are taken, or names set, at the same time.
const AT_ONCE: usize = 256;
/// How often the delay of an update is measured.
const UPDATES: usize = 40;

/// The plan of a measurement.
struct Plan {
    pages: usize,
    permits: usize,
    watched: usize,
    names: usize,
    seconds: u64,
    /// The number of pages that no client reads.
    deaf: usize,
}

#[tokio::main]
async fn main() -> Fallible<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    if let [word, store, streams] = words.as_slice()
        && word == "serve"
    {
        return process::serve(store, streams.parse()?).await;
    }
    let plan = Plan::read(&words)?;
    let redis = RedisServer::start();
    let seinpaal = Seinpaal::connect(&redis.url("")).await?;
    let serve = Serve::start(&redis.url(""), (plan.pages + plan.deaf).max(1))?;
    println!("| what | figure |\n|---|---|");
    pages(&plan, &redis, &seinpaal, &serve).await?;
    scrapes(&plan, &seinpaal, &serve).await?;
    Ok(())
}

impl Plan {
    fn read(words: &[String]) -> Fallible<Self> {
        let mut plan =
            Self { pages: 500, permits: 10_000, watched: 50, names: 100_000, seconds: 30, deaf: 0 };
        for pair in words.chunks(2) {
            let [flag, number] = pair else { return Err("each flag has a number".into()) };
            let number: usize = number.parse()?;
            match flag.as_str() {
                "--pages" => plan.pages = number,
                "--permits" => plan.permits = number,
                "--watched" => plan.watched = number.max(1),
                "--names" => plan.names = number,
                "--seconds" => plan.seconds = number as u64,
                "--deaf" => plan.deaf = number,
                _ => return Err(format!("{flag} is no flag of this").into()),
            }
        }
        Ok(plan)
    }

    /// Returns the name of a page or a permit.
    fn name(&self, number: usize) -> String {
        format!("load/{:03}", number % self.watched)
    }
}

/// Prints a figure as a row of a table.
fn say(what: &str, figure: &str) {
    println!("| {what} | {figure} |");
}

/// Measures processor time and commands with live permits alone, and then with open pages, too.
/// Measures how long an update takes.
async fn pages(
    plan: &Plan,
    redis: &RedisServer,
    seinpaal: &Seinpaal,
    serve: &Serve,
) -> Fallible<()> {
    let permits = hold(plan, seinpaal).await?;
    let window = Duration::from_secs(plan.seconds);
    let (_, before) = load(redis, serve, window).await?;
    say(&format!("{} live permits, no page: commands/s", permits.len()), &format!("{before:.0}"));
    let mut open = Vec::new();
    for number in 0..plan.pages {
        open.push(Page::open(serve.address(), &plan.name(number)).await?);
    }
    let deaf = crowd::open(plan, serve).await?;
    let (cpu, with_pages) = load(redis, serve, window).await?;
    let what = format!("{} pages of {} names", open.len(), plan.watched);
    say(&format!("{what}: processor of serve"), &format!("{:.1} % of one core", cpu * 100.0));
    say(&format!("{what}: commands/s more"), &format!("{:.0}", with_pages - before));
    let bytes: u64 = open.iter().map(Page::bytes).sum();
    say(
        &format!("{what}: bytes sent to a page, in a second"),
        &format!("{}", bytes / open.len().max(1) as u64 / plan.seconds.max(1)),
    );
    updates(plan, seinpaal, &open).await?;
    say("memory of serve then", &format!("{:.0} MB", serve.memory()? as f64 / 1e6));
    crowd::look(plan, serve, open, deaf).await?;
    drop(permits);
    Ok(())
}

async fn hold(plan: &Plan, seinpaal: &Seinpaal) -> Fallible<Vec<Permit>> {
    let limit = u32::try_from(plan.permits)?.max(1) + 1;
    let takes = (0..plan.permits).map(|number| {
        let semaphore = seinpaal.semaphore(&plan.name(number)).limit(limit);
        async move { semaphore.acquire().await }
    });
    let taken: Vec<_> = stream::iter(takes).buffer_unordered(AT_ONCE).collect().await;
    Ok(taken.into_iter().collect::<Result<_, _>>()?)
}

/// Returns the share of a core that `serve` takes, and the number of commands that the server
/// executes in a second.
async fn load(redis: &RedisServer, serve: &Serve, window: Duration) -> Fallible<(f64, f64)> {
    let (cpu, commands, started) = (serve.processor_time()?, commands(redis)?, Instant::now());
    tokio::time::sleep(window).await;
    let seconds = started.elapsed().as_secs_f64();
    let cpu = (serve.processor_time()? - cpu).as_secs_f64() / seconds;
    Ok((cpu, (self::commands(redis)? - commands) as f64 / seconds))
}

fn commands(redis: &RedisServer) -> Fallible<u64> {
    let info = redis.say(&["INFO", "stats"])?.join("\n");
    let line = info.lines().find_map(|line| line.strip_prefix("total_commands_processed:"));
    Ok(line.ok_or("the server counts no commands")?.trim().parse()?)
}

/// Measures the time from just before a request until each page of its name shows it.
async fn updates(plan: &Plan, seinpaal: &Seinpaal, open: &[Page]) -> Fallible<()> {
    let mut delays = Vec::new();
    for number in 0..UPDATES {
        let (name, mark) = (plan.name(number), format!("mark{number:04}x"));
        let watching = open.iter().filter(|page| page.name() == name);
        let started = Instant::now();
        let waits: Vec<_> = watching.map(|page| page.until_shown(&mark)).collect();
        let limit = u32::try_from(plan.permits)?.max(1) + 1;
        // The request asks for all permits, so it waits. A page lists all of a few waiters, but
        // only the first holders.
        let waiter =
            seinpaal.semaphore(&name).limit(limit).acquire().permits(limit).label("m", &mark);
        let waiting = tokio::spawn(async move { waiter.await.map(drop) });
        for wait in waits {
            delays.push(wait.await?.duration_since(started));
        }
        waiting.abort();
        let _ = waiting.await;
    }
    delays.sort_unstable();
    let at = |share: usize| delays.get((delays.len().max(1) - 1) * share / 100).copied();
    let millis = |share| at(share).map_or(0.0, |it| it.as_secs_f64() * 1e3);
    let figure = format!("{:.0} / {:.0} / {:.0} ms", millis(50), millis(99), millis(100));
    say(
        &format!("an update until it is at a page, {} times: p50 / p99 / worst", delays.len()),
        &figure,
    );
    Ok(())
}

/// Sets the limit of many names, and measures how long `/metrics` takes.
async fn scrapes(plan: &Plan, seinpaal: &Seinpaal, serve: &Serve) -> Fallible<()> {
    let sets = (0..plan.names).map(|number| {
        let semaphore = seinpaal.semaphore(&format!("many/{number:06}"));
        async move { semaphore.set_limit(3).await }
    });
    let set: Vec<_> = stream::iter(sets).buffer_unordered(AT_ONCE).collect().await;
    set.into_iter().collect::<Result<Vec<()>, _>>()?;
    let mut times = Vec::new();
    let (mut bytes, mut series) = (0, 0);
    for _ in 0..3 {
        let started = Instant::now();
        let text = get(serve.address(), "/metrics").await?;
        times.push(format!("{:.2} s", started.elapsed().as_secs_f64()));
        (bytes, series) = (
            text.len(),
            text.lines().filter(|line| line.starts_with("seinpaal_permits_held{")).count(),
        );
        // `serve` reads a list again when it is ten times as old as the reading took.
        tokio::time::sleep(started.elapsed() * 11).await;
    }
    say(&format!("/metrics with {} names, three times", plan.names), &times.join(", "));
    say("its length, and series of a metric", &format!("{} kB, {series}", bytes / 1000));
    say("memory of serve then", &format!("{:.0} MB", serve.memory()? as f64 / 1e6));
    Ok(())
}
