//! What one call does at most, where there is much to do.

use super::{
    bench::Bench,
    made::{FRAGMENTS, taken_in_one_request},
};

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
    redis::cmd("CONFIG").arg("RESETSTAT").exec_async(&mut bench.ears).await.unwrap();
    let looked_at = bench.tallied(&taken_in_one_request()).await;
    assert!(looked_at < 10 * FRAGMENTS as usize, "{looked_at}");
    let looks = bench.calls_of("zrangebylex").await;
    assert!(looks < u64::from(FRAGMENTS) / 4, "{looks}");
}
