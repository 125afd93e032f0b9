//! The cases about queues can fail: each of these stores makes one mistake, and at least one case
//! notices it.
//!
//! Each store is the memory store behind a `Spoiler`, which changes requests, answers or news on
//! their way.

mod queue_mistakes {
    pub(super) mod harness;
    pub(super) mod mistake;
    pub(super) mod spoil;
}

use std::{panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt;
use queue_mistakes::{harness::SpoilingHarness, mistake::Mistake};
use seinpaal_conformance::{CaseStage, QUEUE_CASES};

/// A time longer than a case waits for an event that must happen. The clock of these tests jumps,
/// so waiting costs no time.
const BOUND: Duration = Duration::from_secs(60);

/// The cases that fail on a store with this mistake.
async fn failing(mistake: Mistake) -> Vec<&'static str> {
    let mut failing = Vec::new();
    for case in QUEUE_CASES {
        let stage = CaseStage::new(SpoilingHarness::new(mistake));
        let run = AssertUnwindSafe((case.run)(&stage)).catch_unwind();
        if !matches!(tokio::time::timeout(BOUND, run).await, Ok(Ok(()))) {
            failing.push(case.name);
        }
    }
    failing
}

macro_rules! noticed {
    ($($test:ident: $mistake:ident [$($case:literal)*];)*) => {$(
        #[tokio::test(start_paused = true)]
        async fn $test() {
            let failing = failing(Mistake::$mistake).await;
            for case in [$($case),*] {
                assert!(failing.contains(&case), "{case} passed; these failed: {failing:#?}");
            }
            assert_eq!(failing.is_empty(), Mistake::$mistake == Mistake::None, "{failing:#?}");
        }
    )*};
}

noticed! {
    a_store_without_a_mistake_passes: None [];
    acknowledgements_that_are_forgotten_are_noticed: ForgetsAcknowledgements
        ["order::what_is_acknowledged_is_gone"];
    an_item_that_is_delivered_twice_is_noticed: DeliversTwice
        ["order::an_item_is_in_work_once"];
    a_limit_that_does_not_hold_is_noticed: IgnoresLimit
        ["limits::no_more_items_are_in_work_than_the_limit"];
    a_limit_of_groups_that_does_not_hold_is_noticed: IgnoresGroupLimit
        ["groups::no_more_items_of_a_group_are_in_work_than_its_limit"];
    an_order_that_is_lost_is_noticed: LosesOrder
        ["order::what_is_pushed_first_is_delivered_first"];
    a_priority_that_does_not_count_is_noticed: IgnoresPriority
        ["order::higher_priority_comes_first"];
    wakeups_that_never_come_are_noticed: DropsCalls
        ["workers::an_item_calls_one_worker_and_the_first_that_stood_in_line"];
    wakeups_for_everybody_are_noticed: CallsEverybody
        ["workers::an_item_calls_one_worker_and_the_first_that_stood_in_line"];
    that_nobody_is_told_to_look_is_noticed: TellsNobodyToLook
        ["line::the_first_in_line_is_told_when_to_look_and_nobody_else"
         "line::the_first_in_line_is_told_again_when_something_falls_due_sooner"];
    a_loss_that_is_not_told_is_noticed: TellsOfNoLoss
        ["cancel::cancelling_an_item_in_work_tells_its_worker_and_voids_its_delivery"];
    a_batch_that_is_done_again_when_it_is_sent_again_is_noticed: RepeatsBatches
        ["once::a_request_that_arrives_again_is_answered_alike_and_done_once"];
    a_batch_that_is_done_after_its_deadline_is_noticed: IgnoresDeadlines
        ["once::a_batch_that_arrives_after_its_deadline_does_nothing"];
    delays_of_whole_seconds_are_noticed: RoundsDelays
        ["delays::a_delayed_item_comes_to_the_millisecond"];
    keys_that_are_forgotten_are_noticed: ForgetsKeys
        ["dedup::a_key_is_refused_for_its_window_and_not_a_moment_longer"];
    payloads_that_are_taken_for_text_are_noticed: TakesPayloadsForText
        ["payloads::every_byte_comes_back_as_it_was"];
    payloads_that_end_at_a_zero_are_noticed: CutsPayloadsAtZero
        ["payloads::every_byte_comes_back_as_it_was"];
    a_pause_that_delivers_is_noticed: IgnoresPauses
        ["limits::a_queue_that_is_paused_takes_items_and_delivers_none"];
    an_item_that_never_dies_is_noticed: NeverBuries
        ["dead::after_its_last_delivery_an_item_is_dead_with_the_reasons_in_their_order"];
    reasons_that_are_lost_are_noticed: ForgetsReasons
        ["dead::after_its_last_delivery_an_item_is_dead_with_the_reasons_in_their_order"];
    giving_back_that_counts_as_a_delivery_is_noticed: CountsGivingBack
        ["dead::giving_back_is_no_delivery"];
    giving_back_to_the_end_of_the_line_is_noticed: GivesBackToTheEnd
        ["order::what_is_given_back_is_first_again"];
    a_late_acknowledgement_that_counts_is_noticed: BelievesLateWorkers
        ["leases::a_late_end_of_a_delivery_is_lost_and_changes_nothing"];
    renewals_that_do_nothing_are_noticed: ForgetsRenewals
        ["leases::a_worker_that_renews_keeps_its_items"];
    leases_that_never_end_are_noticed: NeverEndsLeases
        ["leases::an_item_whose_worker_died_is_delivered_again_after_its_ttl_with_a_higher_fence"];
    a_list_that_leaves_queues_out_is_noticed: ListsFull
        ["inspect::the_list_has_every_queue_in_use_that_begins_so"];
    names_that_share_items_are_noticed: CutsNames
        ["payloads::queues_do_not_share_items_whatever_is_in_their_names"];
    answers_without_a_bound_are_noticed: AnswersWithoutBound
        ["payloads::the_answers_to_a_batch_hold_a_mebibyte_of_payload"];
    an_item_that_is_left_out_of_a_list_is_noticed: ListsOneTooFew
        ["lists::ready_items_are_listed_once_those_of_groups_before_the_others"
         "lists::a_long_list_comes_in_bounded_steps"];
    an_item_that_is_listed_twice_is_noticed: ListsOneTwice
        ["lists::dead_letters_are_listed_page_by_page"];
    a_list_that_ends_with_its_first_page_is_noticed: ListsOnePage
        ["lists::delayed_items_are_listed_as_they_fall_due"
         "lists::a_page_reads_no_more_payload_than_a_mebibyte"];
    a_list_in_another_order_is_noticed: ListsOutOfOrder
        ["lists::delayed_items_are_listed_as_they_fall_due"];
    times_that_are_lost_in_a_list_are_noticed: ListsNoTimes
        ["lists::delayed_items_are_listed_as_they_fall_due"
         "lists::items_in_work_are_listed_with_their_workers"];
    a_cancel_that_takes_what_is_in_work_is_noticed: SparesNobody
        ["cancel::a_cancel_that_spares_work_takes_what_waits_and_nothing_else"];
}
