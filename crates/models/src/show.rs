//! The results, as tables and stories.

use std::time::{Duration, Instant};

use seinpaal_models::{
    explore::{Report, explore, shortest},
    game::Game,
    list,
    model::PROPERTIES,
    plant::Plant,
    queue,
    walk::{Walks, walk},
};

/// The largest number of transitions of an exploration. More states do not fit into memory.
const MOST: usize = 12_000_000;
/// How many transitions are enough for every planted mistake.
const PLANTED: usize = 4_000_000;
/// Steps of one random history.
const STEPS: usize = 400;

/// Explores or walks the models of this name, all models, or all models of queues. Returns whether
/// every promise was kept.
pub(crate) fn models(name: &str, time: Duration, seed: u64) -> bool {
    let mut semaphores = (list::explored(), list::walked());
    let mut queues = (queue::list::explored(), queue::list::walked());
    let count = keep(name, &mut semaphores.0)
        + keep(name, &mut semaphores.1)
        + keep(name, &mut queues.0)
        + keep(name, &mut queues.1);
    if count == 0 {
        eprintln!("no model is called {name}: try all, or queues");
        return false;
    }
    println!("| model | states | transitions | depth | time | seen | violations |");
    println!("|---|---|---|---|---|---|---|");
    let mut sum = Sum { clock: Shares::new(time, count), seed, states: 0, is_well: true };
    sum.explore_all(&semaphores.0);
    sum.explore_all(&queues.0);
    sum.walk_all(&semaphores.1);
    sum.walk_all(&queues.1);
    println!("\n{} states in all. Properties checked:", sum.states);
    let of_queues = queue::model::PROPERTIES.iter().map(|(property, _)| property);
    let properties = PROPERTIES.iter().filter(|_| !name.starts_with("queue"));
    properties.chain(of_queues).for_each(|property| println!("* {property}"));
    sum.is_well
}

/// Keeps the models that are asked for, and returns how many there are.
fn keep<G: Game>(name: &str, models: &mut Vec<G>) -> usize {
    let is_asked = |model: &G| match name {
        "all" => true,
        "queues" => model.name().starts_with("queue-"),
        name => model.name() == name,
    };
    models.retain(is_asked);
    models.len()
}

/// The sum of all explorations so far.
struct Sum {
    clock: Shares,
    seed: u64,
    states: u64,
    is_well: bool,
}

impl Sum {
    fn explore_all<G: Game + Clone + Send + Sync + 'static>(&mut self, models: &[G]) {
        for model in models {
            let report = explore(model, 2, MOST, self.clock.next());
            self.states += report.unique as u64;
            self.is_well &= explored_row(model, &report);
        }
    }

    fn walk_all<G: Game>(&mut self, models: &[G]) {
        for model in models {
            let walks = walk(model, self.seed, STEPS, u64::MAX, self.clock.next());
            self.states += walks.steps;
            self.is_well &= walked_row(model, &walks);
        }
    }
}

/// Divides the remaining time among the remaining models.
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

fn explored_row<G>(bounds: &G, report: &Report<G::Action>) -> bool
where
    G: Game + Clone + Send + Sync + 'static,
{
    let seen = if report.is_whole { "all" } else { "the first, breadth-first" };
    println!(
        "| {} | {} | {} | {} | {:.1} s | {seen} | {} |",
        bounds.name(),
        report.unique,
        report.total,
        report.depth,
        report.took.as_secs_f64(),
        report.violations.len(),
    );
    stories(bounds, report);
    report.violations.is_empty()
}

fn stories<G>(bounds: &G, report: &Report<G::Action>)
where
    G: Game + Clone + Send + Sync + 'static,
{
    let shortest = if report.violations.is_empty() { Vec::new() } else { shortest(bounds) };
    for (property, actions) in &shortest {
        println!("\nbroken: {property}{}\n{}", why(bounds, actions), bounds.tell(actions));
    }
}

/// Returns the part of progress that fails after this history, if the history breaks no other rule.
fn why<G: Game>(bounds: &G, actions: &[G::Action]) -> String {
    let mut world = bounds.init_states().swap_remove(0);
    for action in actions {
        let Some(next) = bounds.next_state(&world, *action) else { break };
        world = next;
    }
    let outcome = bounds.broken(&world).map_or_else(|| bounds.quiet(&world).err(), |_| None);
    outcome.map(|stuck| format!(": {stuck}")).unwrap_or_default()
}

fn walked_row<G: Game>(bounds: &G, walks: &Walks<G::Action>) -> bool {
    println!(
        "| {} | {} | {} | {STEPS} | {:.1} s | {} histories | {} |",
        bounds.name(),
        walks.steps,
        walks.steps,
        walks.took.as_secs_f64(),
        walks.histories,
        u8::from(walks.violation.is_some()),
    );
    if let Some((seed, what, actions)) = &walks.violation {
        println!("\nseed {seed}: {what}\n{}", bounds.tell(actions));
    }
    walks.violation.is_none()
}

/// Looks for every planted mistake. Returns whether all were found.
pub(crate) fn planted() -> bool {
    let mut is_well = true;
    for plant in Plant::ALL {
        is_well &= found(&list::planted(plant));
    }
    for plant in queue::plant::Plant::ALL {
        is_well &= found(&queue::list::planted(plant));
    }
    is_well
}

/// Shows the limits of the promises. Returns whether every one of them still exists.
pub(crate) fn limits() -> bool {
    list::limits().iter().filter(|bounds| !found(*bounds)).count() == 0
}

fn found<G: Game + Clone + Send + Sync + 'static>(bounds: &G) -> bool {
    let report = explore(bounds, 1, PLANTED, Duration::from_secs(600));
    println!("## {}\n", bounds.name());
    if report.violations.is_empty() {
        println!("NOT FOUND in {} states.\n", report.unique);
        return false;
    }
    println!("Found among {} states, in {:.2} s.", report.unique, report.took.as_secs_f64());
    stories(bounds, &report);
    true
}
