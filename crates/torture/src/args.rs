//! Reads the command line.

use std::{io, path::PathBuf, time::Duration};

use crate::{
    fault::TortureFault, kind::StoreKind, promise, queue::check::felt, rig::TorturePlan,
    worker::WorkerOrders,
};

/// How long the rig goes on at the end, after the last effects of faults. Some checks judge only
/// this time.
const JUDGED: Duration = Duration::from_secs(30);

/// The usage of the program.
pub const USAGE: &str = "usage: torture [--queue] --store KIND [--minutes N] [--calm N] [--seed S] [--faults LIST] [--workers N] [--tasks N] \
[--history FILE]
       torture judge [--queue] --store KIND --history FILE
       torture items --store KIND …: a load of items; `torture items` alone says more
  KIND      embedded, redis, guarded (no persistence, restart guard), sentinel, cluster, quorum, zookeeper
  --faults  names, with commas between; `promised` (default): all that the store promises to survive; `none`
  --history where the history goes; default: a temporary file, kept if a promise was broken
  --calm    minutes without faults at the end
Numbers may be fractions for --minutes (default 1) and --calm (default: as long as faults have effects, and half a \
minute). See docs/internals/tests/torture.md.";

/// Reads a run from the command line.
///
/// # Errors
/// The mistake in the command line, in one line.
pub fn plan(args: &[String]) -> Result<TorturePlan, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut plan = TorturePlan::new(StoreKind::Redis, program);
    let (mut kind, mut faults, mut calm) = (None, "promised", None);
    plan.queue = args.iter().any(|arg| arg == "--queue");
    let args: Vec<String> = args.iter().filter(|arg| *arg != "--queue").cloned().collect();
    for pair in args.chunks(2) {
        let [option, value] = pair else { return Err(format!("{} needs a value", pair[0])) };
        match option.as_str() {
            "--store" => kind = Some(value.parse()?),
            "--minutes" => plan.time = minutes(value)?,
            "--calm" => calm = Some(minutes(value)?),
            "--seed" => plan.seed = number(value)?,
            "--faults" => faults = value,
            "--workers" => plan.workers = number(value)?,
            "--tasks" => plan.tasks = number(value)?,
            "--history" => plan.history = PathBuf::from(value),
            _ => return Err(format!("there is no option {option}")),
        }
    }
    plan.kind = kind.ok_or("which store? say --store")?;
    plan.calm = calm.unwrap_or_else(|| long_calm(plan.kind, plan.ttl));
    plan.faults = wanted(plan.kind, faults)?;
    if plan.workers == 0 || plan.tasks == 0 {
        return Err("there must be workers with tasks".to_owned());
    }
    Ok(plan)
}

impl TorturePlan {
    /// Makes the default run: a minute with every fault that the store promises to survive.
    #[must_use]
    pub fn new(kind: StoreKind, program: PathBuf) -> Self {
        let ttl = Duration::from_secs(3);
        let name = format!("torture-{}.history", std::process::id());
        Self {
            kind,
            time: Duration::from_secs(60),
            calm: long_calm(kind, ttl),
            seed: 1,
            faults: promise::survived(kind),
            workers: 4,
            tasks: 3,
            ttl,
            names: vec![("one".to_owned(), 1), ("few".to_owned(), 3)],
            queue: false,
            history: std::env::temp_dir().join(name),
            program,
        }
    }
}

/// A calm at whose end no fault has effects any more, and in which there still is much to judge.
fn long_calm(kind: StoreKind, ttl: Duration) -> Duration {
    Duration::from_micros(felt(&kind.terms(ttl))) + JUDGED
}

/// Reads the arguments with which the rig starts a worker.
///
/// # Errors
/// The mistake in the arguments.
pub fn orders(args: &[String]) -> Result<WorkerOrders, String> {
    let [url, who, history, seed, ttl, tasks, names] = args else {
        return Err("a worker is started by the rig only".to_owned());
    };
    let name = |pair: &str| {
        let (name, limit) = pair.split_once(':').ok_or("a name is NAME:LIMIT")?;
        Ok((name.to_owned(), number(limit)?))
    };
    Ok(WorkerOrders {
        url: url.clone(),
        who: who.clone(),
        history: PathBuf::from(history),
        seed: number(seed)?,
        ttl: Duration::from_millis(number(ttl)?),
        tasks: number(tasks)?,
        names: match names.as_str() {
            "queue" => Vec::new(),
            names => names.split(',').map(name).collect::<Result<_, String>>()?,
        },
    })
}

fn wanted(kind: StoreKind, list: &str) -> Result<Vec<TortureFault>, String> {
    let rows = promise::rows(kind);
    let mut faults = Vec::new();
    for word in list.split(',').filter(|word| *word != "none") {
        if word == "promised" {
            faults.extend(promise::survived(kind));
            continue;
        }
        let fault: TortureFault = word.parse()?;
        if !rows.iter().any(|row| row.0 == fault) {
            let known: Vec<_> = rows.iter().map(|row| row.0.name()).collect();
            return Err(format!("{kind} cannot have {fault}: it can have {}", known.join(", ")));
        }
        faults.push(fault);
    }
    Ok(faults)
}

fn minutes(text: &str) -> Result<Duration, String> {
    let minutes = text.parse().ok().filter(|minutes| (0.0..100_000.0).contains(minutes));
    minutes
        .map(|minutes: f64| Duration::from_secs_f64(minutes * 60.0))
        .ok_or_else(|| format!("not minutes: {text}"))
}

pub(crate) fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("not a number: {text}"))
}

/// Turns a message into an [`io::Error`], for `main`.
///
/// # Errors
/// Always.
pub fn refuse<T>(why: String) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<TorturePlan, String> {
        plan(&text.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn faults_that_are_not_promised_happen_only_when_asked_for() {
        let usual = parse("--store redis").unwrap();
        assert!(
            usual.faults.contains(&TortureFault::Restart)
                && !usual.faults.contains(&TortureFault::FlushAll)
        );
        let asked = parse("--store redis --faults flushall,cut").unwrap();
        assert_eq!(asked.faults, [TortureFault::FlushAll, TortureFault::Cut]);
        assert_eq!(parse("--store redis --faults none").unwrap().faults, []);
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_one_line() {
        for text in
            ["--store", "--store moon", "--seed 1", "--store embedded --faults flushall", "--x y"]
        {
            assert_eq!(parse(text).unwrap_err().lines().count(), 1, "{text}");
        }
    }

    #[test]
    fn the_calm_of_a_run_outlasts_the_effects_of_faults_on_every_store() {
        for kind in StoreKind::ALL {
            for queue in ["", "--queue "] {
                let plan = parse(&format!("{queue}--store {kind}")).unwrap();
                let terms = plan.kind.terms(plan.ttl);
                let longest = terms.calm_after().max(felt(&terms));
                assert!(plan.calm > Duration::from_micros(longest), "{queue}{kind}");
            }
        }
        assert_eq!(parse("--store redis --calm 0.5").unwrap().calm, Duration::from_secs(30));
    }

    #[test]
    fn minutes_may_be_fractions() {
        assert_eq!(parse("--store redis --minutes 0.5").unwrap().time, Duration::from_secs(30));
    }
}
