"""The slots of holders."""

from __future__ import annotations

from .stage import SOON, Stage


def the_lowest_free_slots_are_given_first(stage: Stage) -> None:
    client = stage.limited(6)
    a, b, c = client.take(permits=2), client.take(), client.take(permits=2)
    assert (a.slots, b.slots, c.slots) == ((0, 1), (2,), (3, 4))
    client.release(a)
    d, e = client.take(), client.take(permits=2)
    assert (d.slots, e.slots) == ((0,), (1, 5))


def slots_stay_below_a_limit_that_was_lowered(stage: Stage) -> None:
    client = stage.limited(4)
    a, b = client.take(permits=3), client.take()
    client.semaphore().set_limit(2)
    client.release(a)
    assert client.take().slots == (0,)
    assert b.is_held


def slots_begin_at_zero_again_when_everybody_has_left(stage: Stage) -> None:
    client = stage.limited(5)
    a, b = client.take(), client.take(permits=3)
    client.release(a)
    client.release(b)
    assert client.take(permits=5).slots == (0, 1, 2, 3, 4)


def ten_thousand_permits_are_had_in_one_request(stage: Stage) -> None:
    client = stage.limited(10_000)
    a = client.take(permits=10_000)
    assert (a.permits, a.slots) == (10_000, tuple(range(1024)))
    asked = client.queue()
    client.release(a)
    assert client.holders == [asked.result(SOON).ticket]
