//! Several names in one call. A bundle does at each name what the ledger does, and mistakes in it
//! are found.

use super::{
    bench::Bench,
    compare_many_on,
    guarded::{GUARD, guarded_histories},
    hidden::is_found,
    histories,
    history::{CALM, SMALL, history},
    mistakes::{Drawn, FEW_ARE_MANY},
};

#[tokio::test]
async fn a_bundle_does_at_each_name_what_the_ledger_does() {
    for mutation in [None, Some(FEW_ARE_MANY)] {
        let mut bench = Bench::new(mutation).await.bundled();
        for drawn in [SMALL.into(), CALM.into(), Drawn::Lone, Drawn::Pair, Drawn::Line(3)] {
            compare_many_on(&mut bench, 0..histories() / 4, drawn).await;
        }
    }
    let mut bench = Bench::with(None, Some(GUARD)).await.bundled();
    for (i, history) in guarded_histories().take(histories() as usize).enumerate() {
        assert_eq!(bench.difference(&history).await, None, "history {i}");
    }
}

#[tokio::test]
#[ignore = "mutates the scripts, which takes minutes: nightly runs it"]
async fn a_mistake_in_a_bundle_does_not_stay_hidden() {
    let mistakes = [
        ("(i - 1) * width + 1", "1"),
        ("unpack(ARGV, at + 1, last)", "unpack(ARGV, at, last)"),
        ("answers[i], at = answer", "answers[names + 1 - i], at = answer"),
    ];
    for (from, to) in mistakes {
        let mut bench = Bench::new(Some((from, to))).await.bundled();
        let drawn = (0..histories()).map(|seed| history(seed, SMALL));
        assert!(is_found(&mut bench, drawn).await, "{to:?} in place of {from:?} goes unnoticed");
    }
}
