//! What was found, as tables and stories.

use std::time::{Duration, Instant};

use seinpaal_models::{
    bounds::Bounds,
    explore::{Report, explore, shortest},
    list,
    model::PROPERTIES,
    plant::Plant,
    story::tell,
    walk::{Walks, walk},
};

/// Transitions after which an exploration is broken off: what fits into memory.
const MOST: usize = 12_000_000;
/// Enough for every planted mistake.
const PLANTED: usize = 4_000_000;
/// Steps of one random history.
const STEPS: usize = 400;

/// Explores or walks the models of this name, or all of them. Says whether every promise was kept.
pub(crate) fn models(name: &str, time: Duration, seed: u64) -> bool {
    let is_asked = |bounds: &Bounds| name == "all" || bounds.name == name;
    let explored: Vec<Bounds> = list::explored().into_iter().filter(is_asked).collect();
    let walked: Vec<Bounds> = list::walked().into_iter().filter(is_asked).collect();
    let mut clock = Shares::new(time, explored.len() + walked.len());
    if explored.is_empty() && walked.is_empty() {
        eprintln!("no model is called {name}: try all");
        return false;
    }
    println!("| model | states | transitions | depth | time | seen | violations |");
    println!("|---|---|---|---|---|---|---|");
    let (mut states, mut is_well) = (0, true);
    for bounds in &explored {
        let report = explore(bounds, 2, MOST, clock.next());
        states += report.unique as u64;
        is_well &= explored_row(bounds, &report);
    }
    for bounds in &walked {
        let walks = walk(bounds, seed, STEPS, u64::MAX, clock.next());
        states += walks.steps;
        is_well &= walked_row(bounds, &walks);
    }
    println!("\n{states} states in all. Properties checked:");
    PROPERTIES.iter().for_each(|property| println!("* {property}"));
    is_well
}

/// Shares out the time that is left among the models that are left.
struct Shares {
    end: Instant,
    left: usize,
}

impl Shares {
    fn new(time: Duration, count: usize) -> Self {
        Self { end: Instant::now() + time, left: count }
    }

    fn next(&mut self) -> Duration {
        let left = u32::try_from(self.left).unwrap_or(u32::MAX).max(1);
        self.left = self.left.saturating_sub(1);
        self.end.saturating_duration_since(Instant::now()) / left
    }
}

fn explored_row(bounds: &Bounds, report: &Report) -> bool {
    let seen = if report.is_whole { "all" } else { "the first, breadth-first" };
    println!(
        "| {} | {} | {} | {} | {:.1} s | {seen} | {} |",
        bounds.name,
        report.unique,
        report.total,
        report.depth,
        report.took.as_secs_f64(),
        report.violations.len(),
    );
    stories(bounds, report);
    report.violations.is_empty()
}

fn stories(bounds: &Bounds, report: &Report) {
    let shortest = if report.violations.is_empty() { Vec::new() } else { shortest(bounds) };
    for (property, actions) in &shortest {
        println!("\nbroken: {property}\n{}", tell(bounds, actions));
    }
}

fn walked_row(bounds: &Bounds, walks: &Walks) -> bool {
    println!(
        "| {} | {} | {} | {STEPS} | {:.1} s | {} histories | {} |",
        bounds.name,
        walks.steps,
        walks.steps,
        walks.took.as_secs_f64(),
        walks.histories,
        u8::from(walks.violation.is_some()),
    );
    if let Some((seed, what, actions)) = &walks.violation {
        println!("\nseed {seed}: {what}\n{}", tell(bounds, actions));
    }
    walks.violation.is_none()
}

/// Looks for every planted mistake. Says whether all were found.
pub(crate) fn planted() -> bool {
    let mut is_well = true;
    for plant in Plant::ALL {
        is_well &= found(&list::planted(plant));
    }
    is_well
}

/// Shows what is not promised. Says whether it is still so.
pub(crate) fn limits() -> bool {
    list::limits().iter().filter(|bounds| !found(bounds)).count() == 0
}

fn found(bounds: &Bounds) -> bool {
    let report = explore(bounds, 1, PLANTED, Duration::from_secs(600));
    println!("## {}\n", bounds.name);
    if report.violations.is_empty() {
        println!("NOT FOUND in {} states.\n", report.unique);
        return false;
    }
    println!("Found among {} states, in {:.2} s.", report.unique, report.took.as_secs_f64());
    stories(bounds, &report);
    true
}
