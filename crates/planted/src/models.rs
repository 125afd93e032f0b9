//! The models, over the ledger and the sessions with the mistake in them.

use std::{panic::catch_unwind, time::Duration};

use seinpaal_models::{bounds::Bounds, explore::explore, list, walk::walk};

/// Transitions of each exploration: what is near, and what is far.
const NEAR: usize = 60_000;
const FAR: usize = 500_000;
/// Random histories of each kind, and steps of each.
const HISTORIES: u64 = 5_000;
const STEPS: usize = 400;
const HOUR: Duration = Duration::from_secs(3600);

/// The model and the promise that is broken first; `what` is one model, or all.
pub(crate) fn first_broken(what: &str) -> Option<String> {
    std::panic::set_hook(Box::new(|_| {})); // a machine that panics is found, too
    let is_asked = |bounds: &Bounds| what == "all" || bounds.name == what;
    let explored_to = |most| {
        let models = list::explored().into_iter().filter(is_asked);
        { models }.find_map(|bounds| tried(&bounds, || explored(&bounds, most)))
    };
    let walks = || {
        let models = list::walked().into_iter().filter(is_asked);
        { models }.find_map(|bounds| tried(&bounds, || walked(&bounds)))
    };
    let near = if what == "all" { explored_to(NEAR) } else { None };
    near.or_else(walks).or_else(|| explored_to(FAR))
}

fn tried(
    bounds: &Bounds,
    look: impl Fn() -> Option<String> + std::panic::UnwindSafe,
) -> Option<String> {
    let found = catch_unwind(look).unwrap_or_else(|_| Some("the code panics".to_owned()));
    found.map(|what| format!("{}: {what}", bounds.name))
}

fn explored(bounds: &Bounds, most: usize) -> Option<String> {
    let report = explore(bounds, 1, most, HOUR);
    report.violations.first().map(|(property, _)| (*property).to_owned())
}

fn walked(bounds: &Bounds) -> Option<String> {
    let violation = walk(bounds, 1, STEPS, HISTORIES, HOUR).violation;
    violation.map(|(seed, what, _)| format!("{what}, seed {seed}"))
}
