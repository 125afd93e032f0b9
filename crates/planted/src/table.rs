//! The table of which check finds which mistake.

use std::{
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use seinpaal_proto::planted::Mistake;

use crate::{
    catalogue::{Suite, SuiteRun, cheapest, orders},
    child::ChildVerdict,
};

/// How many mistakes are looked for at a time.
const AT_ONCE: usize = 2;

/// Runs every check for these mistakes. Ends with 1 if no check finds one of them, or if a check
/// fails without a mistake.
pub(crate) fn all(mistakes: &[Mistake], with_control: bool) -> ExitCode {
    println!(
        "| mistake | in | models | differential | conformance | torture |\n|---|---|---|---|---|---|"
    );
    let found = in_turn(mistakes, |mistake| row(*mistake));
    let hidden: Vec<&str> = mistakes
        .iter()
        .zip(&found)
        .filter(|(_, found)| !**found)
        .map(|(mistake, _)| mistake.name())
        .collect();
    let is_well = !with_control || control();
    if !hidden.is_empty() {
        println!("\nno check finds {}", hidden.join(", "));
    }
    if is_well && hidden.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Looks for each mistake with one check that is known to find it.
pub(crate) fn quick() -> ExitCode {
    let found = in_turn(Mistake::ALL, |mistake| {
        let orders = cheapest(*mistake);
        let verdict = ChildVerdict::of(Some(*mistake), &orders);
        println!("{}: {orders}: {}", mistake.name(), words(&verdict));
        matches!(verdict, ChildVerdict::Broken(_))
    });
    if found.into_iter().all(|is_found| is_found) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn row(mistake: Mistake) -> bool {
    let cells = Suite::ALL.map(|check| {
        let verdicts = orders(mistake, check)
            .into_iter()
            .map(|orders| ChildVerdict::of(Some(mistake), &orders));
        verdicts.reduce(worse)
    });
    let shown: Vec<String> = cells.iter().map(cell).collect();
    println!(
        "| `{}`: {} | {} | {} |",
        mistake.name(),
        mistake.says(),
        mistake.layer(),
        shown.join(" | ")
    );
    cells.iter().flatten().any(|verdict| matches!(verdict, ChildVerdict::Broken(_)))
}

fn worse(one: ChildVerdict, other: ChildVerdict) -> ChildVerdict {
    if matches!(one, ChildVerdict::Broken(_)) || other == ChildVerdict::Kept { one } else { other }
}

fn cell(verdict: &Option<ChildVerdict>) -> String {
    verdict.as_ref().map_or_else(|| "n/a".to_owned(), words)
}

fn words(verdict: &ChildVerdict) -> String {
    match verdict {
        ChildVerdict::Kept => "–".to_owned(),
        ChildVerdict::Broken(what) => format!("caught: {what}"),
        ChildVerdict::Failed(why) => format!("no verdict: {why}"),
    }
}

/// Returns whether each of these checks passes without a mistake.
fn control() -> bool {
    println!("\nWithout a mistake:\n");
    let kept = in_turn(&every_check(), |orders| {
        let verdict = ChildVerdict::of(None, orders);
        let said =
            if verdict == ChildVerdict::Kept { "passed".to_owned() } else { words(&verdict) };
        println!("* {orders}: {said}");
        verdict == ChildVerdict::Kept
    });
    kept.into_iter().all(|is_kept| is_kept)
}

/// Every check that looks for any mistake, once.
fn every_check() -> Vec<SuiteRun> {
    let mut checks: Vec<SuiteRun> = Vec::new();
    for mistake in Mistake::ALL {
        for new in Suite::ALL.into_iter().flat_map(|check| orders(*mistake, check)) {
            if !checks.contains(&new) {
                checks.push(new);
            }
        }
    }
    checks
}

/// Does the work for each, some at a time, and returns the results in order.
fn in_turn<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let turns = || loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(one) = all.get(at) else { return };
        let result = work(one);
        done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
    };
    thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(turns))));
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
