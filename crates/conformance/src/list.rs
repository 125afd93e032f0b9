//! The one list of cases. A new line here is a new test for every store.

use seinpaal::store::BoxFuture;

use crate::{Ability, CaseStage};

/// Calls the macro `$then` with the list, after the module of the cases and any further arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! with_every_case {
    ($then:ident, $($own:tt)*) => {
        $crate::$then! { cases, $($own)*;
            exclusion {
                no_more_than_the_limit_hold [];
                a_permit_that_was_given_back_can_be_had_again [];
                the_permits_of_a_request_are_had_all_or_none [];
                names_do_not_share_permits_whatever_is_in_them [];
                the_longest_name_is_as_good_as_any [];
                of_clients_that_race_for_one_permit_one_has_it [];
                clients_that_come_and_go_never_hold_more_than_the_limit [];
                what_a_batch_frees_its_later_requests_can_take [];
            }
            alarms {
                what_was_waited_for_is_certain_for_two_thirds_of_its_ttl [];
                what_was_waited_for_is_renewed_before_anybody_is_alarmed [];
            }
            fairness {
                waiters_are_served_in_the_order_of_their_requests [KeepsOrder];
                a_newcomer_does_not_pass_a_waiter [KeepsOrder];
                a_large_request_at_the_head_is_not_passed_by_small_ones [KeepsOrder];
                higher_priority_comes_first [KeepsOrder];
                a_long_wait_is_not_passed_by_higher_priority [KeepsOrder];
                ten_thousand_waiters_at_one_name_are_served_in_order [KeepsOrder];
            }
            expiry {
                a_lease_that_nobody_renews_ends [];
                the_lease_of_a_client_that_listens_ends_too [EndsLivingLeases];
                a_client_that_lives_holds_without_renewing [VouchesForLife];
                a_client_whose_clock_is_years_behind_is_treated_as_any [];
                a_client_whose_clock_is_years_ahead_is_treated_as_any [];
                each_lease_has_the_length_its_holder_named [];
                a_ttl_of_a_day_outlives_a_short_one_asked_for_later [];
                what_a_dead_holder_held_is_free_at_once [NoticesDeath];
                what_a_dead_holder_held_is_free_after_its_ttl_however_long_nobody_looked [];
                a_dead_waiter_at_the_head_holds_up_nobody [];
                a_waiter_that_died_is_not_granted_later [];
                a_place_in_the_queue_ends_with_a_short_lease_of_its_own [];
                a_waiter_that_asks_again_keeps_its_place [];
                a_clock_that_jumps_forward_ends_no_lease_whose_holder_listens [];
                a_clock_that_jumps_backward_does_not_freeze_recovery [];
                the_time_that_a_grant_is_valid_for_is_the_ttl_and_runs_down [];
                a_name_that_was_used_up_is_forgotten [];
            }
            renewal {
                renewing_a_lease_extends_all_that_stands_under_it [];
                renewing_with_a_wrong_digest_renews_nothing [];
                renewing_by_ticket_tells_the_live_from_the_dead [];
                renewing_never_revives_an_ended_ticket [];
                a_waiter_is_not_made_a_holder_by_a_renewal [];
                a_renewal_behind_a_release_proves_what_the_release_hands_over [KeepsOrder];
                the_places_in_the_queue_are_renewed_in_one_call [];
                a_lease_of_another_client_cannot_be_renewed_as_a_whole [];
                as_many_tickets_as_a_lease_may_have_are_renewed_in_one_request [];
            }
            attach {
                attaching_is_a_grant_with_a_fence_of_its_own_and_ends_the_one_before [];
                nothing_that_an_old_holder_sends_frees_or_keeps_the_permit_of_the_new_one [];
                a_late_copy_of_a_detach_changes_nothing_after_an_attach [];
                the_same_attach_twice_is_one_grant [];
                of_two_that_attach_the_later_has_it_and_a_late_copy_takes_nothing_back [];
                a_detached_permit_outlives_its_client_and_is_taken_up_by_attaching [];
                a_renewal_without_a_ttl_lasts_for_that_of_the_acquire_and_shortens_nothing [];
                an_attach_that_is_given_up_before_it_arrives_changes_nothing [];
                a_renewal_as_nobody_leaves_alone_what_a_client_keeps [];
                a_holder_whose_ticket_somebody_gives_back_is_told [];
            }
            cancel {
                a_waiter_that_cancels_is_never_granted [];
                a_cancel_that_comes_after_the_grant_gives_the_permit_back [];
                a_cancel_that_races_a_grant_leaves_nothing_behind [];
                a_cancel_that_overtakes_its_acquire_wins [];
                cancelling_the_large_request_at_the_head_lets_the_small_ones_in [];
                cancelling_a_held_ticket_gives_it_back [];
                a_request_and_its_cancel_in_one_call_leave_nothing [];
            }
            retry {
                an_acquire_whose_reply_was_lost_is_one_grant [];
                an_acquire_whose_reply_was_lost_is_one_place [];
                an_acquire_that_was_granted_meanwhile_is_told_so [];
                a_release_whose_reply_was_lost_releases_once [];
                slots_given_back_twice_are_given_back_once [];
                every_other_request_sent_twice_is_answered_as_if_sent_once [];
                an_acquire_that_arrives_again_after_the_release_makes_no_lease [];
                numbers_of_one_series_are_granted_once_each [];
                a_late_release_does_not_free_the_next_permit_of_its_client [];
                a_release_after_the_end_does_not_free_the_permit_of_another [];
                a_request_that_comes_after_its_deadline_is_refused [];
                a_store_tells_its_clock_when_it_is_opened [];
                a_call_that_is_dropped_half_way_can_be_made_again [];
            }
            fencing {
                every_grant_has_a_greater_fence_than_all_before [];
                grants_made_in_one_step_have_fences_of_their_own [];
                fences_grow_over_an_idle_time_in_which_all_was_forgotten [];
                fences_grow_over_the_end_of_a_lease [];
                fences_grow_though_the_clock_jumps_back [];
                a_fence_that_a_client_has_seen_is_never_given_again [];
                within_a_slot_fences_grow [];
            }
            slots {
                the_lowest_free_slots_are_given_first [];
                some_slots_can_be_given_back_and_the_rest_stays [];
                slots_that_another_holds_are_not_given_back [];
                slots_stay_below_a_limit_that_was_lowered [];
                slots_begin_at_zero_again_when_everybody_has_left [];
                ten_thousand_permits_are_had_in_one_request [];
            }
            named {
                a_holder_is_told_the_names_of_its_slots [NamesSlots];
                a_request_waits_for_the_slot_it_names_and_holds_up_nobody_else [NamesSlots];
                a_slot_that_somebody_waits_for_goes_to_nobody_later [NamesSlots];
                a_wish_for_a_name_that_no_slot_has_is_refused [NamesSlots];
                names_are_only_added_at_the_end_while_somebody_goes_by_them [NamesSlots];
            }
            limits {
                the_limit_is_one_until_somebody_says_otherwise [];
                the_limit_that_the_first_states_holds_for_all [];
                a_request_that_states_another_limit_is_told_both_numbers [];
                an_implied_limit_counts_like_a_stated_one_while_anybody_holds [];
                what_is_stated_goes_with_the_last_holder_at_once [];
                a_pinned_limit_is_adopted_unless_exactly_another_is_wanted [];
                a_limit_that_is_unset_is_let_go_at_once_and_the_queue_is_served [];
                a_request_that_adopts_goes_by_the_stored_limit [];
                a_request_that_sets_the_limit_lets_waiters_in [];
                more_permits_than_exist_are_refused_and_never_queued [];
                a_limit_below_the_held_permits_evicts_nobody_and_admits_nobody [];
                raising_the_limit_serves_the_queue [];
                a_limit_of_zero_admits_nobody_and_keeps_the_waiters [];
                a_waiter_that_can_never_be_served_any_more_is_told [];
                a_limit_set_on_purpose_stays_when_nobody_is_here [];
                a_limit_that_is_let_go_is_forgotten_with_the_name [];
                only_as_many_wait_as_the_caller_allows [];
            }
            kinds {
                a_name_is_one_kind_of_lock_at_a_time [];
                a_name_that_was_used_up_can_become_another_kind [];
                the_limit_of_a_mutex_cannot_be_changed [];
                a_name_whose_limit_was_set_on_purpose_is_a_semaphore [];
                readers_share_and_a_writer_excludes [];
                readers_that_come_after_a_waiting_writer_wait_for_it [];
                a_writer_that_becomes_a_reader_lets_readers_in_and_no_writer [];
                a_writer_gets_all_permits_in_one_piece_whatever_readers_left [];
            }
            wakeups {
                a_release_wakes_the_winner_and_nobody_else [];
                a_wakeup_says_what_was_granted [];
                a_client_hears_of_its_own_other_tickets [];
                a_holder_that_is_evicted_is_told [];
                a_waiter_that_is_evicted_is_told [];
                a_ticket_that_is_not_here_cannot_be_evicted [];
                the_first_in_line_is_told_when_to_look_though_no_wakeup_comes [KeepsOrder];
                a_waiter_that_cannot_be_reached_is_passed_over_and_keeps_its_place [LosesSubscriptions];
                a_hundred_grants_in_one_step_are_all_told [KeepsOrder];
            }
            inspect {
                a_snapshot_agrees_with_what_was_granted [];
                a_snapshot_tells_how_long_the_last_holds_took_that_were_given_back [];
                a_snapshot_never_shows_what_has_run_out [];
                a_snapshot_lists_as_many_as_asked_for_and_counts_all [];
                what_a_client_says_of_itself_comes_back_as_it_was [];
                looking_at_a_name_does_not_make_it [];
                the_list_has_every_name_in_use_that_begins_so [];
                a_listed_name_shows_its_first_waiters_and_counts_all [];
            }
            pause {
                a_holder_keeps_its_permit_when_the_name_is_paused [];
                nobody_is_admitted_to_a_name_that_is_paused [];
                resuming_serves_the_queue_in_order [];
                the_reason_is_shown_and_stays_when_nobody_is_here [];
            }
            queues {
                a_store_keeps_queues_or_says_that_it_keeps_none [];
            }
            ledger {
                a_random_history_is_answered_as_the_ledger_answers_it [KeepsOrder];
            }
        }
    };
}

/// Puts a store through every case: `conformance!(memory, MemoryHarness::new());` makes a module
/// `memory` with a module for each topic and a test for each case, each with a harness of its own,
/// and a test `summary` that lists the cases that the store promises.
#[macro_export]
macro_rules! conformance {
    ($store:ident, $harness:expr) => {
        $crate::with_every_case! { every_case, $store, $harness }
    };
}

/// Makes the tests of [`conformance!`] from the list.
#[doc(hidden)]
#[macro_export]
macro_rules! every_case {
    ($cases:ident, $store:ident, $harness:expr;
        $($topic:ident { $($case:ident [$($need:ident)*];)* })*) => {
        mod $store {
            #[allow(unused_imports, reason = "a harness may be named by its whole path")]
            use super::*;

            $(mod $topic {
                #[allow(unused_imports, reason = "a harness may be named by its whole path")]
                use super::*;

                $(#[::tokio::test]
                async fn $case() {
                    let needs: &[$crate::Ability] = &[$($crate::Ability::$need),*];
                    if let Some(stage) = $crate::CaseStage::promised($harness, needs) {
                        $crate::$cases::$topic::$case(&stage).await;
                    }
                })*
            })*

            #[test]
            fn summary() {
                let cases: &[(&str, &[$crate::Ability])] = &[$($((
                    concat!(stringify!($topic), "::", stringify!($case)),
                    &[$($crate::Ability::$need),*],
                )),*),*];
                print!("{}", $crate::summary(stringify!($store), &$harness, cases));
            }
        }
    };
}

/// A case as a value, for programs that compare stores.
#[derive(Clone, Copy)]
pub struct Case {
    /// `topic::case`.
    pub name: &'static str,
    /// The abilities that the case needs.
    pub needs: &'static [Ability],
    /// Puts the store of a stage through the case. Panics if the case fails.
    pub run: for<'a> fn(&'a CaseStage) -> BoxFuture<'a, ()>,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Case").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Makes [`CASES`] from the list.
#[doc(hidden)]
#[macro_export]
macro_rules! case_values {
    ($cases:ident,; $($topic:ident { $($case:ident [$($need:ident)*];)* })*) => {
        &[$($(Case {
            name: concat!(stringify!($topic), "::", stringify!($case)),
            needs: &[$(Ability::$need),*],
            run: |stage| Box::pin($crate::$cases::$topic::$case(stage)),
        },)*)*]
    };
}

/// Every case, in the order of the list.
pub const CASES: &[Case] = with_every_case! { case_values, };
