//! The list of names says of each what an inspection shows, and a mistake in it is found.

use super::{
    bench::Bench,
    guarded::GUARD,
    histories,
    history::{CALM, CALM_CROWD, SMALL, guarded_history},
    made,
    mistakes::{Drawn, FEW_ARE_MANY},
};

async fn first_unlike(bench: &mut Bench, drawn: impl Into<Drawn>) -> Option<String> {
    let drawn = drawn.into();
    for (i, history) in made::all().iter().enumerate() {
        if let Some(difference) = bench.list_difference(history).await {
            return Some(format!("made history {i}: {difference}"));
        }
    }
    if let Some(difference) = bench.list_difference_at_the_end(&made::held_again()).await {
        return Some(format!("held again: {difference}"));
    }
    for seed in 0..histories() / 8 {
        let difference = match bench.is_guarded() {
            true => bench.list_difference(&guarded_history(seed, SMALL)).await,
            false => bench.list_difference(&drawn.history(seed)).await,
        };
        if let Some(difference) = difference {
            return Some(format!("seed {seed}, {drawn:?}: {difference}"));
        }
    }
    None
}

#[tokio::test]
async fn a_list_says_of_a_name_what_an_inspection_says() {
    let drawn = [SMALL.into(), CALM.into(), CALM_CROWD.into(), Drawn::Lone, Drawn::Line(3)];
    for drawn in drawn.into_iter().chain([Drawn::Holding]) {
        assert_eq!(first_unlike(&mut Bench::new(None).await, drawn).await, None);
        assert_eq!(first_unlike(&mut Bench::new(Some(FEW_ARE_MANY)).await, drawn).await, None);
    }
    assert_eq!(first_unlike(&mut Bench::with(None, Some(GUARD)).await, SMALL).await, None);
}

#[tokio::test]
async fn a_mistake_in_the_list_does_not_stay_hidden() {
    let mistakes = [
        ("  if holders + waiting > 0 and passed + step >= due then", "  if false then"),
        ("if lease and (lease.ends <= clock or", "if lease and (false or"),
        ("  if waiting > 0 and held < limit and not is_paused", "  if false"),
        ("clock + min(step, bound), line) then", "clock, line) then"),
        ("line and {} or { 'q', 'k' }", "line and {} or { 'k', 'q' }"),
        ("== 0 and pinned < 0 and not is_paused then", "== 0 and pinned < 0 then"),
        ("8 * ranges + 1)) }", "8 * ranges + 2)) }"),
        ("if max(now - wall, 0) >= left then", "if false then"),
        ("limit, limit, -1, held, holders, 0", "limit, limit, -1, holders, held, 0"),
        ("for field, row in pairs(fields or {}) do", "for field, row in pairs({}) do"),
        ("for k = 1, line and min(", "for k = 1, false and min("),
        ("and pinned < 0 and stated >= 0 and size < 256", "and pinned < 0 and size < 256"),
        ("holders, 0, recent, false)", "holders, 0, 0, false)"),
        ("_, left, _, recent = read(FIRST", "_, left, recent = read(FIRST"),
        ("holders, waiting, recent,\n", "holders, waiting, 0,\n"),
    ];
    let mut unnoticed = Vec::new();
    for (from, to) in mistakes {
        let mut is_found = false;
        for drawn in [SMALL.into(), CALM.into(), CALM_CROWD.into(), Drawn::Lone, Drawn::Line(3)] {
            is_found = is_found
                || first_unlike(&mut Bench::new(Some((from, to))).await, drawn).await.is_some();
        }
        if !is_found {
            unnoticed.push(format!("{to:?} in place of {from:?}"));
        }
    }
    assert!(unnoticed.is_empty(), "these go unnoticed: {unnoticed:#?}");
}
