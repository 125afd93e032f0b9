"""Numbers that are outside their range, or none: refused in the same way everywhere.

Python's whole numbers are of any size, and a truth value is one. Nothing is written before the
refusal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import seinpaal
from seinpaal import errors

Call = Callable[[seinpaal.Seinpaal, str, Any], object]

#: Every argument that is a whole number, except those of queues.
OF_LOCKS: dict[str, Call] = {
    "limit": lambda store, name, n: store.semaphore(name, n).acquire(),
    "exact limit": lambda store, name, n: store.semaphore(name, n, exactly=True).try_acquire(),
    "set_limit": lambda store, name, n: store.semaphore(name).set_limit(n),
    "permits": lambda store, name, n: store.semaphore(name).acquire(permits=n),
    "permits of a try": lambda store, name, n: store.semaphore(name).try_acquire(permits=n),
    "permits of several": lambda store, name, n: store.acquire_all(
        store.semaphore(name).holding(permits=n)
    ),
    "permits of a reader": lambda store, name, n: store.rwlock(name).read.acquire(permits=n),
    "priority": lambda store, name, n: store.mutex(name).acquire(priority=n),
    "priority of a try": lambda store, name, n: store.mutex(name).try_acquire(priority=n),
    "max_waiting": lambda store, name, n: store.mutex(name).acquire(max_waiting=n),
}
#: Every argument of queues that is a whole number.
OF_QUEUES: dict[str, Call] = {
    "limit of a queue": lambda store, name, n: store.queue(name).set_limit(n),
    "priority of an item": lambda store, name, n: store.queue(name).push("x", priority=n),
    "deliveries": lambda store, name, n: store.queue(name).push("x", deliveries=n),
    "concurrency": lambda store, name, n: store.queue(name).worker(print, concurrency=n),
}
#: The arguments of queues that are no counts of items in work.
SETTINGS = {"deliveries", "concurrency"}
#: Numbers that every argument refuses. -1 is not among them, because it is a priority.
BAD = [-(2**31), -(2**31) - 1, -(2**63) - 1, -(10**400)]
LARGE = [2**32, 2**63, 10**400]


def refuses(call: Callable[[Any], object], bad: list[int], error: type[Exception]) -> None:
    for number in bad:
        with pytest.raises(error) as refused:
            call(number)
        assert type(refused.value) is error
    for wrong in (1.0, "1", b"1"):
        with pytest.raises(TypeError):
            call(wrong)


@pytest.mark.parametrize("argument", OF_LOCKS)
def test_a_number_outside_its_range_is_bad_input(
    store: seinpaal.Seinpaal, name: str, argument: str
) -> None:
    refuses(lambda number: OF_LOCKS[argument](store, name, number), BAD + LARGE, errors.BadCount)
    seen = store.semaphore(name).snapshot()
    assert (seen.holders_total, seen.waiting_total, seen.limit) == (0, 0, 1)


@pytest.mark.needs("KeepsQueues")
@pytest.mark.parametrize("argument", OF_QUEUES)
def test_a_number_outside_its_range_is_bad_input_for_a_queue(
    store: seinpaal.Seinpaal, name: str, argument: str
) -> None:
    bad = BAD if argument == "concurrency" else BAD + LARGE
    error = errors.BadSetting if argument in SETTINGS else errors.BadCount
    refuses(lambda number: OF_QUEUES[argument](store, name, number), bad, error)
    seen = store.queue(name).snapshot()
    assert (seen.ready, seen.delayed, seen.limit) == (0, 0, None)


@pytest.mark.parametrize("number", [-1, 1_000_000_001, 2**32, 2**64])
def test_the_words_about_a_bad_number_are_the_same_however_large_it_is(
    store: seinpaal.Seinpaal, name: str, number: int
) -> None:
    shown = f"{number:#x}" if number > 2**63 else str(number)
    with pytest.raises(errors.BadCount, match=f"^a limit is 0 to 1000000000, not {shown}$"):
        store.semaphore(name, number).acquire()
    with pytest.raises(errors.BadCount, match=f"^a request is for 1 to .* permits, not {shown}$"):
        store.semaphore(name).acquire(permits=number)


@pytest.mark.needs("KeepsQueues")
def test_a_limit_of_a_queue_that_is_too_large_for_the_crate_is_bad_input_too(
    store: seinpaal.Seinpaal, name: str
) -> None:
    for number in (-1, 1_000_000_001, 2**32 - 1):
        with pytest.raises(errors.BadCount):
            store.queue(name).set_limit(number)
    assert store.queue(name).snapshot().limit is None


@pytest.mark.needs("KeepsQueues")
def test_a_number_is_no_payload(store: seinpaal.Seinpaal, name: str) -> None:
    """`bytes(3)` would be three zeros."""
    payload: Any
    for payload in (3, True, [1, 2], 1.5, None):
        with pytest.raises(TypeError):
            store.queue(name).push(payload)
    assert store.queue(name).snapshot().ready == 0
    for payload in (bytearray(b"x"), memoryview(b"x")):
        store.queue(name).push(payload)
        with store.queue(name).pop() as item:
            assert item.payload == b"x"


def test_a_truth_value_is_a_number_as_everywhere_in_python(
    store: seinpaal.Seinpaal, name: str
) -> None:
    with store.semaphore(name, True) as permit:
        assert (permit.permits, permit.limit) == (1, 1)


def test_a_time_that_no_float_can_hold_is_bad_input(store: seinpaal.Seinpaal, name: str) -> None:
    for time in (10**400, -(10**400), -1, float("nan"), float("inf")):
        with pytest.raises(errors.BadSetting):
            store.mutex(name).acquire(timeout=time)
        with pytest.raises(errors.BadSetting):
            store.mutex(name).acquire(ttl=time)
    assert store.mutex(name).snapshot().waiting_total == 0


def test_no_text_of_an_error_has_words_of_another_language(
    store: seinpaal.Seinpaal, name: str
) -> None:
    semaphore = store.semaphore(name)
    semaphore.set_limit(2)
    with pytest.raises(errors.OtherLimit) as other:
        store.semaphore(name, 3, exactly=True).acquire()
    semaphore.unset_limit()
    for word in ("Exact", "`", "::", "Some(", "None"):
        assert word not in str(other.value)


def test_only_a_writers_permit_is_downgraded(store: seinpaal.Seinpaal, name: str) -> None:
    million = store.semaphore(name, 1_000_000).acquire(permits=1_000_000)
    with pytest.raises(errors.NotAWriter):
        million.downgrade()
    reader = store.rwlock(f"{name} too").read.acquire()
    with pytest.raises(errors.NotAWriter):
        reader.downgrade()
