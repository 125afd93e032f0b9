//! The one list of cases about queues. A new line here is a new test for every store that keeps
//! them.

use crate::{Ability, Case};

/// Calls the macro `$then` with the list, after the module of the cases and any further arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! with_every_queue_case {
    ($then:ident, $($own:tt)*) => {
        $crate::$then! { queue_cases, $($own)*;
            order {
                what_is_pushed_first_is_delivered_first [];
                what_is_acknowledged_is_gone [];
                an_item_is_in_work_once [];
                higher_priority_comes_first [];
                a_long_wait_is_not_passed_by_higher_priority [];
                what_is_given_back_is_first_again [];
                what_is_given_back_for_later_comes_when_it_is_due_behind_the_others [];
                what_a_batch_pushes_its_later_requests_can_take [];
                finishing_one_and_taking_the_next_is_one_call [];
                thousands_of_items_are_delivered_in_order [];
                of_workers_that_race_each_item_has_one [];
            }
            delays {
                a_delayed_item_comes_to_the_millisecond [];
                an_item_can_be_due_at_an_instant_of_the_stores_clock [];
                what_was_due_in_the_past_is_ready_at_once_and_passes_nobody [];
                delayed_items_come_in_the_order_in_which_they_fall_due [];
                items_due_at_one_moment_come_in_the_order_of_their_pushes [];
                a_delayed_item_stands_where_it_fell_due [];
                a_delayed_item_has_its_priority_when_it_comes [];
                an_item_can_be_due_in_years [];
                more_items_due_at_once_than_one_call_looks_at_come_one_call_after_the_other [];
                a_clock_that_is_set_back_delays_what_is_not_due_and_takes_nothing_back [];
            }
            groups {
                no_more_items_of_a_group_are_in_work_than_its_limit [];
                a_full_group_does_not_hold_up_others [];
                items_without_a_group_know_no_limit_of_groups [];
                a_group_goes_on_in_its_order_when_it_has_room_again [];
                within_a_group_priority_counts [];
                the_limit_of_groups_can_be_changed_at_any_time [];
                a_lowered_group_limit_holds_back_ready_items [];
                a_group_may_have_any_name [];
                more_full_groups_than_one_call_looks_at_come_in_one_call_after_the_other [];
            }
            limits {
                no_more_items_are_in_work_than_the_limit [];
                an_item_that_is_finished_makes_room_for_the_next [];
                a_limit_that_is_raised_lets_the_next_be_taken [];
                a_limit_below_the_items_in_work_ends_and_admits_nothing [];
                a_limit_of_zero_delivers_nothing_and_keeps_the_items [];
                the_limit_of_the_queue_and_that_of_groups_hold_together [];
                a_queue_that_is_paused_takes_items_and_delivers_none [];
                a_worker_keeps_its_item_when_the_queue_is_paused [];
                what_was_set_stays_when_nobody_is_here [];
                workers_that_race_never_hold_more_than_the_limit [];
            }
            payloads {
                an_empty_payload_comes_back [];
                every_byte_comes_back_as_it_was [];
                a_payload_of_a_mebibyte_comes_back [];
                the_answers_to_a_batch_hold_a_mebibyte_of_payload [];
                what_its_maker_says_of_an_item_comes_back [];
                queues_do_not_share_items_whatever_is_in_their_names [];
                the_longest_names_are_as_good_as_any [];
                a_queue_and_a_semaphore_of_one_name_do_not_touch_each_other [];
            }
            dead {
                an_item_that_failed_comes_again_after_its_delay [];
                after_its_last_delivery_an_item_is_dead_with_the_reasons_in_their_order [];
                giving_back_is_no_delivery [];
                the_latest_eight_ends_are_remembered [];
                a_dead_letter_shows_what_it_was_and_how_its_payload_begins [];
                a_dead_letter_that_is_replayed_has_all_its_deliveries_and_is_last_in_line [];
                a_dead_letter_can_be_dropped [];
                only_dead_letters_are_replayed_and_dropped_and_they_are_not_cancelled [];
                a_purge_takes_what_waits_and_nothing_else_in_bounded_steps [];
                a_purge_of_dead_letters_takes_them_and_nothing_else_in_bounded_steps [];
            }
            lists {
                ready_items_are_listed_once_those_of_groups_before_the_others [];
                delayed_items_are_listed_as_they_fall_due [];
                items_in_work_are_listed_with_their_workers [];
                dead_letters_are_listed_page_by_page [];
                a_listed_item_shows_what_it_was_and_how_its_payload_begins [];
                a_list_goes_on_where_its_page_ended_whatever_went_before [];
                a_long_list_comes_in_bounded_steps [];
                a_page_reads_no_more_payload_than_a_mebibyte [];
                a_place_that_no_item_has_is_as_good_as_any [];
            }
            cancel {
                what_is_ready_can_be_cancelled [];
                what_is_delayed_can_be_cancelled [];
                cancelling_an_item_in_work_tells_its_worker_and_voids_its_delivery [];
                cancelling_an_item_in_work_makes_room_for_the_next [];
                cancelling_the_first_of_a_group_brings_in_its_next_one [];
                a_cancel_that_spares_work_takes_what_waits_and_nothing_else [];
            }
            dedup {
                a_key_is_refused_for_its_window_and_not_a_moment_longer [];
                a_refused_push_does_not_lengthen_the_window [];
                a_key_is_remembered_after_its_item_was_acknowledged [];
                a_cancelled_item_can_be_pushed_again_under_its_key [];
                what_was_purged_can_be_pushed_again_under_its_key [];
                keys_are_apart_whatever_is_in_them [];
                a_key_can_be_remembered_for_a_week [];
            }
            leases {
                an_item_whose_worker_died_is_delivered_again_at_once [NoticesDeath];
                an_item_whose_worker_died_is_delivered_again_after_its_ttl_with_a_higher_fence [];
                what_was_lost_is_first_again [];
                what_is_renewed_and_acknowledged_in_one_call_is_gone [];
                a_late_end_of_a_delivery_is_lost_and_changes_nothing [];
                a_lease_that_nobody_renews_ends_and_its_worker_is_told [EndsLivingLeases];
                each_delivery_lasts_as_long_as_its_worker_said [EndsLivingLeases];
                a_worker_that_renews_keeps_its_items [];
                a_renewal_tells_which_deliveries_are_lost_and_keeps_the_others [];
                a_renewal_of_a_delivery_takes_it_over [];
                five_hundred_deliveries_are_renewed_in_one_call [];
                what_a_pop_says_is_valid_runs_down [];
                a_clock_that_jumps_forward_takes_no_item_from_a_worker_that_listens [];
                a_clock_that_jumps_backward_does_not_freeze_recovery [];
                what_a_dead_worker_had_counts_for_the_limit_until_it_is_free [];
                hundreds_of_leases_that_end_at_once_are_ended_a_few_in_each_call [];
            }
            numbers {
                numbers_of_items_and_fences_of_deliveries_grow_together [];
                items_of_one_batch_have_numbers_and_fences_of_their_own [];
                every_delivery_of_an_item_has_a_greater_fence [];
                numbers_grow_though_the_clock_jumps_back [];
                numbers_grow_over_an_idle_time_in_which_all_was_forgotten [];
                a_number_that_a_client_has_seen_is_never_given_again [];
            }
            workers {
                an_item_calls_one_worker_and_the_first_that_stood_in_line [];
                as_many_workers_are_called_as_there_are_items [];
                a_worker_that_wants_many_is_called_once_for_many [];
                more_items_than_the_called_want_call_the_next [];
                a_worker_that_got_less_than_it_wanted_stands_in_line_for_the_rest [];
                a_worker_that_does_not_wait_is_not_called [];
                a_worker_that_leaves_is_not_called [];
                a_worker_that_died_is_passed_over [];
                a_worker_that_was_called_and_does_not_come_is_not_waited_for [];
                nobody_is_called_for_what_cannot_be_delivered [];
                room_in_the_queue_calls_a_worker [];
                room_in_a_group_calls_a_worker [];
                a_queue_that_is_resumed_calls_workers [];
                what_comes_back_calls_a_worker [];
                what_a_dead_worker_had_calls_another [];
                workers_that_drain_are_called_when_nothing_is_left_and_others_are_not [];
                a_place_ends_when_its_worker_is_not_heard_from [];
                a_hundred_idle_workers_are_called_once_each_for_a_hundred_items [];
            }
            line {
                the_first_in_line_is_told_when_to_look_and_nobody_else [];
                nobody_is_told_to_look_when_nothing_can_happen [];
                an_item_that_falls_due_reaches_a_worker_that_looks [];
                the_first_in_line_is_told_again_when_something_falls_due_sooner [];
                the_next_in_line_looks_when_the_first_leaves [];
                the_first_in_line_looks_when_a_lease_can_end [];
                a_first_in_line_that_does_not_look_is_followed_by_the_next [];
                the_first_in_line_looks_for_a_called_one_that_does_not_come [];
            }
            once {
                a_request_that_arrives_again_is_answered_alike_and_done_once [];
                a_pop_that_arrives_again_is_given_the_same_deliveries [];
                a_pop_that_arrives_again_leaves_out_ended_deliveries [];
                what_reads_is_read_anew_when_it_arrives_again [];
                an_earlier_batch_that_arrives_late_does_nothing [];
                a_batch_that_arrives_after_its_deadline_does_nothing [];
                a_batch_is_not_done_again_after_its_session_was_forgotten [];
                sessions_have_numbers_of_their_own [];
                a_session_has_numbers_of_its_own_at_each_queue [];
                a_batch_has_up_to_sixty_four_requests [];
                a_call_that_is_dropped_half_way_can_be_made_again [];
            }
            inspect {
                a_snapshot_counts_everything [];
                a_snapshot_counts_idle_workers [];
                a_snapshot_tells_a_queue_that_nobody_works_on [];
                a_snapshot_does_not_count_a_worker_that_died [];
                a_snapshot_shows_who_works_on_what [];
                a_snapshot_shows_groups_by_name [];
                a_snapshot_lists_as_many_as_asked_for_and_counts_all [];
                looking_at_a_queue_does_not_make_it [];
                the_list_has_every_queue_in_use_that_begins_so [];
                a_listed_queue_is_counted_and_shows_no_rows [];
                a_queue_that_was_used_up_is_forgotten [];
            }
            ledger {
                a_random_history_is_answered_as_the_ledger_answers_it [];
            }
        }
    };
}

/// As [`conformance!`](crate::conformance!), for the queues of a store.
#[macro_export]
macro_rules! queue_conformance {
    ($store:ident, $harness:expr) => {
        $crate::with_every_queue_case! { every_case, $store, $harness }
    };
}

/// Every case about queues, in the order of the list.
pub const QUEUE_CASES: &[Case] = with_every_queue_case! { case_values, };
