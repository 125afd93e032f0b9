//! Every mistake that is planted in the scripts shows in some history.

use super::{
    bench::Bench,
    histories, made,
    mistakes::{Drawn, MISTAKES},
    mistakes_apart::APART,
    mistakes_entering::ENTERING,
    mistakes_leaving::LEAVING,
    mistakes_of_rows::OF_ROWS,
};

#[tokio::test]
async fn a_mistake_in_a_script_does_not_stay_hidden() {
    no_mistake_stays_hidden(MISTAKES).await;
}

#[tokio::test]
async fn a_mistake_where_somebody_comes_to_a_line_does_not_stay_hidden() {
    no_mistake_stays_hidden(ENTERING).await;
}

#[tokio::test]
async fn a_mistake_where_somebody_leaves_a_line_does_not_stay_hidden() {
    no_mistake_stays_hidden(LEAVING).await;
}

#[tokio::test]
async fn a_mistake_between_lines_and_rows_does_not_stay_hidden() {
    no_mistake_stays_hidden(OF_ROWS).await;
}

#[tokio::test]
async fn a_mistake_where_what_is_renewed_stands_apart_does_not_stay_hidden() {
    no_mistake_stays_hidden(APART).await;
}

async fn no_mistake_stays_hidden(mistakes: &[(&'static str, &'static str, Drawn)]) {
    let mut unnoticed = Vec::new();
    for &(from, to, drawn) in mistakes {
        let changes = [(from, to)].into_iter().chain(drawn.changes());
        let mut bench = Bench::new(changes).await;
        let mut is_found = false;
        for history in made::all() {
            is_found = is_found || bench.difference(&history).await.is_some();
        }
        for seed in 0..histories() {
            is_found = is_found || bench.difference(&drawn.history(seed)).await.is_some();
        }
        if !is_found {
            unnoticed.push(format!("{to:?} in place of {from:?}"));
        }
    }
    assert!(unnoticed.is_empty(), "these go unnoticed: {unnoticed:#?}");
}
