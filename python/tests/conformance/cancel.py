"""Requests that are given up: tasks that are cancelled."""

from __future__ import annotations

import asyncio

import pytest
from conftest import until

from .faces import Loop
from .stage import SOON, Stage


def a_waiter_that_cancels_is_never_granted(stage: Stage) -> None:
    client = stage.client()
    held, asked = client.take(), client.queue()
    asked.cancel()
    until(lambda: not client.waiters)
    client.release(held)
    assert client.holders == []


def a_cancel_that_comes_after_the_grant_gives_the_permit_back(stage: Stage) -> None:
    client, behind = stage.client(), stage.client()
    held = client.take()
    assert isinstance(stage.face, Loop)

    async def grants_and_cancels() -> None:
        fickle = asyncio.ensure_future(client.semaphore().acquire_async())
        while not client.waiters:
            await asyncio.sleep(0)
        asked = asyncio.ensure_future(behind.semaphore().acquire_async())
        while len(client.waiters) < 2:
            await asyncio.sleep(0)
        first = client.waiters[0]
        # The loop is blocked from here to the cancellation, so the task cannot learn of its grant.
        held.release()
        until(lambda: client.holders == [first])
        fickle.cancel()
        with pytest.raises(asyncio.CancelledError):
            await fickle
        await (await asyncio.wait_for(asked, SOON)).release_async()

    stage.face.on_loop(grants_and_cancels)
    assert client.holders == []


def a_cancel_that_races_a_grant_leaves_nothing_behind(stage: Stage) -> None:
    holder, fickle, behind = stage.client(), stage.client(), stage.client()
    for _ in range(20):
        held = holder.take()
        given_up, asked = fickle.queue(), behind.queue()
        releasing = stage.face.begin(held.release, held.release_async)
        given_up.cancel()
        releasing.result(SOON)
        if not given_up.cancelled():
            given_up.result(SOON).release()
        behind.release(asked.result(SOON))
    until(lambda: holder.look().permits_held == 0)


def cancelling_the_large_request_at_the_head_lets_the_small_ones_in(stage: Stage) -> None:
    client = stage.limited(3)
    a = client.take()
    large = client.queue(permits=3)
    small = [client.queue(), client.queue()]
    large.cancel()
    tickets = [asked.result(SOON).ticket for asked in small]
    assert client.holders == [a.ticket, *tickets]


def a_request_and_its_cancel_in_one_call_leave_nothing(stage: Stage) -> None:
    client = stage.limited(2)
    assert isinstance(stage.face, Loop)

    async def asks_and_cancels() -> None:
        asked = asyncio.ensure_future(client.semaphore().acquire_async(permits=2))
        await asyncio.sleep(0)
        asked.cancel()
        await asyncio.wait([asked])
        if not asked.cancelled():
            await asked.result().release_async()

    stage.face.on_loop(asks_and_cancels)
    until(lambda: (client.look().permits_held, client.look().waiting_total) == (0, 0))
