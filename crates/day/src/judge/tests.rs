//! Histories with one fault each. The judge must find that fault, and no other.

mod book;

use book::Book;

use super::*;
use crate::{
    cmd::DONE,
    end::{LOST, PossibleEnd},
    history::{JobStart, JobWant},
};

/// Makes a history of a job that was granted a permit. Its guard ends CMD although nothing has
/// failed, and the job prints nothing. A mistake in the guard once did this to most runs that had
/// to wait.
fn ended_by_its_own_guard() -> Book {
    Book::default()
        .run(0.0, "a", "n", 1)
        .told(5.0, "a", "acquired")
        .entered(5.0, "a", "n", 0, 7)
        .left(7.3, "a", 143)
        .told(7.3, "a", "released")
        .told(7.3, "a", "exited")
        .ended(7.4, "a", LOST, "", "")
}

#[test]
fn a_run_that_its_own_guard_ends_without_a_word_is_found_three_times_over() {
    let mut found = ended_by_its_own_guard().found();
    found.sort();
    assert_eq!(found, [DayCheck::Status, DayCheck::Silent, DayCheck::Words]);
}

#[test]
fn a_day_on_which_all_is_well_convicts_nobody() {
    let book = Book::default()
        .whole("a", "n", 0, 1, [0.0, 0.1, 5.0])
        .whole("b", "n", 1, 2, [0.2, 0.3, 6.0])
        .whole("c", "n", 0, 3, [0.4, 5.1, 8.0])
        .queued(0.5, "c", "n")
        .whole("d", "n", 1, 4, [1.0, 6.1, 7.0])
        .pushed(&["0-ok", "1-later", "2-bad"])
        .delivered("0-ok", 1, 0)
        .delivered("1-later", 2, 75)
        .delivered("2-bad", 3, 3)
        .delivered("1-later", 4, 0);
    let book = (5..9).fold(book, |book, fence| book.delivered("2-bad", fence, 3));
    assert_eq!(book.found(), []);
}

#[test]
fn a_status_that_may_not_be_and_words_that_may_not_are_told_apart() {
    let ended = |status, err| {
        Book::default()
            .run(0.0, "a", "n", 1)
            .entered(0.1, "a", "n", 0, 7)
            .left(1.0, "a", status)
            .ended(1.1, "a", status, DONE, err)
    };
    assert_eq!(ended(1, "seinpaal: n: what?\n").found(), [DayCheck::Status]);
    assert_eq!(ended(0, "seinpaal: n: by the way\n").found(), [DayCheck::Words]);
    assert_eq!(ended(0, "").found(), []);
}

#[test]
fn a_waiter_may_say_that_the_store_is_silent_only_where_it_is() {
    let said = "seinpaal: n (redis://h): the store has not answered for 2s; still waiting\n";
    let waits = || {
        Book::default()
            .run(0.0, "a", "n", 1)
            .entered(8.0, "a", "n", 0, 7)
            .left(9.0, "a", 0)
            .ended(9.1, "a", 0, DONE, said)
    };
    assert_eq!(waits().found(), [DayCheck::Words]);
    assert_eq!(waits().outage(2.0, 5.0).found(), []);
}

#[test]
fn a_lease_that_a_starved_machine_costs_is_excused_only_where_it_starved_and_was_told() {
    let lost = |err| {
        Book::default()
            .run(0.0, "a", "n", 1)
            .entered(0.1, "a", "n", 0, 7)
            .left(19.0, "a", 143)
            .ended(19.1, "a", LOST, "", err)
    };
    let slow = |book: Book| book.add(15.0, "rig", DayWhat::Slow { from: 5_000_000 });
    let told = "seinpaal: n: the lease was not renewed; a longer --ttl helps\n";
    assert_eq!(lost(told).found(), [DayCheck::Status]);
    assert_eq!(slow(lost(told)).found(), []);
    assert_eq!(slow(lost("")).found(), [DayCheck::Status, DayCheck::Silent]);
}

#[test]
fn a_job_that_never_ends_and_one_that_lingers_are_found() {
    assert_eq!(Book::default().run(0.0, "a", "n", 1).found(), [DayCheck::Hung]);
    let lingers = Book::default()
        .run(0.0, "a", "n", 1)
        .entered(0.1, "a", "n", 0, 7)
        .left(1.0, "a", 0)
        .told(1.0, "a", "exited")
        .ended(20.0, "a", 0, DONE, "");
    assert_eq!(lingers.found(), [DayCheck::Lingers]);
}

#[test]
fn one_too_many_inside_and_a_slot_given_twice_are_found() {
    let three = Book::default()
        .whole("a", "n", 0, 1, [0.0, 0.1, 5.0])
        .whole("b", "n", 1, 2, [0.2, 0.3, 6.0])
        .whole("c", "n", 2, 3, [0.4, 0.5, 8.0]);
    assert_eq!(three.found(), [DayCheck::Limit]);
    let slot = Book::default().whole("a", "n", 0, 1, [0.0, 0.1, 5.0]).whole(
        "b",
        "n",
        0,
        2,
        [0.2, 0.3, 6.0],
    );
    assert_eq!(slot.found(), [DayCheck::Limit]);
}

#[test]
fn a_holder_of_another_name_as_well_is_counted_there() {
    let argv = ["seinpaal", "run", "m", "--also", "n"].map(str::to_owned).to_vec();
    let want = Some(JobWant { name: "m".to_owned(), limit: 1, priority: 0 });
    let ends = vec![PossibleEnd::own(0, DONE)];
    let both = JobStart { argv, want, ends, is_hurried: false };
    let book = Book::default()
        .run(0.0, "a", "n", 1)
        .entered(0.1, "a", "n", 0, 1)
        .left(5.0, "a", 0)
        .ended(5.1, "a", 0, DONE, "")
        .add(1.0, "b", DayWhat::Started(both))
        .entered(1.1, "b", "m", 0, 2)
        .left(2.0, "b", 0)
        .ended(2.1, "b", 0, DONE, "");
    assert_eq!(book.found(), [DayCheck::Limit]);
}

#[test]
fn a_job_that_went_in_before_an_earlier_one_is_found_unless_the_store_was_silent() {
    let passed = || {
        Book::default().whole("a", "n", 0, 9, [0.0, 8.0, 9.0]).queued(0.5, "a", "n").whole(
            "b",
            "n",
            1,
            5,
            [1.0, 6.0, 7.0],
        )
    };
    assert_eq!(passed().found(), [DayCheck::Order]);
    assert_eq!(
        passed().outage(2.0, 4.0).found(),
        [DayCheck::Order],
        "so short a silence is no excuse"
    );
    assert_eq!(passed().outage(0.8, 7.8).found(), []);
}

#[test]
fn priority_goes_before_age_as_long_as_ten_seconds_a_step_say() {
    let with = |priority, came: f64| {
        let mut book = Book::default()
            .whole("a", "n", 0, 9, [0.0, 80.0, 90.0])
            .queued(0.5, "a", "n")
            .whole("b", "n", 1, 5, [came, 70.0, 79.0]);
        for event in &mut book.0 {
            if let (DayWhat::Started(start), "redis/b") = (&mut event.what, event.who.as_str()) {
                start.want.as_mut().unwrap().priority = priority;
            }
        }
        book.found()
    };
    assert_eq!(with(5, 20.0), []);
    assert_eq!(with(5, 60.0), [DayCheck::Order]);
    assert_eq!(with(-1, 1.0), [DayCheck::Order]);
}

#[test]
fn a_cmd_that_outlives_its_lease_in_a_silence_is_found() {
    let lost = |left: f64| {
        Book::default()
            .run_that_may(0.0, "a", "n", 1, &[PossibleEnd::lost("n")])
            .entered(0.1, "a", "n", 0, 7)
            .outage(5.0, 50.0)
            .left(left, "a", 143)
            .ended(
                left + 1.0,
                "a",
                LOST,
                "",
                "seinpaal: n: the lease is lost; a longer --ttl helps\n",
            )
    };
    assert_eq!(lost(36.0).found(), [DayCheck::Lease]);
    assert_eq!(lost(20.0).found(), []);
}

/// The store is silent from 5 s to 50 s, and CMD ends by itself at `left`.
fn sits_the_silence_out(left: f64) -> Book {
    Book::default()
        .run(0.0, "a", "n", 1)
        .entered(0.1, "a", "n", 0, 7)
        .outage(5.0, 50.0)
        .left(left, "a", 0)
        .ended(left + 0.1, "a", 0, DONE, "")
}

#[test]
fn a_guard_that_never_ends_a_cmd_whose_lease_is_over_is_found() {
    assert_eq!(sits_the_silence_out(45.0).found(), [DayCheck::Lease]);
    assert_eq!(sits_the_silence_out(60.0).found(), [DayCheck::Lease], "after the silence");
    assert_eq!(sits_the_silence_out(20.0).found(), []);
}

#[test]
fn a_run_that_was_stopped_or_killed_and_a_script_may_outlast_a_lease() {
    let stopped = |at, stopped| (at, DayWhat::Stopped { stopped });
    for (at, what) in [stopped(6.0, true), (44.0, DayWhat::Killing)] {
        assert_eq!(sits_the_silence_out(45.0).add(at, "a", what).found(), []);
    }
    let mut script = sits_the_silence_out(45.0);
    for event in &mut script.0 {
        if let DayWhat::Started(start) = &mut event.what {
            start.argv = ["sh", "-c", "seinpaal acquire n"].map(str::to_owned).to_vec();
        }
    }
    assert_eq!(script.found(), []);
}

#[test]
fn a_refusal_where_nobody_is_is_found() {
    let busy = "seinpaal: n: not acquired, busy: 1 of 1 held, 0 waiting\n";
    let refused = || {
        let ends = [PossibleEnd::busy("n")];
        Book::default().run_that_may(1.0, "a", "n", 2, &ends).ended(1.1, "a", 75, "", busy)
    };
    assert_eq!(refused().found(), [DayCheck::Refused]);
    assert_eq!(refused().whole("b", "n", 0, 1, [0.0, 0.1, 5.0]).found(), []);
}

#[test]
fn an_item_that_is_lost_done_twice_or_out_of_turn_is_found() {
    let pushed = || Book::default().pushed(&["0-ok", "1-ok"]);
    assert_eq!(pushed().delivered("0-ok", 1, 0).found(), [DayCheck::Item], "lost");
    let once = || pushed().delivered("0-ok", 1, 0).delivered("1-ok", 2, 0);
    assert_eq!(once().found(), []);
    assert_eq!(once().delivered("1-ok", 3, 0).found(), [DayCheck::Item], "twice");
    let turned = pushed().delivered("0-ok", 2, 0).delivered("1-ok", 1, 0);
    assert_eq!(turned.found(), [DayCheck::Item], "out of turn");
    let one_fence = pushed().delivered("0-ok", 1, 0).delivered("1-ok", 1, 0);
    assert_eq!(one_fence.found(), [DayCheck::Item], "one fence for two");
}

#[test]
fn an_item_that_nobody_pushed_is_found_also_in_a_queue_into_which_nothing_was_pushed() {
    let alone = || Book::default().delivered("0-ok", 1, 0);
    assert_eq!(alone().found(), [DayCheck::Item]);
    let beside = alone().pushed(&["0-ok"]).delivered("9-ok", 2, 0);
    assert_eq!(beside.found(), [DayCheck::Item]);
}

#[test]
fn the_items_of_a_push_that_failed_may_be_delivered() {
    let push = ["sh", "-c", "printf '0-ok\\n' | seinpaal queue push q --lines"];
    let start = JobStart {
        argv: push.map(str::to_owned).to_vec(),
        want: None,
        ends: vec![PossibleEnd::unreachable()],
        is_hurried: false,
    };
    let said = "seinpaal: q: the store does not answer\n";
    let failed = Book::default()
        .add(0.0, "push", DayWhat::Started(start))
        .ended(0.5, "push", 69, "", said)
        .delivered("0-ok", 1, 0);
    assert_eq!(failed.found(), []);
}

#[test]
fn a_wrong_that_a_watcher_saw_and_a_permit_that_is_left_are_found() {
    let story = || "one too few".to_owned();
    let book = Book::default().add(1.0, "watch", DayWhat::Wrong { story: story() }).add(
        2.0,
        "end",
        DayWhat::Remains { story: story() },
    );
    assert_eq!(book.found(), [DayCheck::Wrong, DayCheck::Remains]);
    assert_eq!(judge(&[], &[story()]).violations[0].check, DayCheck::Remains);
}
