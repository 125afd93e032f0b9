"""The news that a holder gets: that its permit is lost, and that a person asks for it."""

from __future__ import annotations

import gc
import sys
import threading

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


@pytest.mark.needs("PassesAsks")
def test_a_callback_for_asks_that_exits_hears_of_the_next_ask(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)
    permit = nightly.acquire()
    heard: list[str] = []

    def hear(ask: seinpaal.HandOverAsk) -> None:
        heard.append(ask.reason)
        sys.exit()

    permit.on_asked(hear)
    for count, reason in enumerate(("one", "two"), 1):
        nightly.ask_holder(permit.ticket, reason)
        until(lambda: len(heard) == count)
    assert heard == ["one", "two"]
    permit.release()


@pytest.mark.needs("PassesAsks")
def test_a_holder_is_called_back_for_each_ask_until_it_gives_back(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)
    permit = nightly.acquire()
    assert permit.asked(0) is None
    heard: list[seinpaal.HandOverAsk] = []

    def hear(ask: seinpaal.HandOverAsk) -> None:
        heard.append(ask)
        if len(heard) == 1:
            raise RuntimeError("what a callback raises ends nothing")

    permit.on_asked(hear)
    nightly.ask_holder(permit.ticket, "a release is due", by="eve")
    until(lambda: len(heard) == 1)
    nightly.ask_holder(permit.ticket, "<b>still</b> waiting")
    until(lambda: len(heard) == 2)
    assert (heard[0].by, heard[0].reason) == ("eve", "a release is due")
    assert "@" in heard[1].by and heard[1].reason == "<b>still</b> waiting"
    assert permit.is_held
    permit.release()
    with pytest.raises(seinpaal.NotHeld):
        permit.asked(0)


@pytest.mark.needs("PassesAsks")
def test_a_permit_that_only_its_callback_for_asks_has_goes_back(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)
    permit = nightly.acquire()
    permit.on_asked(lambda ask: None)
    del permit
    gc.collect()
    until(lambda: nightly.snapshot().holders_total == 0)


@pytest.mark.needs("PassesAsks")
def test_a_wait_for_an_ask_ends_with_the_loss_or_the_release_of_the_permit(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)
    permit = nightly.acquire()
    nightly.evict(permit.ticket)
    with pytest.raises(seinpaal.Lost, match="evicted"):
        permit.asked()
    permit = nightly.acquire()
    ended: list[object] = []

    def wait() -> None:
        try:
            ended.append(permit.asked())
        except seinpaal.NotHeld as error:
            ended.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    permit.release()
    thread.join(60)
    assert [type(end) for end in ended] == [seinpaal.NotHeld]
