"""Limits that callers state, and limits that operators set."""

from __future__ import annotations

import pytest

from seinpaal import errors

from .stage import SOON, Stage


def the_limit_is_one_until_somebody_says_otherwise(stage: Stage) -> None:
    client = stage.client()
    kept = client.take()
    assert kept.limit == 1
    client.queue()


def the_limit_that_the_first_states_holds_for_all(stage: Stage) -> None:
    first, second = stage.client(), stage.client()
    kept = first.take(first.semaphore(3))
    assert second.take().limit == 3
    assert kept.is_held


def a_request_that_states_another_limit_is_told_both_numbers(stage: Stage) -> None:
    client = stage.client()
    kept = client.take(client.semaphore(3))
    with pytest.raises(errors.OtherLimit) as refused:
        client.attempt(client.semaphore(5))
    assert (refused.value.stored, refused.value.stated) == (3, 5)
    assert kept.is_held


def an_implied_limit_counts_like_a_stated_one_while_anybody_holds(stage: Stage) -> None:
    client = stage.client()
    kept = client.take()
    with pytest.raises(errors.OtherLimit) as refused:
        client.attempt(client.semaphore(5))
    assert (refused.value.stored, refused.value.stated) == (1, 5)
    assert kept.is_held


def what_is_stated_goes_with_the_last_holder_at_once(stage: Stage) -> None:
    client = stage.client()
    client.release(client.take(client.semaphore(5)))
    assert client.take(client.semaphore(1)).limit == 1


def a_pinned_limit_is_adopted_unless_exactly_another_is_wanted(stage: Stage) -> None:
    client = stage.limited(2)
    kept = client.take(client.semaphore(3))
    assert kept.limit == 2
    with pytest.raises(errors.OtherLimit) as refused:
        client.attempt(client.semaphore(3, exactly=True))
    assert (refused.value.stored, refused.value.stated) == (2, 3)
    assert client.look().limit == 2


def a_limit_that_is_unset_is_let_go_at_once_and_the_queue_is_served(stage: Stage) -> None:
    operator, waiter = stage.limited(0), stage.client()
    asked = waiter.queue()
    operator.semaphore().unset_limit()
    assert asked.result(SOON).limit == 1


def more_permits_than_exist_are_refused_and_never_queued(stage: Stage) -> None:
    client = stage.limited(3)
    with pytest.raises(errors.TooMany) as refused:
        client.ask(permits=4).result(SOON)
    assert (refused.value.permits, refused.value.limit) == (4, 3)
    assert client.waiters == []


def a_limit_below_the_held_permits_evicts_nobody_and_admits_nobody(stage: Stage) -> None:
    client = stage.limited(3)
    a, b, c = client.take(), client.take(), client.take()
    asked = client.queue()
    client.semaphore().set_limit(1)
    assert client.holders == [a.ticket, b.ticket, c.ticket]
    client.release(a)
    client.release(b)
    assert client.holders == [c.ticket]
    client.release(c)
    assert client.holders == [asked.result(SOON).ticket]


def raising_the_limit_serves_the_queue(stage: Stage) -> None:
    client, waiter = stage.client(), stage.client()
    held = client.take()
    first, second, third = [waiter.queue() for _ in range(3)]
    client.semaphore().set_limit(3)
    assert first.result(SOON).fence < second.result(SOON).fence
    assert not third.done() and len(client.waiters) == 1
    assert held.is_held


def a_limit_of_zero_admits_nobody_and_keeps_the_waiters(stage: Stage) -> None:
    client = stage.limited(0)
    large, small = client.queue(permits=2), client.queue()
    client.semaphore().set_limit(3)
    assert client.holders == [large.result(SOON).ticket, small.result(SOON).ticket]


def a_waiter_that_can_never_be_served_any_more_is_told(stage: Stage) -> None:
    client, waiter = stage.limited(3), stage.client()
    held = client.take()
    asked = waiter.queue(permits=3)
    client.semaphore().set_limit(2)
    with pytest.raises(errors.Ended, match="lowered below"):
        asked.result(SOON)
    assert held.is_held


def a_limit_set_on_purpose_stays_when_nobody_is_here(stage: Stage) -> None:
    client = stage.limited(7)
    client.release(client.take())
    client.connection.close()
    assert stage.client().look().limit == 7


def a_limit_that_is_let_go_is_forgotten_with_the_name(stage: Stage) -> None:
    client = stage.limited(7)
    client.semaphore().unset_limit()
    assert client.look().limit == 1


def only_as_many_wait_as_the_caller_allows(stage: Stage) -> None:
    client = stage.client()
    held = client.take()
    client.queue()
    with pytest.raises(errors.TooManyWaiting):
        client.ask(max_waiting=1).result(SOON)
    assert held.is_held
