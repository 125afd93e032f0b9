//! The Redis scripts are compared with the ledger, operation by operation, on random histories on a
//! real server with a clock of the test's own. A history with a difference is made as short as
//! possible and printed.

#[path = "redis_differential/bench.rs"]
mod bench;
#[path = "redis_differential/beside.rs"]
mod beside;
#[path = "redis_differential/bundled.rs"]
mod bundled;
#[path = "redis_differential/guarded.rs"]
mod guarded;
#[path = "redis_differential/hidden.rs"]
mod hidden;
#[path = "support/history.rs"]
mod history;
#[path = "redis_differential/line.rs"]
mod line;
#[path = "redis_differential/listed.rs"]
mod listed;
#[path = "redis_differential/lone.rs"]
mod lone;
#[path = "redis_differential/made.rs"]
mod made;
#[path = "redis_differential/made_line.rs"]
mod made_line;
#[path = "redis_differential/mistakes.rs"]
mod mistakes;
#[path = "redis_differential/mistakes_apart.rs"]
mod mistakes_apart;
#[path = "redis_differential/mistakes_entering.rs"]
mod mistakes_entering;
#[path = "redis_differential/mistakes_leaving.rs"]
mod mistakes_leaving;
#[path = "redis_differential/mistakes_of_rows.rs"]
mod mistakes_of_rows;
#[path = "redis_differential/mistakes_of_sizes.rs"]
mod mistakes_of_sizes;
#[path = "support/model.rs"]
mod model;
#[path = "redis_differential/named.rs"]
mod named;
#[path = "redis_differential/remembered.rs"]
mod remembered;
#[path = "redis_differential/shares.rs"]
mod shares;

use bench::Bench;
use history::{CALM, CALM_CROWD, Event, LARGE, SMALL};
use mistakes::{Drawn, FEW_ARE_MANY, FEW_FIT, FEW_IN_LINE, NO_LINES, TALLIES, TALLIES_OF_RENEWALS};
use seinpaal_rig::RedisServer;

async fn compare_many(seeds: std::ops::Range<u64>, drawn: impl Into<Drawn>) {
    compare_many_on(&mut Bench::new(None).await, seeds, drawn).await;
}

async fn compare_many_on(bench: &mut Bench, seeds: std::ops::Range<u64>, drawn: impl Into<Drawn>) {
    let drawn = drawn.into();
    if let Some((seed, history)) = first_different(bench, seeds, drawn).await {
        let short = bench.shorten(history).await;
        let difference = bench.difference(&short).await.unwrap_or_default();
        panic!(
            "seed {seed}, {drawn:?}: the script differs from the ledger\n{short:#?}\n{difference}"
        );
    }
}

async fn first_different(
    bench: &mut Bench,
    seeds: std::ops::Range<u64>,
    drawn: Drawn,
) -> Option<(u64, Vec<Event>)> {
    for seed in seeds {
        let history = drawn.history(seed);
        if bench.difference(&history).await.is_some() {
            return Some((seed, history));
        }
    }
    None
}

#[tokio::test]
async fn scripts_that_are_given_no_time_go_by_the_servers_in_microseconds() {
    assert_eq!(Bench::new(None).await.clocks_differ().await, None);
}

/// As many histories as CI has time for. Set the variable to look further.
fn histories() -> u64 {
    std::env::var("SEINPAAL_HISTORIES").ok().and_then(|n| n.parse().ok()).unwrap_or(25)
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does() {
    compare_many(0..histories(), SMALL).await;
}

#[tokio::test]
async fn the_scripts_stop_where_the_ledger_does_when_there_is_too_much_to_do() {
    compare_many(0..histories() / 4, LARGE).await;
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_where_clients_do_as_sessions_do() {
    for changes in [None, Some(NO_LINES)] {
        let mut bench = Bench::new(changes).await;
        compare_many_on(&mut bench, 0..histories(), CALM).await;
        compare_many_on(&mut bench, 0..histories() / 4, CALM_CROWD).await;
    }
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_where_one_client_is_alone_or_nearly() {
    for drawn in [Drawn::Lone, Drawn::Pair] {
        compare_many(0..histories(), drawn).await;
        let mut bench = Bench::new([FEW_ARE_MANY, FEW_FIT]).await;
        compare_many_on(&mut bench, 0..histories() / 2, drawn).await;
    }
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_where_one_client_holds_many_and_renews_them() {
    compare_many(0..histories(), Drawn::Holding).await;
    for few in [vec![FEW_FIT], Drawn::HoldingRows.changes()] {
        let mut bench = Bench::new(few).await;
        compare_many_on(&mut bench, 0..histories(), Drawn::Holding).await;
    }
}

/// This shows that the histories really compare the calls that they are made for.
#[tokio::test]
async fn many_calls_renew_what_stands_apart_where_one_client_holds_many() {
    for drawn in [Drawn::Holding, Drawn::HoldingRows] {
        let mut bench = Bench::new(drawn.changes().into_iter().chain([TALLIES_OF_RENEWALS])).await;
        let (mut calls, mut done) = (0, 0);
        for seed in 20..40 {
            let history = drawn.history(seed);
            calls += history.len();
            done += bench.tallied(&history).await;
        }
        assert!(15 * done > calls, "{drawn:?}: only {done} of {calls}");
    }
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_where_a_few_hand_over_to_each_other() {
    for sessions in 1..=4 {
        compare_many(0..histories(), Drawn::Line(sessions)).await;
    }
    for few in [FEW_ARE_MANY, FEW_IN_LINE] {
        let mut bench = Bench::new(Some(few)).await;
        compare_many_on(&mut bench, 0..histories() / 2, Drawn::Line(3)).await;
    }
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_where_readers_and_writers_wait() {
    for sessions in 1..=4 {
        compare_many(0..histories() / 2, Drawn::Sizes(sessions)).await;
    }
    for changes in [NO_LINES, FEW_ARE_MANY, FEW_IN_LINE] {
        let mut bench = Bench::new(Some(changes)).await;
        compare_many_on(&mut bench, 0..histories() / 2, Drawn::Sizes(4)).await;
    }
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_where_a_limit_is_unpinned_while_somebody_waits() {
    for sessions in 1..=4 {
        compare_many(0..histories() / 2, Drawn::Unpinned(sessions)).await;
    }
    for changes in [NO_LINES, FEW_ARE_MANY] {
        let mut bench = Bench::new(Some(changes)).await;
        compare_many_on(&mut bench, 0..histories() / 2, Drawn::Unpinned(4)).await;
    }
}

/// This shows that the histories really compare the calls that they are made for.
#[tokio::test]
async fn most_calls_are_done_at_a_line_where_a_few_hand_over_to_each_other() {
    let mut bench = Bench::new(Some(TALLIES)).await;
    for sessions in 2..=4 {
        let (mut calls, mut done) = (0, 0);
        for seed in 280..320 {
            let history = Drawn::Line(sessions).history(seed);
            calls += history.len();
            done += bench.tallied(&history).await;
        }
        assert!(3 * done > calls, "{sessions} sessions: only {done} of {calls}");
    }
}

/// Time is real here, which no other history has.
#[tokio::test]
async fn what_a_few_have_left_is_gone_a_second_after_it_is_forgotten() {
    let left = made_line::left_by_two();
    let mut bench = Bench::new(Drawn::TightLine.changes()).await;
    assert!(bench.left_after(&left).await <= 61_000);
    // A name does not pay the price of the early expiry for ever.
    let short = ("left > most and uses < MOST_SHORT)", "left > most and uses < 1)");
    let mut bench = Bench::new(Drawn::TightLine.changes().into_iter().chain([short])).await;
    assert!(bench.left_after(&left).await > 61_000);
}

#[tokio::test]
async fn a_request_that_finds_all_taken_leaves_nothing() {
    let mut bench = Bench::new(None).await;
    let (before, after) = made_line::before_and_after_others_find_it_full();
    assert_eq!(bench.length_after(&before).await, bench.length_after(&after).await);
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_on_a_server_that_sorts_words() {
    for mutation in [None, Some(FEW_ARE_MANY)] {
        let mut bench = Bench::on(RedisServer::of_a_language(), mutation, None).await;
        for scale in [SMALL, CALM] {
            compare_many_on(&mut bench, 0..histories(), scale).await;
        }
        compare_many_on(&mut bench, 0..histories() / 4, LARGE).await;
    }
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_where_few_rows_are_many() {
    let mut bench = Bench::new(Some(FEW_ARE_MANY)).await;
    compare_many_on(&mut bench, 0..histories(), SMALL).await;
    compare_many_on(&mut bench, 0..histories(), CALM).await;
    compare_many_on(&mut bench, 0..histories() / 4, CALM_CROWD).await;
    compare_many_on(&mut bench, 0..histories() / 4, LARGE).await;
}

#[tokio::test]
async fn the_scripts_do_what_the_ledger_does_in_histories_made_for_one_thing() {
    let mut bench = Bench::new(None).await;
    for history in made::all() {
        assert_eq!(bench.difference(&history).await, None);
    }
}
