"""Permits of threads: semaphores, mutexes, readers-writer locks."""

from __future__ import annotations

import gc
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from conftest import until

import seinpaal
from seinpaal import errors


def test_at_most_the_limit_is_held(store: seinpaal.Seinpaal, name: str) -> None:
    gpus = store.semaphore(name, 2)
    one, two = gpus.acquire(), gpus.acquire()
    assert {one.slot, two.slot} == {0, 1}
    assert one.fence < two.fence
    assert gpus.try_acquire() is None
    one.release()
    three = gpus.try_acquire()
    assert three is not None
    assert (three.slot, three.limit, three.permits, three.name) == (0, 2, 1, name)
    assert three.fence > two.fence
    assert three.ticket in gpus.snapshot().holders


def test_a_block_holds_a_permit_and_gives_it_back(store: seinpaal.Seinpaal, name: str) -> None:
    nightly = store.mutex(name)
    with nightly as permit:
        assert permit.is_held and permit.lost is None
        assert nightly.try_acquire() is None
    assert not permit.is_held
    assert nightly.snapshot().holders_total == 0


def test_a_block_that_raises_gives_its_permit_back(store: seinpaal.Seinpaal, name: str) -> None:
    nightly = store.mutex(name)
    with pytest.raises(KeyError), nightly:
        raise KeyError("mine")
    assert nightly.snapshot().holders_total == 0


def test_a_permit_released_inside_its_block_is_released_once(
    store: seinpaal.Seinpaal, name: str
) -> None:
    with store.mutex(name) as permit:
        permit.release()
        with store.mutex(name):
            pass
    with pytest.raises(seinpaal.NotHeld):
        permit.release()


def test_blocks_of_one_lock_nest_if_there_are_permits(store: seinpaal.Seinpaal, name: str) -> None:
    gpus = store.semaphore(name, 2)
    with gpus as outer, gpus as inner:
        assert outer.slot != inner.slot
    assert gpus.snapshot().permits_held == 0


def on_a_thread(work: Callable[[], object]) -> None:
    """Runs a function on a thread of its own, and raises its error."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


def test_the_only_block_that_is_open_can_be_left_on_another_thread(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)

    def dependency() -> Iterator[seinpaal.Permit]:
        """A dependency as in FastAPI: each part may run on another thread of a pool."""
        with nightly as permit:
            yield permit

    for _ in range(2):
        parts = dependency()
        on_a_thread(lambda: next(parts))
        on_a_thread(lambda: next(parts, None))
        assert nightly.snapshot().holders_total == 0


def test_a_block_left_on_another_thread_ends_no_permit_if_it_could_be_any_of_several(
    store: seinpaal.Seinpaal, name: str
) -> None:
    gpus = store.semaphore(name, 2)
    with ThreadPoolExecutor(1) as pool:
        theirs, mine = pool.submit(gpus.__enter__).result(), gpus.__enter__()
        with pytest.raises(errors.ReleaseError, match="any of 2.*lock.acquire"):
            on_a_thread(lambda: gpus.__exit__(None, None, None))
        assert theirs.is_held and mine.is_held
        gpus.__exit__(None, None, None)
        assert theirs.is_held and not mine.is_held
        pool.submit(gpus.__exit__, None, None, None).result()
    assert gpus.snapshot().permits_held == 0


def test_a_block_of_an_acquired_permit_can_be_left_on_any_thread(
    store: seinpaal.Seinpaal, name: str
) -> None:
    gpus = store.semaphore(name, 2)

    def dependency() -> Iterator[seinpaal.Permit]:
        with gpus.acquire() as permit:
            yield permit

    one, two = dependency(), dependency()
    kept, given_back = next(one), next(two)
    on_a_thread(lambda: next(two, None))
    assert kept.is_held and not given_back.is_held
    on_a_thread(lambda: next(one, None))
    assert gpus.snapshot().permits_held == 0


def test_a_permit_that_nobody_has_any_more_goes_back(store: seinpaal.Seinpaal, name: str) -> None:
    nightly = store.mutex(name)
    permit: seinpaal.Permit | None = nightly.acquire()
    assert permit is not None
    permit.on_lost(print)
    permit = None
    gc.collect()
    nightly.acquire().release()


def test_a_wait_ends_with_its_timeout(store: seinpaal.Seinpaal, name: str) -> None:
    nightly = store.mutex(name)
    with nightly:
        with pytest.raises(seinpaal.TimedOut, match="timed out waiting"):
            nightly.acquire(timeout=1)
        with pytest.raises(TimeoutError):
            nightly.acquire(timeout=timedelta(seconds=1))
        assert nightly.snapshot().waiting_total == 0


def test_a_wait_holds_up_no_other_thread(store: seinpaal.Seinpaal, name: str) -> None:
    nightly = store.mutex(name)
    got: list[seinpaal.Permit] = []
    held = nightly.acquire()
    waiter = threading.Thread(target=lambda: got.append(nightly.acquire()))
    waiter.start()
    until(lambda: nightly.snapshot().waiting_total == 1)
    held.release()
    waiter.join()
    assert got[0].is_held and got[0].fence > held.fence


def test_a_writer_is_alone_and_becomes_a_reader(store: seinpaal.Seinpaal, name: str) -> None:
    catalogue = store.rwlock(name)
    with catalogue.read, catalogue.read:
        assert catalogue.write.try_acquire() is None
    writer = catalogue.write.acquire()
    assert catalogue.read.try_acquire() is None
    reader = writer.downgrade()
    with catalogue.read:
        assert reader.is_held and not writer.is_held


def test_several_names_are_had_together_or_not_at_all(store: seinpaal.Seinpaal, name: str) -> None:
    gpus, disk = store.semaphore(f"{name} gpus", 4), store.mutex(f"{name} disk")
    with store.acquire_all(gpus.holding(permits=2), disk, timeout=10) as both:
        assert [permit.permits for permit in both] == [2, 1]
        assert both[0].slots == (0, 1)
        assert store.try_acquire_all(gpus, disk) is None
        assert gpus.snapshot().permits_held == 2
    assert gpus.snapshot().permits_held == disk.snapshot().permits_held == 0


def test_one_name_twice_in_one_request_is_refused(store: seinpaal.Seinpaal, name: str) -> None:
    with pytest.raises(errors.NamedTwice, match=name):
        store.acquire_all(store.mutex(name), store.mutex(name))


def test_a_decorated_function_holds_a_permit_while_it_runs(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)

    @nightly
    def report(day: str) -> str:
        """Its own words."""
        assert nightly.try_acquire() is None
        return f"report of {day}"

    @nightly.holding(timeout=5)
    def other() -> int:
        return nightly.snapshot().holders_total

    assert report("Monday") == "report of Monday"
    assert report.__doc__ == "Its own words."
    assert other() == 1
    assert nightly.snapshot().holders_total == 0


def test_a_generator_function_cannot_be_decorated(name: str) -> None:
    nightly = seinpaal.connect("memory:", lazy=True).mutex(name)

    def rows() -> Iterator[int]:
        yield 1

    async def async_rows() -> AsyncIterator[int]:
        yield 1

    for function in (rows, async_rows):
        with pytest.raises(TypeError, match="generator"):
            nightly(function)


def test_a_request_does_not_queue_behind_too_many(store: seinpaal.Seinpaal, name: str) -> None:
    nightly = store.mutex(name)
    with nightly, pytest.raises(seinpaal.Busy):
        nightly.acquire(max_waiting=0)


def test_closing_ends_every_wait(url: str, name: str) -> None:
    store = seinpaal.connect(url)
    nightly = store.mutex(name)
    held = nightly.acquire()
    ends: list[Exception] = []

    def wait() -> None:
        try:
            nightly.acquire()
        except Exception as error:
            ends.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    until(lambda: nightly.snapshot().waiting_total == 1)
    store.close()
    waiter.join()
    assert isinstance(ends[0], seinpaal.Closed)
    assert not held.is_held
    with pytest.raises(seinpaal.Closed):
        nightly.acquire()


def test_an_operator_sets_the_limit_and_pauses(store: seinpaal.Seinpaal, name: str) -> None:
    gpus = store.semaphore(name, 1)
    gpus.set_limit(2)
    with gpus, gpus:
        assert gpus.snapshot().limit == 2
    with pytest.raises(errors.OtherLimit):
        store.semaphore(name, 1, exactly=True).acquire()
    gpus.unset_limit()
    gpus.pause("driver update")
    assert gpus.try_acquire() is None
    assert gpus.snapshot().paused == "driver update"
    gpus.resume()
    gpus.acquire().release()


def test_a_ticket_changes_hands(store: seinpaal.Seinpaal, name: str) -> None:
    gpus = store.semaphore(name, 1)
    permit = gpus.acquire()
    ticket = permit.detach()
    assert not permit.is_held
    attached = gpus.attach(ticket)
    assert attached.ticket == ticket and attached.fence > permit.fence
