"""Waiting for the native half: on a thread, from an event loop, or not at all.

A thread of the native half never enters Python. It puts the number of a call into a mailbox, which
is readable then. An event loop watches its mailbox, and one thread watches that for callbacks.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import select
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from ._native import Call, Mailbox
from .errors import BlocksLoop

T = TypeVar("T")
log = logging.getLogger("seinpaal")


def is_other_process(process: int) -> bool:
    """Whether this is not that process, but one that was forked from it."""
    return process != os.getpid()


def has_loop() -> bool:
    """Whether an event loop runs on this thread."""
    return asyncio._get_running_loop() is not None


def refuse_in_loop(call: str, instead: str) -> None:
    """Refuses a wait that would stop the tasks or greenlets of its thread.

    What it waits for may be held by one of them, and then it would wait for ever.
    """
    if has_loop():
        raise BlocksLoop(f"{call} would block the event loop that runs on this thread: use {instead}")
    if _is_in_gevent():
        raise BlocksLoop(
            f"{call} would stop all greenlets of this thread: call gevent.get_hub().threadpool.apply(lock.acquire)"
        )


def _is_in_gevent() -> bool:
    """Whether gevent has patched this program, and has a hub on this thread.

    The threads of its pool have none.
    """
    monkey = sys.modules.get("gevent.monkey")
    if monkey is None or not monkey.is_module_patched("threading"):
        return False
    return sys.modules["gevent._hub_local"].get_hub_if_exists() is not None


class Desk:
    """Calls under way, and the functions to call when they are done."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.mailbox = Mailbox()
        self._calls: dict[int, tuple[Call[Any], Callable[[], None]]] = {}
        self._keys = itertools.count()
        #: The blocks of tasks that are open, by the lock. They are here, because a loop that is
        #: closed forgets its tasks, and their permits must not outlive them.
        self.blocks: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def begin(self, call: Call[Any], done: Callable[[], None]) -> int | None:
        """Starts a call, or returns ``None`` if it is done, and then does not call ``done``."""
        key = next(self._keys)
        # The call is noted before the poll, because it may post its key while it is polled.
        self._calls[key] = (call, done)
        # If the key is gone, another thread has polled the call meanwhile and has called ``done``.
        if call.poll(self.mailbox, key) and self._calls.pop(key, None) is not None:
            return None
        return key

    def forget(self, key: int) -> None:
        """Forgets a call, so that nothing is called when it is done."""
        self._calls.pop(key, None)

    def look(self) -> None:
        """Goes on with every call that can."""
        for key in self.mailbox.drain():
            call, done = self._calls.get(key, (None, None))
            if call is None or done is None or not call.poll(self.mailbox, key):
                continue
            if self._calls.pop(key, None) is not None:
                done()


#: The desk of each loop. Only the loop keeps its desk alive, as a reader, so a desk goes with its
#: loop. Requests that wait there are given up when the loop is closed.
_desks: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, weakref.ref[Desk]]
_desks = weakref.WeakKeyDictionary()


def desk_of(loop: asyncio.AbstractEventLoop) -> Desk:
    """The desk of a running loop."""
    reference = _desks.get(loop)
    desk = reference() if reference is not None else None
    if desk is None or desk.process != os.getpid():
        desk = Desk()
        loop.add_reader(desk.mailbox.fileno(), desk.look)
        _desks[loop] = weakref.ref(desk)
    return desk


async def run(call: Call[T]) -> T:
    """Awaits a call. Cancelling the task cancels the call, so nothing stays held or queued."""
    loop = asyncio.get_running_loop()
    desk = desk_of(loop)
    future: asyncio.Future[None] = loop.create_future()

    def done() -> None:
        if not future.done():
            future.set_result(None)

    key = desk.begin(call, done)
    if key is not None:
        try:
            await future
        except BaseException:
            desk.forget(key)
            call.cancel()
            raise
    return call.take()


class Watcher:
    """The thread that waits for losses, for callbacks. It is started by the first of them."""

    def __init__(self) -> None:
        self.desk = Desk()
        threading.Thread(target=self._serve, name="seinpaal-losses", daemon=True).start()

    def _serve(self) -> None:
        poller = select.poll()
        poller.register(self.desk.mailbox.fileno(), select.POLLIN)
        while True:
            poller.poll()
            self.desk.look()


_watcher: Watcher | None = None
_starting = threading.Lock()


def watcher() -> Watcher:
    """The watcher of this process."""
    global _watcher
    with _starting:
        if _watcher is None:
            _watcher = Watcher()
        return _watcher


def after_fork() -> None:
    """Forgets the parent's thread, and the lock, which that thread may have held."""
    global _watcher, _starting
    _watcher, _starting = None, threading.Lock()


def tell(call: Call[str | None], callback: Callable[[str], None]) -> None:
    """Calls back, on a thread of its own, at the loss that the call waits for.

    Each has its own thread, so a slow one does not delay the others. If the loss is there already,
    calls back at once and on this thread.
    """

    def answer() -> str | None:
        try:
            return call.take()
        except RuntimeError:
            return None  # The watched permit has been given back.

    def call_back(how: str) -> None:
        try:
            callback(how)
        except BaseException:
            log.exception("a callback of a permit failed")

    def done() -> None:
        how = answer()
        if how is None:
            return
        thread = threading.Thread(target=call_back, args=(how,), name="seinpaal-callback", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            call_back(how)  # No more threads, so the others wait.

    if watcher().desk.begin(call, done) is None and (how := answer()) is not None:
        try:
            callback(how)
        except Exception:
            # `sys.exit()` and Ctrl-C belong to this thread, so they are not caught.
            log.exception("a callback of a permit failed")
