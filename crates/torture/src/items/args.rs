//! Reads the command line of a load of items.

use std::{path::PathBuf, time::Duration};

use super::{
    ItemPlan,
    store::{ItemStore, StoreFault},
    worker::ItemOrders,
};
use crate::args::number;

/// The usage of the program.
pub const USAGE: &str = "usage: torture items --store KIND [--items N] [--workers N] [--concurrency N] [--kill-every MS] [--restart N] \
[--fail-over N] [--fail-over-cut N] [--ttl MS] [--seed S] [--history FILE]
  KIND             embedded, redis, redis-everysec, redis-always, sentinel, sentinel-1, sentinel-2 (`replicated`)
  --kill-every     milliseconds between two kills of workers; 0: none
  --restart        how often the server is killed and started again
  --fail-over      how often the master is killed; --fail-over-cut: after 300 ms of writes that no replica has
See docs/internals/tests/torture.md.";

/// Reads a run from the command line.
///
/// # Errors
/// The mistake in the command line, in one line.
pub fn plan(args: &[String]) -> Result<ItemPlan, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut plan = ItemPlan::new(program);
    let mut kind = None;
    for pair in args.chunks(2) {
        let [option, value] = pair else { return Err(format!("{} needs a value", pair[0])) };
        match option.as_str() {
            "--store" => kind = Some(value.parse()?),
            "--items" => plan.items = number(value)?,
            "--workers" => plan.workers = number(value)?,
            "--concurrency" => plan.concurrency = number(value)?,
            "--kill-every" => plan.kill_every = every(number(value)?),
            "--restart" => plan.faults = (StoreFault::Restart, number(value)?),
            "--fail-over" => plan.faults = (StoreFault::FailOver, number(value)?),
            "--fail-over-cut" => plan.faults = (StoreFault::FailOverCut, number(value)?),
            "--ttl" => plan.ttl = Duration::from_millis(number(value)?),
            "--seed" => plan.seed = number(value)?,
            "--history" => plan.history = PathBuf::from(value),
            _ => return Err(format!("there is no option {option}")),
        }
    }
    plan.kind = kind.ok_or("which store? say --store")?;
    checked(plan)
}

fn checked(plan: ItemPlan) -> Result<ItemPlan, String> {
    let (fault, times) = plan.faults;
    if times > 0 && !plan.kind.can_have(fault) {
        return Err(format!("{} cannot be {fault}", plan.kind));
    }
    if plan.workers == 0 || plan.concurrency == 0 || plan.items == 0 {
        return Err("there must be items, and workers with something to do".to_owned());
    }
    Ok(plan)
}

fn every(milliseconds: u64) -> Option<Duration> {
    (milliseconds > 0).then(|| Duration::from_millis(milliseconds))
}

impl ItemPlan {
    /// Makes the run that docs/internals/tests/torture.md describes.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Self {
            kind: ItemStore::Redis,
            items: 100_000,
            workers: 8,
            concurrency: 4,
            kill_every: every(100),
            faults: (StoreFault::Restart, 0),
            seed: 1,
            ttl: Duration::from_secs(2),
            history: std::env::temp_dir()
                .join(format!("torture-items-{}.history", std::process::id())),
            program,
        }
    }
}

/// Reads the arguments with which the rig starts a worker.
///
/// # Errors
/// The mistake in the arguments.
pub fn orders(args: &[String]) -> Result<ItemOrders, String> {
    let [url, who, history, seed, ttl, concurrency] = args else {
        return Err("a worker is started by the rig only".to_owned());
    };
    Ok(ItemOrders {
        url: url.clone(),
        who: who.clone(),
        history: PathBuf::from(history),
        seed: number(seed)?,
        ttl: Duration::from_millis(number(ttl)?),
        concurrency: number(concurrency)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ItemPlan, String> {
        plan(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_one_line() {
        for text in [
            "--store",
            "--store moon",
            "--seed 1",
            "--store embedded --restart 1",
            "--x y",
            "--store redis --workers 0",
        ] {
            assert_eq!(parse(text).unwrap_err().lines().count(), 1, "{text}");
        }
    }

    #[test]
    fn a_server_that_keeps_nothing_is_not_judged_for_what_it_forgets() {
        assert!(parse("--store redis --restart 1").unwrap().rules().may_forget);
        assert!(!parse("--store redis-always --restart 1").unwrap().rules().may_forget);
        assert!(!parse("--store sentinel-2 --fail-over 1").unwrap().rules().may_forget);
    }
}
