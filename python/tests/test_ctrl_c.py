"""Ctrl-C ends a wait within 100 ms, and leaves nothing held or queued.

This is so on each store, from a thread and from asyncio.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import until

import seinpaal

#: Holds the name if nobody outside can, says when it waits, and when an interrupt has ended that
#: and left nothing.
WAITER = """
import asyncio, signal, sys, threading, time
import seinpaal

# Whoever runs the tests in the background may have had it ignored.
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
    print(time.monotonic(), flush=True)
while waiting() or store.mutex(name + " too").snapshot().holders_total:
    time.sleep(0.005)
print("left", flush=True)
sys.stdin.read()
"""

LOCKS = ["acquire", "acquire with a timeout", "acquire_all", "asyncio"]


@pytest.mark.parametrize("wait", LOCKS)
def test_ctrl_c_ends_a_wait_within_100_ms_and_leaves_nothing(url: str, name: str, wait: str) -> None:
    # A store in memory has one program, which holds there itself.
    if url.startswith("memory:"):
        took = [interrupted(url, name, wait, is_alone=True) for _ in range(3)]
    else:
        with seinpaal.connect(url) as store, store.mutex(name) as held:
            took = [interrupted(url, name, wait, is_alone=False) for _ in range(3)]
            assert store.mutex(name).snapshot().holders == [held.ticket]
    # The machine may be busy, so the best of three decides.
    assert min(took) < 0.1, took


@pytest.mark.needs("KeepsQueues")
def test_ctrl_c_ends_the_wait_for_an_item_within_100_ms(url: str, name: str) -> None:
    took = [interrupted(url, name, "pop", is_alone=False) for _ in range(3)]
    assert min(took) < 0.1, took


def interrupted(url: str, name: str, wait: str, is_alone: bool) -> float:
    """How long an interrupt takes to end the wait of another program, in seconds."""
    with subprocess.Popen(
        [sys.executable, "-c", WAITER, url, name, wait, str(is_alone)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as waiter:
        assert waiter.stdout is not None and waiter.stdin is not None
        try:
            assert waiter.stdout.readline() == "waits\n"
            sent = time.monotonic()
            os.kill(waiter.pid, signal.SIGINT)
            took = float(waiter.stdout.readline()) - sent
            assert waiter.stdout.readline() == "left\n"
        finally:
            waiter.kill()
    return took


def test_what_a_signal_raises_at_the_beginning_of_a_wait_leaves_nothing_either(
    store: seinpaal.Seinpaal, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wait asks Python which thread is the main one. There, too, a handler may raise."""
    nightly = store.mutex(name)

    def raises() -> threading.Thread:
        raise KeyboardInterrupt

    with nightly:
        monkeypatch.setattr(threading, "main_thread", raises)
        with pytest.raises(KeyboardInterrupt) as interrupt:
            nightly.acquire()
        monkeypatch.undo()
        # What was raised has the frame of the wait, and lives as long as its handler.
        assert interrupt.value.__traceback__ is not None
        until(lambda: nightly.snapshot().waiting_total == 0)
