"""A person asks a holder to hand over."""

from __future__ import annotations

import pytest

import seinpaal
from seinpaal import errors

from .stage import SOON, Client, Stage


def ask(client: Client, ticket: str, by: str) -> None:
    """Asks for a ticket."""
    of, reason = client.semaphore(), "a release is due"
    client.begin(
        lambda: of.ask_holder(ticket, reason, by=by),
        lambda: of.ask_holder_async(ticket, reason, by=by),
    ).result(SOON)


def told(client: Client, permit: seinpaal.Permit) -> seinpaal.HandOverAsk:
    """The next ask that a holder hears."""
    ask = client.begin(permit.asked, permit.asked_async).result(SOON)
    assert ask is not None
    return ask


def a_holder_that_is_asked_is_told_and_holds_on(stage: Stage) -> None:
    holder, other = stage.client(), stage.client()
    permit = holder.take()
    ask(other, permit.ticket, "eve")
    assert told(holder, permit) == seinpaal.HandOverAsk("eve", "a release is due")
    assert permit.is_held and holder.holders == [permit.ticket]
    holder.release(permit)


def only_a_ticket_that_holds_can_be_asked_for(stage: Stage) -> None:
    holder, waiter = stage.client(), stage.client()
    permit = holder.take()
    waits = waiter.queue()
    with pytest.raises(errors.Waits):
        ask(holder, holder.waiters[0], "eve")
    with pytest.raises(errors.NoSuchTicket):
        ask(holder, "0" * 31 + "7", "eve")
    holder.semaphore().evict(permit.ticket)
    with pytest.raises(errors.Ended):
        ask(holder, permit.ticket, "eve")
    waiter.release(waits.result(SOON))


def people_see_what_was_asked_until_the_grant_ends(stage: Stage) -> None:
    holder = stage.client()
    permit = holder.take()
    for by in ["eve", "bob", "eve"]:
        ask(holder, permit.ticket, by)
    asks = holder.look().asks
    assert list(asks) == [permit.ticket]
    assert [one.by for one in asks[permit.ticket]] == ["eve", "bob"]
    holder.release(permit)
    holder.take()
    assert holder.look().asks == {}
