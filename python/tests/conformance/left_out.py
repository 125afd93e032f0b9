"""The cases that are not told through Python, with the reasons."""

from __future__ import annotations

CLOCK = "it sets the clock of a store, or waits for minutes of it; a store here goes by the true time"
WIRE = "it sends what a client's session sends by itself: Python has no word in renewals, batches and repetitions"
PARTS = "Python gives back all permits of a ticket at once"
LIST = "Python does not list names"
COMMAND = "Python leaves it to the command line: dead letters, lists of items, purges, cancelled items, paused queues, limits of groups"
ROWS = "Python's snapshots have tickets and counts, and no more of each holder, waiter or worker"
MODEL = "it holds a store against the ledger, which is Rust's"

#: By topic: the cases, and the reason.
PERMITS: dict[str, dict[str, list[str]]] = {
    "exclusion": {WIRE: ["what_a_batch_frees_its_later_requests_can_take"]},
    "alarms": {
        CLOCK: [
            "what_was_waited_for_is_certain_for_two_thirds_of_its_ttl",
            "what_was_waited_for_is_renewed_before_anybody_is_alarmed",
        ]
    },
    "fairness": {CLOCK: ["a_long_wait_is_not_passed_by_higher_priority"]},
    "expiry": {
        CLOCK: [
            "a_client_whose_clock_is_years_behind_is_treated_as_any",
            "a_client_whose_clock_is_years_ahead_is_treated_as_any",
            "a_clock_that_jumps_forward_ends_no_lease_whose_holder_listens",
            "a_clock_that_jumps_backward_does_not_freeze_recovery",
        ],
        WIRE: [
            "the_lease_of_a_client_that_listens_ends_too",
            "a_place_in_the_queue_ends_with_a_short_lease_of_its_own",
            "a_waiter_that_asks_again_keeps_its_place",
        ],
        LIST: ["a_name_that_was_used_up_is_forgotten"],
    },
    "renewal": {
        WIRE: [
            "renewing_a_lease_extends_all_that_stands_under_it",
            "a_renewal_behind_a_release_proves_what_the_release_hands_over",
            "renewing_with_a_wrong_digest_renews_nothing",
            "renewing_by_ticket_tells_the_live_from_the_dead",
            "renewing_never_revives_an_ended_ticket",
            "a_waiter_is_not_made_a_holder_by_a_renewal",
            "the_places_in_the_queue_are_renewed_in_one_call",
            "a_lease_of_another_client_cannot_be_renewed_as_a_whole",
            "as_many_tickets_as_a_lease_may_have_are_renewed_in_one_request",
        ]
    },
    "attach": {
        WIRE: [
            "a_late_copy_of_a_detach_changes_nothing_after_an_attach",
            "the_same_attach_twice_is_one_grant",
            "an_attach_that_is_given_up_before_it_arrives_changes_nothing",
            "a_renewal_as_nobody_leaves_alone_what_a_client_keeps",
            "a_holder_whose_ticket_somebody_gives_back_is_told",
        ]
    },
    "cancel": {
        WIRE: [
            "a_cancel_that_overtakes_its_acquire_wins",
            "cancelling_a_held_ticket_gives_it_back",
        ]
    },
    "retry": {
        WIRE: [
            "an_acquire_whose_reply_was_lost_is_one_grant",
            "an_acquire_whose_reply_was_lost_is_one_place",
            "an_acquire_that_was_granted_meanwhile_is_told_so",
            "a_release_whose_reply_was_lost_releases_once",
            "slots_given_back_twice_are_given_back_once",
            "every_other_request_sent_twice_is_answered_as_if_sent_once",
            "an_acquire_that_arrives_again_after_the_release_makes_no_lease",
            "numbers_of_one_series_are_granted_once_each",
            "a_request_that_comes_after_its_deadline_is_refused",
            "a_store_tells_its_clock_when_it_is_opened",
            "a_call_that_is_dropped_half_way_can_be_made_again",
        ]
    },
    "fencing": {
        CLOCK: [
            "fences_grow_over_an_idle_time_in_which_all_was_forgotten",
            "fences_grow_though_the_clock_jumps_back",
        ],
        WIRE: ["a_fence_that_a_client_has_seen_is_never_given_again"],
    },
    "slots": {
        PARTS: [
            "some_slots_can_be_given_back_and_the_rest_stays",
            "slots_that_another_holds_are_not_given_back",
        ]
    },
    "limits": {
        WIRE: ["a_request_that_adopts_goes_by_the_stored_limit", "a_request_that_sets_the_limit_lets_waiters_in"]
    },
    "kinds": {CLOCK: ["a_name_that_was_used_up_can_become_another_kind"]},
    "wakeups": {
        WIRE: [
            "a_wakeup_says_what_was_granted",
            "the_first_in_line_is_told_when_to_look_though_no_wakeup_comes",
            "a_waiter_that_cannot_be_reached_is_passed_over_and_keeps_its_place",
        ]
    },
    "inspect": {
        ROWS: [
            "a_snapshot_lists_as_many_as_asked_for_and_counts_all",
            "what_a_client_says_of_itself_comes_back_as_it_was",
            "a_snapshot_tells_how_long_the_last_holds_took_that_were_given_back",
        ],
        LIST: [
            "looking_at_a_name_does_not_make_it",
            "the_list_has_every_name_in_use_that_begins_so",
            "a_listed_name_shows_its_first_waiters_and_counts_all",
        ],
    },
    "queues": {WIRE: ["a_store_keeps_queues_or_says_that_it_keeps_none"]},
    "ledger": {MODEL: ["a_random_history_is_answered_as_the_ledger_answers_it"]},
}

QUEUES: dict[str, dict[str, list[str]]] = {
    "order": {
        CLOCK: ["a_long_wait_is_not_passed_by_higher_priority"],
        WIRE: [
            "what_a_batch_pushes_its_later_requests_can_take",
            "finishing_one_and_taking_the_next_is_one_call",
        ],
    },
    "delays": {
        CLOCK: [
            "a_delayed_item_comes_to_the_millisecond",
            "items_due_at_one_moment_come_in_the_order_of_their_pushes",
            "a_delayed_item_stands_where_it_fell_due",
            "more_items_due_at_once_than_one_call_looks_at_come_one_call_after_the_other",
            "a_clock_that_is_set_back_delays_what_is_not_due_and_takes_nothing_back",
        ],
        WIRE: [
            "an_item_can_be_due_at_an_instant_of_the_stores_clock",
            "what_was_due_in_the_past_is_ready_at_once_and_passes_nobody",
        ],
    },
    "groups": {
        COMMAND: [
            "no_more_items_of_a_group_are_in_work_than_its_limit",
            "a_full_group_does_not_hold_up_others",
            "items_without_a_group_know_no_limit_of_groups",
            "a_group_goes_on_in_its_order_when_it_has_room_again",
            "the_limit_of_groups_can_be_changed_at_any_time",
            "a_lowered_group_limit_holds_back_ready_items",
            "more_full_groups_than_one_call_looks_at_come_in_one_call_after_the_other",
        ]
    },
    "limits": {
        COMMAND: [
            "the_limit_of_the_queue_and_that_of_groups_hold_together",
            "a_queue_that_is_paused_takes_items_and_delivers_none",
            "a_worker_keeps_its_item_when_the_queue_is_paused",
        ]
    },
    "payloads": {WIRE: ["the_answers_to_a_batch_hold_a_mebibyte_of_payload"]},
    "dead": {
        COMMAND: [
            "after_its_last_delivery_an_item_is_dead_with_the_reasons_in_their_order",
            "the_latest_eight_ends_are_remembered",
            "a_dead_letter_shows_what_it_was_and_how_its_payload_begins",
            "a_dead_letter_that_is_replayed_has_all_its_deliveries_and_is_last_in_line",
            "a_dead_letter_can_be_dropped",
            "only_dead_letters_are_replayed_and_dropped_and_they_are_not_cancelled",
            "a_purge_takes_what_waits_and_nothing_else_in_bounded_steps",
            "a_purge_of_dead_letters_takes_them_and_nothing_else_in_bounded_steps",
        ]
    },
    "lists": {
        COMMAND: [
            "ready_items_are_listed_once_those_of_groups_before_the_others",
            "delayed_items_are_listed_as_they_fall_due",
            "items_in_work_are_listed_with_their_workers",
            "dead_letters_are_listed_page_by_page",
            "a_listed_item_shows_what_it_was_and_how_its_payload_begins",
            "a_list_goes_on_where_its_page_ended_whatever_went_before",
            "a_long_list_comes_in_bounded_steps",
            "a_page_reads_no_more_payload_than_a_mebibyte",
            "a_place_that_no_item_has_is_as_good_as_any",
        ]
    },
    "cancel": {
        COMMAND: [
            "what_is_ready_can_be_cancelled",
            "what_is_delayed_can_be_cancelled",
            "cancelling_an_item_in_work_tells_its_worker_and_voids_its_delivery",
            "cancelling_an_item_in_work_makes_room_for_the_next",
            "cancelling_the_first_of_a_group_brings_in_its_next_one",
            "a_cancel_that_spares_work_takes_what_waits_and_nothing_else",
        ]
    },
    "dedup": {
        CLOCK: [
            "a_key_is_refused_for_its_window_and_not_a_moment_longer",
            "a_refused_push_does_not_lengthen_the_window",
        ],
        COMMAND: [
            "a_cancelled_item_can_be_pushed_again_under_its_key",
            "what_was_purged_can_be_pushed_again_under_its_key",
        ],
    },
    "leases": {
        CLOCK: [
            "each_delivery_lasts_as_long_as_its_worker_said",
            "a_worker_that_renews_keeps_its_items",
            "what_a_pop_says_is_valid_runs_down",
            "a_clock_that_jumps_forward_takes_no_item_from_a_worker_that_listens",
            "a_clock_that_jumps_backward_does_not_freeze_recovery",
            "hundreds_of_leases_that_end_at_once_are_ended_a_few_in_each_call",
        ],
        WIRE: [
            "what_is_renewed_and_acknowledged_in_one_call_is_gone",
            "a_late_end_of_a_delivery_is_lost_and_changes_nothing",
            "a_lease_that_nobody_renews_ends_and_its_worker_is_told",
            "a_renewal_tells_which_deliveries_are_lost_and_keeps_the_others",
            "a_renewal_of_a_delivery_takes_it_over",
            "five_hundred_deliveries_are_renewed_in_one_call",
            "what_a_dead_worker_had_counts_for_the_limit_until_it_is_free",
        ],
    },
    "numbers": {
        CLOCK: [
            "numbers_grow_though_the_clock_jumps_back",
            "numbers_grow_over_an_idle_time_in_which_all_was_forgotten",
        ],
        WIRE: [
            "items_of_one_batch_have_numbers_and_fences_of_their_own",
            "a_number_that_a_client_has_seen_is_never_given_again",
        ],
    },
    "workers": {
        WIRE: [
            "a_worker_that_wants_many_is_called_once_for_many",
            "more_items_than_the_called_want_call_the_next",
            "a_worker_that_got_less_than_it_wanted_stands_in_line_for_the_rest",
            "a_worker_that_was_called_and_does_not_come_is_not_waited_for",
            "workers_that_drain_are_called_when_nothing_is_left_and_others_are_not",
        ],
        COMMAND: [
            "nobody_is_called_for_what_cannot_be_delivered",
            "room_in_a_group_calls_a_worker",
            "a_queue_that_is_resumed_calls_workers",
        ],
        CLOCK: ["a_place_ends_when_its_worker_is_not_heard_from"],
    },
    "line": {
        WIRE: [
            "the_first_in_line_is_told_when_to_look_and_nobody_else",
            "nobody_is_told_to_look_when_nothing_can_happen",
            "the_first_in_line_looks_when_a_lease_can_end",
            "a_first_in_line_that_does_not_look_is_followed_by_the_next",
            "the_first_in_line_looks_for_a_called_one_that_does_not_come",
        ]
    },
    "once": {
        WIRE: [
            "a_request_that_arrives_again_is_answered_alike_and_done_once",
            "a_pop_that_arrives_again_is_given_the_same_deliveries",
            "a_pop_that_arrives_again_leaves_out_ended_deliveries",
            "what_reads_is_read_anew_when_it_arrives_again",
            "an_earlier_batch_that_arrives_late_does_nothing",
            "a_batch_that_arrives_after_its_deadline_does_nothing",
            "a_batch_is_not_done_again_after_its_session_was_forgotten",
            "sessions_have_numbers_of_their_own",
            "a_session_has_numbers_of_its_own_at_each_queue",
            "a_batch_has_up_to_sixty_four_requests",
            "a_call_that_is_dropped_half_way_can_be_made_again",
        ]
    },
    "inspect": {
        ROWS: [
            "a_snapshot_tells_a_queue_that_nobody_works_on",
            "a_snapshot_does_not_count_a_worker_that_died",
            "a_snapshot_shows_who_works_on_what",
            "a_snapshot_shows_groups_by_name",
            "a_snapshot_lists_as_many_as_asked_for_and_counts_all",
        ],
        LIST: [
            "looking_at_a_queue_does_not_make_it",
            "the_list_has_every_queue_in_use_that_begins_so",
            "a_listed_queue_is_counted_and_shows_no_rows",
            "a_queue_that_was_used_up_is_forgotten",
        ],
    },
    "ledger": {MODEL: ["a_random_history_is_answered_as_the_ledger_answers_it"]},
}
