//! The models, over the ledger and the sessions with the mistake in them.

use std::{panic::catch_unwind, time::Duration};

use seinpaal_models::{bounds::Bounds, explore::explore, list, walk::walk};

/// Transitions of each exploration: what is near.
const MOST: usize = 60_000;
/// Random histories of each kind, and steps of each.
const HISTORIES: u64 = 150;
const STEPS: usize = 400;
const HOUR: Duration = Duration::from_secs(3600);

/// The model and the promise that is broken first.
pub(crate) fn first_broken() -> Option<String> {
    std::panic::set_hook(Box::new(|_| {}));
    let explored = list::explored().into_iter().find_map(|bounds| guarded(bounds, explored));
    explored.or_else(|| list::walked().into_iter().find_map(|bounds| guarded(bounds, walked)))
}

/// A machine that panics is found, too.
fn guarded(bounds: Bounds, look: fn(&Bounds) -> Option<String>) -> Option<String> {
    let found = catch_unwind(|| look(&bounds));
    let found = found.unwrap_or_else(|_| Some("the code panics".to_owned()));
    found.map(|what| format!("{}: {what}", bounds.name))
}

fn explored(bounds: &Bounds) -> Option<String> {
    let report = explore(bounds, 1, MOST, HOUR);
    report.violations.first().map(|(property, _)| (*property).to_owned())
}

fn walked(bounds: &Bounds) -> Option<String> {
    walk(bounds, 1, STEPS, HISTORIES, HOUR)
        .violation
        .map(|(seed, what, _)| format!("{what}, seed {seed}"))
}
