"""Ctrl-C ends a wait at the next look for signals, and leaves nothing held or queued.

This is so on each store, from a thread and from asyncio. Nothing else ends these waits, so a wait
that does not look hangs. How often it looks is a number, which is compared with what is promised.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from conftest import until

import seinpaal
from seinpaal import _native

#: A program that waits for the name. It holds the name itself if no other program can, prints when
#: it waits, and prints when an interrupt has ended the wait and left nothing behind.
WAITER = """
import asyncio, signal, sys, threading, time
import seinpaal

# A shell that runs the tests in the background may have set the signal to be ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
url, name, wait, is_alone = sys.argv[1:5]
store = seinpaal.connect(url)
nightly, mails = store.mutex(name), store.queue(name)
held = nightly.acquire() if is_alone == "True" else None

def waiting():
    return mails.snapshot().idle if wait == "pop" else nightly.snapshot().waiting_total

def tell():
    while not waiting():
        time.sleep(0.005)
    print("waits", flush=True)

async def task():
    await nightly.acquire_async()

waits = {
    "acquire": nightly.acquire,
    "acquire with a timeout": lambda: nightly.acquire(timeout=600),
    "acquire_all": lambda: store.acquire_all(nightly, store.mutex(name + " too")),
    "asyncio": lambda: asyncio.run(task()),
    "pop": mails.pop,
}
threading.Thread(target=tell).start()
try:
    waits[wait]()
except KeyboardInterrupt:
    print("interrupted", flush=True)
while waiting() or store.mutex(name + " too").snapshot().holders_total:
    time.sleep(0.005)
print("left", flush=True)
sys.stdin.read()
"""

LOCKS = ["acquire", "acquire with a timeout", "acquire_all", "asyncio"]


@pytest.mark.parametrize("wait", LOCKS)
def test_ctrl_c_ends_a_wait_and_leaves_nothing(url: str, name: str, wait: str) -> None:
    # Only one program can use a store in memory, so this program holds the name itself.
    if url.startswith("memory:"):
        interrupt(url, name, wait, is_alone=True)
    else:
        with seinpaal.connect(url) as store, store.mutex(name) as held:
            interrupt(url, name, wait, is_alone=False)
            assert store.mutex(name).snapshot().holders == [held.ticket]


@pytest.mark.needs("KeepsQueues")
def test_ctrl_c_ends_the_wait_for_an_item(url: str, name: str) -> None:
    interrupt(url, name, "pop", is_alone=False)


def test_a_wait_looks_for_signals_twice_in_the_100_ms_that_are_promised() -> None:
    assert 0 < 2 * _native.LOOK <= 0.1


def interrupt(url: str, name: str, wait: str, is_alone: bool) -> None:
    """Interrupts another program that waits, and sees its wait end."""
    with subprocess.Popen(
        [sys.executable, "-c", WAITER, url, name, wait, str(is_alone)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as waiter:
        assert waiter.stdout is not None and waiter.stdin is not None
        try:
            assert waiter.stdout.readline() == "waits\n"
            os.kill(waiter.pid, signal.SIGINT)
            assert waiter.stdout.readline() == "interrupted\n"
            assert waiter.stdout.readline() == "left\n"
        finally:
            waiter.kill()


def test_what_a_signal_raises_at_the_beginning_of_a_wait_leaves_nothing_either(
    store: seinpaal.Seinpaal, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wait asks Python which thread is the main one, and a handler may raise there, too."""
    nightly = store.mutex(name)

    def raises() -> threading.Thread:
        raise KeyboardInterrupt

    with nightly:
        monkeypatch.setattr(threading, "main_thread", raises)
        with pytest.raises(KeyboardInterrupt) as interrupt:
            nightly.acquire()
        monkeypatch.undo()
        # The exception keeps the frame of the wait alive while its handler runs, and nothing may be
        # left in line meanwhile.
        assert interrupt.value.__traceback__ is not None
        until(lambda: nightly.snapshot().waiting_total == 0)


class Interrupted(Exception):
    """What a signal handler raises."""


def interrupted_at_each_instruction(block: Callable[[], object]) -> list[Interrupted]:
    """Runs a block again and again, and interrupts each run one instruction of the package later.

    A tracer raises where Python would run a signal handler. The exceptions are returned, because
    whoever keeps one keeps its frames, too.
    """
    package = os.path.dirname(seinpaal.__file__)
    ends: list[Interrupted] = []
    while True:
        left = len(ends)

        def trace(frame: FrameType, event: str, _: object) -> Any:
            nonlocal left
            if not frame.f_code.co_filename.startswith(package):
                return None
            # Python runs no handler between the body of a `with` and its ends, which is all that a
            # decorated function has of its own.
            frame.f_trace_opcodes = frame.f_code.co_name != "held"
            if event == "opcode":
                left -= 1
                if left < 0:
                    raise Interrupted
            return trace

        try:
            sys.settrace(trace)
            block()
            return ends
        except Interrupted as end:
            ends.append(end)
        finally:
            sys.settrace(None)


@pytest.mark.parametrize("form", ["lock", "holding", "acquire", "decorator", "acquire_all"])
def test_a_handler_that_raises_at_an_end_of_a_block_leaves_nothing_held(
    store: seinpaal.Seinpaal, name: str, form: str
) -> None:
    nightly, other = store.semaphore(name, 100_000), store.semaphore(f"{name} too", 100_000)
    holding = nightly.holding(timeout=60)

    @holding
    def decorated() -> None:
        pass

    def block() -> None:
        if form == "acquire_all":
            with store.acquire_all(nightly, other):
                pass
        elif form == "acquire":
            with nightly.acquire():
                pass
        else:
            with nightly if form == "lock" else holding:
                pass

    ends = interrupted_at_each_instruction(decorated if form == "decorator" else block)
    assert len(ends) > 20
    until(lambda: nightly.snapshot().holders_total == other.snapshot().holders_total == 0)
