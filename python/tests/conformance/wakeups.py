"""The wakeups that each client gets."""

from __future__ import annotations

import pytest
from conftest import until

import seinpaal
from seinpaal import errors

from .stage import SOON, Stage


def a_release_wakes_the_winner_and_nobody_else(stage: Stage) -> None:
    holder, second, third = stage.client(), stage.client(), stage.client()
    held = holder.take()
    b, c = second.queue(), third.queue()
    holder.release(held)
    permit = b.result(SOON)
    assert not c.done()
    second.release(permit)
    c.result(SOON)


def a_client_hears_of_its_own_other_tickets(stage: Stage) -> None:
    client = stage.client()
    held, asked = client.take(), client.queue()
    client.release(held)
    asked.result(SOON)


def a_holder_that_is_evicted_is_told(stage: Stage) -> None:
    holder, waiter = stage.client(), stage.client()
    held, asked = holder.take(), waiter.queue()
    waiter.semaphore().evict(held.ticket)
    until(lambda: held.lost is not None)
    assert str(held.lost) == f"{stage.name}: somebody evicted it"
    asked.result(SOON)
    with pytest.raises(seinpaal.NotHeld):
        holder.release(held)


def a_waiter_that_is_evicted_is_told(stage: Stage) -> None:
    holder, waiter = stage.client(), stage.client()
    held, asked = holder.take(), waiter.queue()
    holder.semaphore().evict(holder.waiters[0])
    with pytest.raises(errors.Ended):
        asked.result(SOON)
    assert held.is_held


def a_ticket_that_is_not_here_cannot_be_evicted(stage: Stage) -> None:
    client = stage.client()
    permit = client.take()
    client.release(permit)
    with pytest.raises(errors.NoSuchTicket):
        client.connection.semaphore(f"{stage.name} other").evict(permit.ticket)


def a_hundred_grants_in_one_step_are_all_told(stage: Stage) -> None:
    holder, waiter = stage.limited(100), stage.client()
    held = holder.take(permits=100)
    line = [waiter.ask() for _ in range(100)]
    until(lambda: holder.look().waiting_total == 100)
    holder.release(held)
    permits = [asked.result(SOON) for asked in line]
    assert len({permit.slot for permit in permits}) == 100
