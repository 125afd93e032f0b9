use std::{vec, vec::Vec};

use super::*;

fn holder(fence: u64, held: u64) -> HoldSeen {
    let held_for = held * SECOND;
    HoldSeen { fence: Fence(fence), held_for, valid_for: Some(20 * SECOND), is_late: false }
}

fn look(times: &mut HoldTimes, holders: &[HoldSeen], now: Micros) -> Vec<EndedHold> {
    times.look(holders.iter().copied(), true, now)
}

/// Looks at a name at which one hold follows the other, each for one of these lengths.
fn seen(lengths: &[Micros]) -> HoldTimes {
    let (mut times, mut now) = (HoldTimes::default(), 0);
    for (length, fence) in lengths.iter().zip(1..) {
        let before = HoldSeen { held_for: length - SECOND / 2, ..holder(fence, 0) };
        look(&mut times, &[before], now);
        now += SECOND;
        look(&mut times, &[], now);
        now += SECOND;
    }
    times
}

#[test]
fn a_holder_that_is_gone_at_the_next_look_has_ended_half_way_between() {
    let mut times = HoldTimes::default();
    assert_eq!(look(&mut times, &[holder(1, 9), holder(2, 3)], 100 * SECOND), []);
    let ended = EndedHold { held_for: 10 * SECOND, is_lost: false };
    assert_eq!(look(&mut times, &[holder(2, 5), holder(3, 1)], 102 * SECOND), [ended]);
}

#[test]
fn a_ticket_that_has_changed_hands_is_another_hold() {
    let mut times = HoldTimes::default();
    look(&mut times, &[holder(1, 9)], 0);
    assert_eq!(look(&mut times, &[holder(2, 0)], SECOND).len(), 1, "by its fence");
}

#[test]
fn looks_that_are_far_apart_or_do_not_list_all_holders_tell_of_no_end() {
    let mut times = HoldTimes::default();
    look(&mut times, &[holder(1, 9), holder(2, 9)], 0);
    assert_eq!(look(&mut times, &[holder(2, 15)], NEAR + 1), []);
    assert_eq!(times.look([].into_iter(), false, NEAR + 2), []);
}

#[test]
fn nothing_is_known_of_those_that_held_before_somebody_looked_away() {
    let mut times = HoldTimes::default();
    look(&mut times, &[holder(1, 9)], 0);
    times.look_away();
    assert_eq!(look(&mut times, &[], SECOND), []);
}

#[test]
fn a_hold_is_lost_if_its_lease_ran_out_and_was_to_be_renewed() {
    let left = |valid_for, is_late| HoldSeen { valid_for, is_late, ..holder(1, 30) };
    let half = Some(SECOND / 2);
    for (before, is_lost) in [
        (left(half, true), true),
        (left(half, false), false),
        (left(Some(9 * SECOND), true), false),
        (left(None, false), false),
    ] {
        let mut times = HoldTimes::default();
        look(&mut times, &[before], 0);
        let ended = look(&mut times, &[], SECOND);
        assert_eq!(ended, [EndedHold { held_for: 30 * SECOND + SECOND / 2, is_lost }]);
    }
}

#[test]
fn a_reader_that_has_seen_no_more_holds_than_the_store_keeps_goes_by_those() {
    let kept = [1, 2, 3].map(|seconds| seconds * SECOND);
    let recent = kept.into_iter().fold(RecentHolds::NONE, RecentHolds::with);
    let last = HoldLengths::from(recent);
    assert_eq!(last.count(), 3);
    assert_eq!(HoldTimes::default().lengths(recent), last);
    assert_eq!(seen(&[9 * SECOND, 4 * SECOND, 5 * SECOND]).lengths(recent), last);
    let more = seen(&[9 * SECOND, 4 * SECOND, 5 * SECOND, 6 * SECOND]).lengths(recent);
    assert_eq!((more.count(), more.median()), (4, Some(5 * SECOND)));
}

#[test]
fn where_no_hold_has_ended_there_is_nothing_to_go_by() {
    let lengths = HoldTimes::default().lengths(RecentHolds::NONE);
    assert_eq!((lengths.count(), lengths.median()), (0, None));
}

#[test]
fn holds_that_are_mostly_shorter_than_the_time_between_looks_are_not_gone_by() {
    let short = SECOND / 2 + 1;
    let long = [4 * SECOND, 5 * SECOND, 6 * SECOND];
    let count = |lengths: &[Micros]| seen(lengths).lengths(RecentHolds::NONE).count();
    assert_eq!(count(&[&[short; 3], &long[..]].concat()), 3);
    assert_eq!(count(&[&[short; 4], &long[..]].concat()), 0);
}

#[test]
fn only_the_newest_holds_count() {
    let lengths: Vec<Micros> = vec![9 * SECOND; 30];
    let newer: Vec<Micros> = vec![3 * SECOND; MOST];
    let lengths = seen(&[lengths, newer].concat()).lengths(RecentHolds::NONE);
    assert_eq!((lengths.count(), lengths.0.last()), (MOST, Some(&(3 * SECOND))));
}

#[test]
fn a_holder_goes_on_as_one_of_those_did_that_held_longer() {
    let lengths = seen(&[2 * SECOND, 10 * SECOND, 14 * SECOND]).lengths(RecentHolds::NONE);
    assert_eq!(lengths.rest(6 * SECOND, 0), Some(8 * SECOND));
    assert_eq!(lengths.rest(6 * SECOND, 1), Some(4 * SECOND));
    assert_eq!(lengths.rest(12 * SECOND, 7), Some(2 * SECOND));
    assert_eq!(lengths.rest(14 * SECOND, 0), None);
}

#[test]
fn a_few_turns_are_spread_like_all_that_was_seen() {
    let lengths = HoldLengths::of((1..=8).map(|seconds| seconds * SECOND).collect());
    let turns: Vec<_> = (0..7).filter_map(|turn| lengths.one(turn)).map(|it| it / SECOND).collect();
    assert_eq!(turns, [5, 3, 7, 2, 6, 4, 8]);
    assert_eq!(HoldLengths::default().one(0), None);
}
