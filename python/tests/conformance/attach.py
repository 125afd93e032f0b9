"""Permits that change hands."""

from __future__ import annotations

import pytest
from conftest import until

import seinpaal

from .stage import Stage


def attaching_is_a_grant_with_a_fence_of_its_own_and_ends_the_one_before(stage: Stage) -> None:
    giver, taker = stage.limited(3), stage.client()
    before, other = giver.take(permits=2), giver.take()
    after = taker.semaphore().attach(before.ticket)
    assert after.fence > before.fence
    assert (after.slots, after.limit) == (before.slots, 3)
    until(lambda: before.lost is not None)
    assert other.is_held
    giver.semaphore().evict(after.ticket)
    until(lambda: after.lost is not None)
    assert "evicted" in str(after.lost)


def nothing_that_an_old_holder_sends_frees_or_keeps_the_permit_of_the_new_one(
    stage: Stage,
) -> None:
    giver, taker = stage.client(), stage.client()
    before = giver.take()
    after = taker.semaphore().attach(before.ticket)
    with pytest.raises(seinpaal.NotHeld):
        giver.release(before)
    with pytest.raises(seinpaal.Error):
        before.detach()
    assert after.is_held and taker.holders == [after.ticket]
    taker.release(after)


def of_two_that_attach_the_later_has_it_and_a_late_copy_takes_nothing_back(stage: Stage) -> None:
    giver, first, second = stage.client(), stage.client(), stage.client()
    ticket = giver.take().detach()
    early = first.semaphore().attach(ticket)
    late = second.semaphore().attach(ticket)
    until(lambda: early.lost is not None)
    with pytest.raises(seinpaal.NotHeld):
        first.release(early)
    assert late.is_held and late.fence > early.fence


def a_detached_permit_outlives_its_client_and_is_taken_up_by_attaching(stage: Stage) -> None:
    giver, taker = stage.client(), stage.client()
    before = giver.take()
    ticket = before.detach()
    giver.connection.close()
    assert taker.holders == [ticket]
    assert taker.semaphore().attach(ticket).fence > before.fence
