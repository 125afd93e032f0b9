"""Names that are paused."""

from __future__ import annotations

from .stage import SOON, Stage


def a_holder_keeps_its_permit_when_the_name_is_paused(stage: Stage) -> None:
    client = stage.limited(2)
    permit = client.take()
    client.semaphore().pause("repairs")
    assert permit.is_held and client.holders == [permit.ticket]
    client.release(permit)


def nobody_is_admitted_to_a_name_that_is_paused(stage: Stage) -> None:
    client = stage.limited(2)
    held = client.take()
    client.semaphore().pause("repairs")
    client.queue()
    assert client.attempt() is None
    client.release(held)
    assert (client.holders, len(client.waiters)) == ([], 1)


def resuming_serves_the_queue_in_order(stage: Stage) -> None:
    client, waiter = stage.limited(2), stage.client()
    client.semaphore().pause("repairs")
    first, second, third = [waiter.queue() for _ in range(3)]
    client.semaphore().resume()
    assert first.result(SOON).fence < second.result(SOON).fence
    assert not third.done() and len(client.waiters) == 1


def the_reason_is_shown_and_stays_when_nobody_is_here(stage: Stage) -> None:
    client = stage.client()
    client.semaphore().pause("Ümbau {7}")
    assert stage.client().look().paused == "Ümbau {7}"
    client.semaphore().resume()
    assert client.look().paused is None
