//! The models, over the ledger and the sessions with the mistake in them.

use std::{
    panic::{RefUnwindSafe, catch_unwind},
    time::Duration,
};

use seinpaal_models::{explore::explore, game::Game, list, queue, walk::walk};

/// The number of transitions of the first, quick exploration of each model, and of the second.
const NEAR: usize = 60_000;
const FAR: usize = 500_000;
/// The number of random histories of each model, and the steps of each.
const HISTORIES: u64 = 5_000;
const STEPS: usize = 400;
const HOUR: Duration = Duration::from_secs(3600);

/// The first promise that is broken, and its model. `what` is the name of a model, `all` for the
/// models of semaphores, or `queues`.
pub(crate) fn first_broken(what: &str) -> Option<String> {
    std::panic::set_hook(Box::new(|_| {})); // a panic is a finding, and is not printed
    if what.starts_with("queue") {
        return first_of(what, "queues", &queue::list::explored(), &queue::list::walked());
    }
    first_of(what, "all", &list::explored(), &list::walked())
}

fn first_of<G>(what: &str, all: &str, near: &[G], far: &[G]) -> Option<String>
where
    G: Game + Clone + Send + Sync + RefUnwindSafe + 'static,
{
    let is_asked = |model: &&G| what == all || model.name() == what;
    let explored_to = |most| {
        let mut models = near.iter().filter(is_asked);
        models.find_map(|model| tried(model, || explored(model, most)))
    };
    let walks = || far.iter().filter(is_asked).find_map(|model| tried(model, || walked(model)));
    let near = if what == all { explored_to(NEAR) } else { None };
    near.or_else(walks).or_else(|| explored_to(FAR))
}

fn tried<G: Game>(
    model: &G,
    look: impl Fn() -> Option<String> + std::panic::UnwindSafe,
) -> Option<String> {
    let found = catch_unwind(look).unwrap_or_else(|_| Some("the code panics".to_owned()));
    found.map(|what| format!("{}: {what}", model.name()))
}

fn explored<G: Game + Clone + Send + Sync + 'static>(model: &G, most: usize) -> Option<String> {
    let report = explore(model, 1, most, HOUR);
    report.violations.first().map(|(property, _)| (*property).to_owned())
}

fn walked<G: Game>(model: &G) -> Option<String> {
    let violation = walk(model, 1, STEPS, HISTORIES, HOUR).violation;
    violation.map(|(seed, what, _)| format!("{what}, seed {seed}"))
}
