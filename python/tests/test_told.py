"""The news that a holder gets: that its permit is lost."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import until

import seinpaal


def test_an_evicted_holder_learns_it_at_the_end_of_the_block(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)
    with pytest.raises(seinpaal.Lost, match=f"{name}: somebody evicted it"), nightly as permit:
        nightly.evict(permit.ticket)
        until(lambda: permit.lost is not None)
        assert not permit.is_held


def test_what_the_block_raised_is_not_hidden_by_the_loss(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)
    with pytest.raises(KeyError), nightly as permit:
        nightly.evict(permit.ticket)
        until(lambda: permit.lost is not None)
        raise KeyError("mine")


def test_a_loss_is_called_back_once(store: seinpaal.Seinpaal, name: str) -> None:
    nightly = store.mutex(name)
    permit = nightly.acquire()
    told: list[seinpaal.Lost] = []
    permit.on_lost(told.append)
    nightly.evict(permit.ticket)
    until(lambda: bool(told))
    assert str(told[0]) == f"{name}: somebody evicted it"
    permit.on_lost(told.append)
    assert len(told) == 2, "at once, since it is lost"
    with pytest.raises(seinpaal.NotHeld):
        permit.release()


def test_a_permit_that_is_given_back_calls_nobody_back(store: seinpaal.Seinpaal, name: str) -> None:
    told: list[seinpaal.Lost] = []
    with store.mutex(name) as permit:
        permit.on_lost(told.append)
    with store.mutex(name) as permit:
        permit.on_lost(told.append)
        store.mutex(name).evict(permit.ticket)
        until(lambda: bool(told))
        try:
            permit.release()
        except seinpaal.NotHeld:
            pass
    assert len(told) == 1


def test_closing_the_connection_is_no_loss_for_callbacks(url: str, name: str) -> None:
    store = seinpaal.connect(url)
    closed, evicted = store.mutex(f"{name} one").acquire(), store.mutex(f"{name} two").acquire()
    told: list[seinpaal.Lost] = []
    closed.on_lost(told.append)
    evicted.on_lost(told.append)
    store.mutex(f"{name} two").evict(evicted.ticket)
    until(lambda: bool(told))
    store.close()
    closed.on_lost(told.append)
    until(lambda: not closed.is_held)
    assert [str(loss) for loss in told] == [f"{name} two: somebody evicted it"]


def test_a_program_that_ends_with_a_permit_is_told_of_no_loss(tmp_path: Path) -> None:
    program = """
import os, sys, seinpaal
permit = seinpaal.connect(sys.argv[1]).mutex("nightly").acquire()
permit.on_lost(lambda loss: os._exit(1))
"""
    command = [sys.executable, "-c", program, f"file://{tmp_path}/store"]
    assert subprocess.run(command, timeout=60).returncode == 0


def test_a_callback_waits_for_no_other(store: seinpaal.Seinpaal, name: str) -> None:
    first, second = store.mutex(f"{name} one"), store.mutex(f"{name} two")
    began, goes_on = threading.Event(), threading.Event()
    ended: list[bool] = []

    def slow(loss: seinpaal.Lost) -> None:
        began.set()
        ended.append(goes_on.wait(60))

    one, two = first.acquire(), second.acquire()
    one.on_lost(slow)
    two.on_lost(lambda loss: goes_on.set())
    first.evict(one.ticket)
    assert began.wait(60)
    second.evict(two.ticket)
    until(lambda: ended == [True])


def test_a_callback_that_raises_does_not_stop_later_ones(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)
    told: list[seinpaal.Lost] = []

    def fail(loss: seinpaal.Lost) -> None:
        raise RuntimeError("a callback of the test")

    for callback in (fail, told.append):
        permit = nightly.acquire()
        permit.on_lost(callback)
        nightly.evict(permit.ticket)
    until(lambda: bool(told))


def leave(loss: seinpaal.Lost) -> None:
    sys.exit(1)


def test_a_callback_that_exits_ends_neither_the_program_nor_later_callbacks(
    store: seinpaal.Seinpaal, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    nightly = store.mutex(name)
    told: list[seinpaal.Lost] = []
    for callback in (leave, told.append):
        permit = nightly.acquire()
        permit.on_lost(callback)
        nightly.evict(permit.ticket)
        if callback is leave:
            until(lambda: "a callback of a permit failed" in caplog.text)
    until(lambda: bool(told))


def test_a_callback_that_is_called_at_once_can_exit_its_own_thread(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)
    permit = nightly.acquire()
    nightly.evict(permit.ticket)
    until(lambda: permit.lost is not None)
    with pytest.raises(SystemExit):
        permit.on_lost(leave)
