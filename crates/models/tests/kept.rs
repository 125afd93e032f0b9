//! The promises are kept: short explorations and walks of the models that the program runs for
//! longer.

use std::time::Duration;

use seinpaal_models::{
    bounds::{Bounds, ModelFault},
    explore::explore,
    game::Game,
    list, queue,
    walk::walk,
};

const HOUR: Duration = Duration::from_secs(3600);

fn keeps_its_promises<G: Game + Clone + Send + Sync + 'static>(bounds: &G, most: usize) {
    let report = explore(bounds, 1, most, HOUR);
    let stories: Vec<String> = report
        .violations
        .iter()
        .map(|(property, actions)| format!("{property}\n{}", bounds.tell(actions)))
        .collect();
    assert!(stories.is_empty(), "{}: {}", bounds.name(), stories.concat());
    assert!(report.total >= most || report.is_whole, "{} saw too little", bounds.name());
}

#[test]
fn every_model_keeps_every_promise_in_the_states_that_are_near() {
    for bounds in list::explored() {
        keeps_its_promises(&bounds, 12_000);
    }
}

fn walks_keep_their_promises<G: Game>(bounds: &G) {
    let walks = walk(bounds, 1, 400, 150, HOUR);
    let story = walks
        .violation
        .map(|(seed, what, actions)| format!("seed {seed}: {what}\n{}", bounds.tell(&actions)));
    assert!(story.is_none(), "{}: {}", bounds.name(), story.unwrap_or_default());
    assert_eq!(walks.histories, 150);
}

#[test]
fn random_histories_keep_every_promise_and_end_with_all_served_and_nothing_left() {
    list::walked().iter().for_each(walks_keep_their_promises);
}

#[test]
fn every_model_of_a_queue_keeps_every_promise_in_the_states_that_are_near() {
    for bounds in queue::list::explored() {
        keeps_its_promises(&bounds, 20_000);
    }
}

#[test]
fn random_histories_of_a_queue_keep_every_promise_and_end_with_all_done_and_nothing_left() {
    queue::list::walked().iter().for_each(walks_keep_their_promises);
}

/// The faults that break the recipes: races, a late step, a crash at any place, a pause over the
/// end of a lease, a late release, a lost wakeup.
#[test]
fn what_breaks_the_recipes_does_not_break_ours() {
    let trouble = &[
        ModelFault::Delay,
        ModelFault::Pause,
        ModelFault::Vanish,
        ModelFault::Crash,
        ModelFault::LoseWakeup,
        ModelFault::Break,
    ];
    let short = Bounds { ttl: 4, place: 2, quiet_one_in: 64, kinds: trouble, ..Bounds::BASE };
    keeps_its_promises(&Bounds { name: "a permit", ..short }, 40_000);
    keeps_its_promises(
        &Bounds { name: "three clients, two permits", clients: 3, limit: 2, ..short },
        40_000,
    );
}
