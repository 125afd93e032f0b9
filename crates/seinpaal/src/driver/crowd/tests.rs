use super::*;

const GAP: Micros = 50;

/// A crowd of so many that is answered at 100.
fn crowd_of(callers: usize) -> Crowd {
    let mut crowd = Crowd::default();
    crowd.told(callers);
    crowd.answered(100, || Some(GAP * PART));
    crowd
}

#[test]
fn a_lone_caller_is_not_waited_for() {
    let mut crowd = crowd_of(1);
    assert!(!crowd.is_expected());
    assert!(!crowd.is_coming(0, 100));
    assert!(!crowd.is_coming(1, 100));
}

#[test]
fn callers_at_names_of_their_own_are_expected_and_not_waited_for() {
    let mut crowd = crowd_of(1);
    crowd.told(1);
    crowd.answered(100, || Some(GAP * PART));
    assert!(crowd.is_expected());
    assert!(!crowd.is_coming(1, 100));
}

#[test]
fn a_crowd_is_waited_for_until_it_is_whole() {
    let mut crowd = crowd_of(3);
    assert!(crowd.is_expected());
    assert!(crowd.is_coming(0, 100));
    assert!(crowd.is_coming(2, 101));
    assert!(!crowd.is_coming(3, 102));
}

#[test]
fn nobody_is_waited_for_where_a_round_trip_is_short() {
    let mut crowd = Crowd::default();
    crowd.told(16);
    crowd.answered(100, || Some(LEAST * PART - 1));
    assert!(crowd.is_expected());
    assert!(!crowd.is_coming(1, 100));
}

#[test]
fn a_crowd_of_which_nobody_asks_is_waited_for_no_longer_than_a_gap() {
    let mut crowd = crowd_of(16);
    assert!(crowd.is_coming(0, 100 + GAP - 1));
    assert!(!crowd.is_coming(0, 100 + GAP));
}

#[test]
fn each_that_comes_prolongs_the_wait_by_a_gap() {
    let mut crowd = crowd_of(16);
    assert!(crowd.is_coming(1, 100 + GAP - 1));
    assert!(crowd.is_coming(1, 100 + 2 * GAP - 2));
    assert!(!crowd.is_coming(1, 100 + 2 * GAP - 1));
}

#[test]
fn the_first_that_asks_late_is_not_sent_alone() {
    let mut crowd = crowd_of(16);
    assert!(!crowd.is_coming(0, 100 + 2 * MOST));
    assert!(crowd.is_coming(1, 100 + 2 * MOST));
}

#[test]
fn a_crowd_that_trickles_in_is_not_waited_for_without_end() {
    let mut crowd = crowd_of(1_000);
    let comes_at = |nth: usize| 100 + nth as Micros * (GAP - 1);
    let all = (1..1_000).find(|nth| !crowd.is_coming(*nth, comes_at(*nth)));
    assert!(comes_at(all.expect("an end")) < 100 + 2 * MOST);
}

#[test]
fn the_wait_ends_though_the_clock_stands_still() {
    let mut crowd = crowd_of(2);
    assert!((0..2 * MOST_LOOKS).any(|_| !crowd.is_coming(1, 100)));
}

#[test]
fn who_comes_after_the_requests_were_taken_is_not_waited_for() {
    let mut crowd = crowd_of(16);
    assert!(crowd.is_coming(1, 100));
    crowd.taken();
    assert!(!crowd.is_expected());
    assert!(!crowd.is_coming(1, 101));
}
