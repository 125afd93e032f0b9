//! Puts every store through every case, and prints two tables of cases and stores, one for
//! semaphores and one for queues, with the reason where a case is not promised. Ends with 1 if a
//! case fails.
//!
//! `cargo run -p seinpaal-conformance --example table [STORE…]`

use std::{collections::BTreeMap, panic::AssertUnwindSafe, process::ExitCode, time::Duration};

use futures_util::FutureExt;
use seinpaal_conformance::{
    Ability, CASES, Case, CaseStage, ClusterHarness, EmbeddedHarness, Harness, MemoryHarness,
    QUEUE_CASES, QuorumHarness, RedisHarness, SentinelHarness, ZookeeperHarness,
};

/// The longest time of a case. Every case is much shorter, unless it waits for an event that never
/// comes.
const BOUND: Duration = Duration::from_secs(120);

/// A store by name, and a harness of it for each case.
type Row = (&'static str, fn() -> Box<dyn Harness>);

const STORES: &[Row] = &[
    ("memory", || Box::new(MemoryHarness::new())),
    ("embedded", || Box::new(EmbeddedHarness::new())),
    ("redis", || Box::new(RedisHarness::new())),
    ("sentinel", || Box::new(SentinelHarness::new())),
    ("cluster", || Box::new(ClusterHarness::new())),
    ("quorum", || Box::new(QuorumHarness::new())),
    ("zookeeper", || Box::new(ZookeeperHarness::new())),
];

enum Verdict {
    Passed,
    NotPromised(&'static str),
    Failed(String),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |store: &str| wanted.is_empty() || wanted.iter().any(|name| name == store);
    let stores: Vec<&Row> = STORES.iter().filter(|(store, _)| is_wanted(store)).collect();
    if stores.is_empty() {
        eprintln!(
            "no such store: known are {}",
            STORES.iter().map(|(store, _)| *store).collect::<Vec<_>>().join(", ")
        );
        return ExitCode::from(64);
    }
    std::panic::set_hook(Box::new(|_| {})); // each failure is printed once, below the table
    let with_queues: Vec<&Row> = stores.iter().copied().filter(|row| keeps_queues(row)).collect();
    let mut failures = table(CASES, &stores).await;
    if !with_queues.is_empty() {
        println!("\n## Queues\n");
        failures.extend(table(QUEUE_CASES, &with_queues).await);
    }
    failures.iter().for_each(|failure| eprintln!("FAILED {failure}"));
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn keeps_queues((_, harness): &Row) -> bool {
    harness().lacks(Ability::KeepsQueues).is_none()
}

/// Prints one table, and returns the cases that failed.
async fn table(cases: &[Case], stores: &[&Row]) -> Vec<String> {
    let mut columns = Vec::new();
    for (store, harness) in stores {
        eprintln!("{store}: {} cases", cases.len());
        columns.push(column(cases, *harness).await);
    }
    print(cases, stores, &columns)
}

async fn column(cases: &[Case], harness: fn() -> Box<dyn Harness>) -> Vec<Verdict> {
    let mut verdicts = Vec::with_capacity(cases.len());
    for case in cases {
        verdicts.push(verdict(case, harness).await);
    }
    verdicts
}

async fn verdict(case: &Case, harness: fn() -> Box<dyn Harness>) -> Verdict {
    let run = async {
        let stage = CaseStage::of(harness());
        if let Some(why) = stage.lacks(case.needs) {
            return Verdict::NotPromised(why);
        }
        (case.run)(&stage).await;
        Verdict::Passed
    };
    match tokio::time::timeout(BOUND, AssertUnwindSafe(run).catch_unwind()).await {
        Ok(Ok(verdict)) => verdict,
        Ok(Err(panic)) => Verdict::Failed(words(&*panic)),
        Err(_) => Verdict::Failed(format!("not done after {BOUND:?}")),
    }
}

fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panicked").to_owned()
}

fn print(cases: &[Case], stores: &[&Row], columns: &[Vec<Verdict>]) -> Vec<String> {
    let names: Vec<_> = stores.iter().map(|(store, _)| *store).collect();
    println!("| case | {} |\n|---|{}", names.join(" | "), "---|".repeat(names.len()));
    let (mut reasons, mut failures) = (BTreeMap::new(), Vec::new());
    for (at, case) in cases.iter().enumerate() {
        let cells = columns.iter().zip(&names).map(|(column, store)| match &column[at] {
            Verdict::Passed => "passed".to_owned(),
            Verdict::NotPromised(why) => {
                let next = reasons.len() + 1;
                format!("– ({})", reasons.entry((*store, *why)).or_insert(next))
            }
            Verdict::Failed(words) => {
                failures.push(format!("{} on {store}: {words}", case.name));
                "**FAILED**".to_owned()
            }
        });
        println!(
            "| {} | {} |",
            case.name.replace("::", ": ").replace('_', " "),
            cells.collect::<Vec<_>>().join(" | ")
        );
    }
    if !reasons.is_empty() {
        println!("\n– not promised, because:\n");
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, number)| *number);
    for ((store, why), number) in reasons {
        println!("{number}. {store}: {why}");
    }
    totals(&names, columns);
    failures
}

fn totals(names: &[&str], columns: &[Vec<Verdict>]) {
    println!();
    for (store, column) in names.iter().zip(columns) {
        let count = |wanted: fn(&Verdict) -> bool| column.iter().filter(|v| wanted(v)).count();
        println!(
            "{store}: {} passed, {} not promised, {} failed",
            count(|verdict| matches!(verdict, Verdict::Passed)),
            count(|verdict| matches!(verdict, Verdict::NotPromised(_))),
            count(|verdict| matches!(verdict, Verdict::Failed(_))),
        );
    }
}
