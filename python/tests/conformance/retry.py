"""Releases that come late."""

from __future__ import annotations

import pytest

import seinpaal

from .stage import Stage


def a_late_release_does_not_free_the_next_permit_of_its_client(stage: Stage) -> None:
    client = stage.client()
    first = client.take()
    client.release(first)
    second = client.take()
    with pytest.raises(seinpaal.NotHeld):
        client.release(first)
    assert client.holders == [second.ticket]


def a_release_after_the_end_does_not_free_the_permit_of_another(stage: Stage) -> None:
    slow, other = stage.client(), stage.client()
    before = slow.take()
    other.semaphore().evict(before.ticket)
    after = other.take()
    with pytest.raises(seinpaal.NotHeld):
        slow.release(before)
    assert other.holders == [after.ticket]
