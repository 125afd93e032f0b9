//! The most that one call does, where there is much to do.

use super::{
    bench::Bench,
    made::{crowds_of_readers, taken_in_one_request},
    mistakes::NO_LINES,
};

#[tokio::test]
async fn a_release_lets_in_128_of_the_readers_behind_it_and_says_that_more_wait() {
    let mut bench = Bench::new(None).await;
    for history in crowds_of_readers() {
        assert_eq!(bench.difference(&history).await, None);
    }
}

/// So that the histories above compare the plain path, and not the general one that takes over
/// from it.
#[tokio::test]
async fn a_release_that_lets_in_more_than_128_shows() {
    let more = ("elseif handed == WORK then", "elseif handed > WORK then");
    let mut bench = Bench::new([more, NO_LINES]).await;
    for history in crowds_of_readers() {
        assert!(bench.difference(&history).await.is_some());
    }
}

/// The mutations count each range that is looked at while slots are put together or taken apart.
#[tokio::test]
async fn to_take_or_give_back_many_ranges_of_slots_costs_as_much_as_there_are_ranges() {
    let looked = [
        (
            "    if range[2] + 1 < joined[1] or",
            "    try('incr', 'tally')\n    if range[2] + 1 < joined[1] or",
        ),
        ("      local from, to = max(", "      try('incr', 'tally')\n      local from, to = max("),
    ];
    let mut bench = Bench::new(looked).await;
    for (ranges, has_names) in [(1_000, false), (300, true)] {
        redis::cmd("CONFIG").arg("RESETSTAT").exec_async(&mut bench.ears).await.unwrap();
        let looked_at = bench.tallied(&taken_in_one_request(ranges, has_names)).await;
        assert!(looked_at < 10 * ranges as usize, "{looked_at} of {ranges}");
        let looks = bench.calls_of("zrangebylex").await;
        let most = if has_names { 10 * ranges } else { ranges / 4 };
        assert!(looks < u64::from(most), "{looks} for {ranges}");
    }
}
