//! The list of names has the snapshot of each name that an inspection shows, and mistakes in the
//! list are found.

use super::{
    bench::Bench,
    guarded::GUARD,
    histories,
    history::{CALM, CALM_CROWD, Event, SMALL, guarded_history},
    made,
    mistakes::{Drawn, FEW_ARE_MANY},
};

const KINDS: [Drawn; 6] = [
    Drawn::Of(SMALL),
    Drawn::Of(CALM),
    Drawn::Of(CALM_CROWD),
    Drawn::Lone,
    Drawn::Line(3),
    Drawn::Holding,
];

fn made_and_drawn() -> impl Iterator<Item = Vec<Event>> {
    let drawn = |seed| KINDS.map(|kind| kind.history(seed));
    made::all().into_iter().chain((0..histories() / 8).flat_map(drawn))
}

async fn first_unlike(
    bench: &mut Bench,
    histories: impl Iterator<Item = Vec<Event>>,
) -> Option<String> {
    for (i, history) in histories.enumerate() {
        if let Some(difference) = bench.list_difference(&history).await {
            return Some(format!("history {i}: {difference}"));
        }
    }
    let difference = bench.list_difference_at_the_end(&made::held_again()).await?;
    Some(format!("held again: {difference}"))
}

#[tokio::test]
async fn a_list_says_of_a_name_what_an_inspection_says() {
    for changes in [None, Some(FEW_ARE_MANY)] {
        let mut bench = Bench::new(changes).await;
        assert_eq!(first_unlike(&mut bench, made_and_drawn()).await, None, "{changes:?}");
    }
    let mut bench = Bench::with(None, Some(GUARD)).await;
    let drawn = (0..histories() / 8).map(|seed| guarded_history(seed, SMALL));
    assert_eq!(first_unlike(&mut bench, made::all().into_iter().chain(drawn)).await, None);
}

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
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
        ("holders, waiting,\n    recent, ", "holders, waiting, 0,\n"),
    ];
    let mut unnoticed = Vec::new();
    for (from, to) in mistakes {
        let mut bench = Bench::new(Some((from, to))).await;
        if first_unlike(&mut bench, made_and_drawn()).await.is_none() {
            unnoticed.push(format!("{to:?} in place of {from:?}"));
        }
    }
    assert!(unnoticed.is_empty(), "these go unnoticed: {unnoticed:#?}");
}
