//! Checks that every mistake that is planted in the scripts shows in some history.

use super::{
    bench::Bench,
    histories,
    history::{CALM, Event},
    made,
    mistakes::{Drawn, MISTAKES},
    mistakes_apart::APART,
    mistakes_entering::ENTERING,
    mistakes_leaving::LEAVING,
    mistakes_of_rows::OF_ROWS,
    mistakes_of_sizes::OF_SIZES,
};

const FIRST_DRAWN: u64 = 4;

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn a_mistake_in_a_script_does_not_stay_hidden() {
    no_mistake_stays_hidden(MISTAKES).await;
}

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn a_mistake_where_somebody_comes_to_a_line_does_not_stay_hidden() {
    no_mistake_stays_hidden(ENTERING).await;
}

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn a_mistake_where_somebody_leaves_a_line_does_not_stay_hidden() {
    no_mistake_stays_hidden(LEAVING).await;
}

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn a_mistake_between_lines_and_rows_does_not_stay_hidden() {
    no_mistake_stays_hidden(OF_ROWS).await;
}

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn a_mistake_where_what_is_renewed_stands_apart_does_not_stay_hidden() {
    no_mistake_stays_hidden(APART).await;
}

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn a_mistake_where_sizes_differ_does_not_stay_hidden() {
    no_mistake_stays_hidden(OF_SIZES).await;
}

async fn no_mistake_stays_hidden(mistakes: &[(&'static str, &'static str, Drawn)]) {
    let mut unnoticed = Vec::new();
    for &(from, to, drawn) in mistakes {
        let changes = [(from, to)].into_iter().chain(drawn.changes());
        let mut bench = Bench::new(changes).await;
        if !is_found(&mut bench, some_drawn_then_made(|seed| drawn.history(seed))).await {
            unnoticed.push(format!("{to:?} in place of {from:?}"));
        }
    }
    assert!(unnoticed.is_empty(), "these go unnoticed: {unnoticed:#?}");
}

/// This shows that the drawn histories have waiters when an operator unpins a limit, and then a
/// request that states one.
#[tokio::test]
async fn drawn_histories_state_a_limit_for_the_first_time_while_somebody_waits() {
    let looks_away = ("        if waiting > 0 and going ~= limit then break end\n", "");
    for drawn in [Drawn::Of(CALM), Drawn::Unpinned(2), Drawn::Unpinned(4)] {
        let mut bench = Bench::new([looks_away].into_iter().chain(drawn.changes())).await;
        let drawn_ones = (0..100).map(|seed| drawn.history(seed));
        assert!(is_found(&mut bench, drawn_ones).await, "{drawn:?}");
    }
}

/// A few drawn histories find most mistakes. The other mistakes are found by a history that is made
/// for them, or by one of the rest.
pub(super) fn some_drawn_then_made(
    drawn: impl Fn(u64) -> Vec<Event> + Copy,
) -> impl Iterator<Item = Vec<Event>> {
    let first = (0..FIRST_DRAWN).map(drawn);
    first.chain(made::all()).chain((FIRST_DRAWN..histories()).map(drawn))
}

/// Returns whether one of these histories shows a difference. The histories after it are not run.
pub(super) async fn is_found(
    bench: &mut Bench,
    histories: impl IntoIterator<Item = Vec<Event>>,
) -> bool {
    for history in histories {
        if bench.difference(&history).await.is_some() {
            return true;
        }
    }
    false
}
