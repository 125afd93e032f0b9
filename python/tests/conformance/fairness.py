"""First come, first served."""

from __future__ import annotations

import asyncio

from .faces import Loop
from .stage import SOON, Stage


def waiters_are_served_in_the_order_of_their_requests(stage: Stage) -> None:
    holder, waiter = stage.client(), stage.client()
    held = holder.take()
    line = [waiter.queue() for _ in range(5)]
    holder.release(held)
    for place, asked in enumerate(line, 1):
        permit = asked.result(SOON)
        assert not any(later.done() for later in line[place:])
        waiter.release(permit)


def a_newcomer_does_not_pass_a_waiter(stage: Stage) -> None:
    client = stage.limited(3)
    held = client.take(permits=2)
    client.queue(permits=3)
    assert client.attempt() is None
    assert held.is_held


def a_large_request_at_the_head_is_not_passed_by_small_ones(stage: Stage) -> None:
    client = stage.limited(3)
    a = client.take()
    large = client.queue(permits=3)
    small = [client.queue(), client.queue()]
    assert client.holders == [a.ticket]
    client.release(a)
    b = large.result(SOON)
    assert client.holders == [b.ticket]
    client.release(b)
    assert client.holders == [asked.result(SOON).ticket for asked in small]


def higher_priority_comes_first(stage: Stage) -> None:
    client = stage.client()
    held = client.take()
    low, middle, high = [client.queue(priority=priority) for priority in (-100, 0, 100)]
    order = client.waiters
    client.release(held)
    for place, asked in enumerate((high, middle, low)):
        permit = asked.result(SOON)
        assert permit.ticket == order[place]
        client.release(permit)


MANY = 10_000


def ten_thousand_waiters_at_one_name_are_served_in_order(stage: Stage) -> None:
    client = stage.limited(0)
    assert isinstance(stage.face, Loop)
    # With a timeout for the waiter, so that a test that fails does not hang.
    turnstile = client.semaphore()

    async def all_wait() -> list[int]:
        waiting = [asyncio.ensure_future(turnstile.acquire_async(timeout=SOON)) for _ in range(MANY)]
        while turnstile.snapshot().waiting_total < MANY:
            await asyncio.sleep(0.05)
        turnstile.set_limit(MANY)
        return [permit.fence for permit in await asyncio.gather(*waiting)]

    fences = stage.face.on_loop(all_wait)
    assert fences == sorted(fences) and len(set(fences)) == MANY
