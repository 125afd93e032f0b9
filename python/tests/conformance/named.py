"""Slots that have names."""

from __future__ import annotations

import pytest

from seinpaal import errors

from .stage import SOON, Client, Stage

THREE = ["GPU-0", "GPU-1", "board b"]


def named(stage: Stage) -> Client:
    """A client of a name with three slots that have names."""
    client = stage.client()
    client.semaphore().name_slots(THREE)
    return client


def a_holder_is_told_the_names_of_its_slots(stage: Stage) -> None:
    client, following = named(stage), stage.client()
    two = client.take(permits=2)
    assert (two.slot_name, two.slot_names, two.limit) == ("GPU-0", ("GPU-0", "GPU-1"), 3)
    third = client.take(slot_names="board b")
    assert third.slot_names == ("board b",)
    waits = following.queue()
    client.release(two)
    assert waits.result(SOON).slot_name == "GPU-0"
    assert client.look().slot_names == THREE


def a_request_waits_for_the_slot_it_names_and_holds_up_nobody_else(stage: Stage) -> None:
    client, following = named(stage), stage.client()
    first = client.take(slot_names=["board b"])
    waits = following.queue(slot_names=["board b"])
    others = [client.take() for _ in range(2)]
    assert [other.slot_name for other in others] == ["GPU-0", "GPU-1"]
    assert not waits.done()
    client.release(first)
    assert waits.result(SOON).slot_name == "board b"


def a_slot_that_somebody_waits_for_goes_to_nobody_later(stage: Stage) -> None:
    client, following = named(stage), stage.client()
    held = [client.take() for _ in THREE]
    waits = following.queue(permits=2, slot_names=["GPU-0", "board b"])
    client.release(held[0])
    assert client.attempt() is None
    client.release(held[1])
    other = client.take()
    assert other.slot_name == "GPU-1"
    client.release(held[2])
    assert waits.result(SOON).slot_names == ("GPU-0", "board b")


def a_wish_for_a_name_that_no_slot_has_is_refused(stage: Stage) -> None:
    client = stage.limited(2)
    with pytest.raises(errors.NoSuchSlot):
        client.attempt(slot_names="0")
    client.semaphore().name_slots(THREE)
    with pytest.raises(errors.NoSuchSlot, match="GPU-0"):
        client.attempt(slot_names="GPU-9")
    assert client.holders == []


def names_are_only_added_at_the_end_while_somebody_goes_by_them(stage: Stage) -> None:
    client = stage.client()
    of = client.semaphore()
    of.name_slots(["a", "b"])
    both = client.take(permits=2)
    for names in (["b", "a"], ["a"]):
        with pytest.raises(errors.SlotsInUse, match="a, b"):
            of.name_slots(names)
    with pytest.raises(errors.SlotsInUse):
        of.set_limit(2)
    with pytest.raises(errors.SlotsInUse):
        of.unset_limit()
    of.name_slots(["a", "b", "c"])
    third = client.take()
    assert third.slot_name == "c"
    client.release(both)
    client.release(third)
    of.name_slots(["b", "a"])
    of.set_limit(4)
    assert client.look().slot_names == []
