//! The scripts and the ledger under a restart guard, and the mistakes that are planted in it.

use std::iter;

use super::{
    bench::Bench,
    histories,
    history::{Event, SMALL, guarded_history},
    line, lone, made,
};

/// A guard that is short enough to end, and to begin, often in one history.
pub(super) const GUARD: u64 = 1_500_000;

/// A made history, and then histories of many clients and histories of one or two, in turn. The
/// histories of few clients take the lean path once the guard is over.
pub(super) fn guarded_histories() -> impl Iterator<Item = Vec<Event>> {
    let drawn = (0..histories()).flat_map(|seed| {
        let alone = lone::guarded_history(seed, 1, GUARD);
        let nearly = lone::guarded_history(seed, 2, GUARD);
        [guarded_history(seed, SMALL), alone, nearly, line::guarded_history(seed, 3, GUARD)]
    });
    iter::once(made::asked_when_a_guard_ends(GUARD)).chain(drawn)
}

#[tokio::test]
async fn under_a_restart_guard_the_scripts_do_what_the_ledger_does() {
    let mut bench = Bench::with(None, Some(GUARD)).await;
    for (i, history) in guarded_histories().enumerate() {
        let Some(difference) = bench.difference(&history).await else { continue };
        let short = bench.shorten(history).await;
        panic!("history {i}: {difference}\nin short {short:#?}");
    }
}

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn a_mistake_in_the_guard_does_not_stay_hidden() {
    let mistakes = [
        ("/ 5)), 0)", "/ 4)), 0)"),
        ("left, wall = GUARD_LENGTH, now end", "left, wall = 0, now end"),
        ("#ARGV > 67 or guarded_for > 0 or", "#ARGV > 67 or"),
        ("not head.paused and guarded_for == 0", "not head.paused"),
        ("min(head.bound, guarded_for)", "head.bound"),
        ("    if about or granted then\n", "    if false then\n"),
        ("if about or granted then", "if granted then"),
        ("if about or granted then", "if about then"),
        ("not known or #known < 54", "not known"),
        ("guarded_for == 0 and line or ''", "line"),
        (
            "9, 40)\n        want = i == 4 and of_first or",
            "9, 40)\n        want = i == 4 and field or",
        ),
        (
            "not_after then break end\n        want = i == 4 and of_first or",
            "not_after then break end\n        want = i == 4 and field or",
        ),
        ("granted, from = true, LINE_SIZE + 1", "from = LINE_SIZE + 1"),
        ("=\n      1, nil, waiting > 0, nil,", "= 1, nil, false, nil,"),
    ];
    let mut unnoticed = Vec::new();
    for (from, to) in mistakes {
        if !guarded_histories_find((from, to)).await {
            unnoticed.push(format!("{to:?} in place of {from:?}"));
        }
    }
    assert!(unnoticed.is_empty(), "these go unnoticed: {unnoticed:#?}");
}

/// Returns whether the histories find the mistake. They also run where the guard begins at another
/// name first, so that a name with a lone session meets a guard under way.
async fn guarded_histories_find(mistake: (&'static str, &'static str)) -> bool {
    let mut alone = Bench::with(Some(mistake), Some(GUARD)).await;
    let mut bundled = Bench::with(Some(mistake), Some(GUARD)).await.bundled();
    for history in guarded_histories() {
        for bench in [&mut alone, &mut bundled] {
            if bench.difference(&history).await.is_some() {
                return true;
            }
        }
    }
    false
}
