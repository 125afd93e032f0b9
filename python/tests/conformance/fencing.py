"""Numbers of grants."""

from __future__ import annotations

from conftest import until

from .stage import SOON, Stage


def every_grant_has_a_greater_fence_than_all_before(stage: Stage) -> None:
    client, last = stage.limited(2), 0
    for _ in range(10):
        permit = client.take()
        assert permit.fence > last
        last = permit.fence
        client.release(permit)


def grants_made_in_one_step_have_fences_of_their_own(stage: Stage) -> None:
    client = stage.limited(3)
    held = client.take(permits=3)
    line = [client.queue() for _ in range(3)]
    client.release(held)
    fences = [asked.result(SOON).fence for asked in line]
    assert fences[0] < fences[1] < fences[2]


def fences_grow_over_the_end_of_a_lease(stage: Stage) -> None:
    client = stage.client()
    before = client.take(ttl=0.1)
    before.detach()
    until(lambda: not client.holders)
    assert client.take().fence > before.fence


def within_a_slot_fences_grow(stage: Stage) -> None:
    client = stage.limited(2)
    first, other = client.take(), client.take()
    client.release(first)
    second = client.take()
    assert first.slots == second.slots != other.slots
    assert second.fence > first.fence
