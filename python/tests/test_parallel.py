"""Threads that do the same at the same moment. On a free-threaded build they really do."""

from __future__ import annotations

import asyncio
import gc
import sys
import sysconfig
import threading
from collections.abc import Callable

import pytest
from conftest import REDIS, until

import seinpaal

#: Enough to meet at every step of what they do.
THREADS = 16
ROUNDS = 10


def at_once(work: Callable[[int], object], threads: int = THREADS) -> list[BaseException]:
    """Runs ``work`` on threads that begin at one moment, and returns what they raised."""
    barrier = threading.Barrier(threads)
    raised: list[BaseException] = []

    def begin(number: int) -> None:
        try:
            barrier.wait()
            work(number)
        except BaseException as error:
            raised.append(error)

    started = [threading.Thread(target=begin, args=(n,)) for n in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join(120)
        assert not thread.is_alive(), "a thread never came to its end"
    return raised


def test_the_module_needs_no_gil_where_there_may_be_none() -> None:
    # An extension that does not say so has the interpreter switch the GIL on.
    needs_one = not sysconfig.get_config_var("Py_GIL_DISABLED")
    assert getattr(sys, "_is_gil_enabled", lambda: True)() is needs_one


@pytest.mark.parametrize("store", ["memory", "redis"])
def test_a_permit_that_many_give_back_is_given_back_once(store: str) -> None:
    with seinpaal.connect(REDIS if store == "redis" else "memory:parallel") as connection:
        lock = connection.mutex(f"parallel {store}")
        for _ in range(ROUNDS):
            permit = lock.acquire()
            raised = at_once(lambda _: permit.release())
            assert len(raised) == THREADS - 1
            assert all(isinstance(error, seinpaal.NotHeld) for error in raised)
        assert lock.snapshot().permits_held == 0


def test_a_block_that_many_leave_is_left_by_each() -> None:
    lock = seinpaal.connect("memory:").mutex("parallel blocks")
    for _ in range(ROUNDS):
        permit = lock.acquire()
        inside = threading.Barrier(THREADS)

        def leave(_: int) -> None:
            with permit:
                inside.wait()

        assert at_once(leave) == []
        assert not permit.is_held
    assert lock.snapshot().permits_held == 0


@pytest.mark.parametrize("store", ["memory", "redis"])
def test_the_last_of_many_threads_that_let_go_gives_it_back(store: str) -> None:
    with seinpaal.connect(REDIS if store == "redis" else "memory:parallel") as connection:
        lock = connection.mutex(f"parallel ends {store}")
        for _ in range(ROUNDS):
            places: list[seinpaal.Permit | None] = [lock.acquire()] * THREADS

            def let_go(number: int) -> None:
                places[number] = None

            assert at_once(let_go) == []
            gc.collect()
            until(lambda: lock.snapshot().permits_held == 0)


def test_threads_and_loops_that_connect_at_once_share_a_connection() -> None:
    for _ in range(ROUNDS):
        store = seinpaal.connect(REDIS, lazy=True)
        had: list[object] = []

        def connect(number: int) -> None:
            here = store._here() if number % 2 else asyncio.run(store._here_async())
            had.append(here)

        assert at_once(connect) == []
        assert len(had) == THREADS and len(set(map(id, had))) == 1
        store.close()


def test_each_of_many_losses_is_told_once() -> None:
    store = seinpaal.connect("memory:")
    boards = store.semaphore("parallel boards", 64)
    told: list[tuple[int, str]] = []

    def hold(number: int) -> None:
        permit = boards.acquire()
        permit.on_lost(lambda lost: told.append((number, str(lost))))
        boards.evict(permit.ticket)
        until(lambda: any(one == number for one, _ in list(told)))

    assert at_once(hold, threads=64) == []
    assert sorted(number for number, _ in told) == list(range(64))
    assert {words for _, words in told} == {"parallel boards: somebody evicted it"}


def test_calls_that_many_poll_and_cancel_end_once() -> None:
    store = seinpaal.connect("memory:")
    lock = store.mutex("parallel calls")
    for _ in range(ROUNDS):
        held = lock.acquire()
        call = store._here().acquire(lock._want)
        waits: list[Callable[[], object]] = [
            lambda: call.wait_for(20),
            call.cancel,
            held.release,
            lambda: call.wait_for(0),
        ]
        assert at_once(lambda n: waits[n](), threads=len(waits)) == []
        with pytest.raises(RuntimeError):
            call.take()
            call.take()
        del call
        until(lambda: lock.snapshot().permits_held == 0)
