"""Blocks that hold a permit or an item: their ends, and losses inside them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from . import _call
from ._native import Call
from .errors import Lost


class Watched(Protocol):
    """A permit or an item, which can be lost."""

    def watch(self) -> Call[str | None]:
        """A call that ends at the loss."""
        ...


class Cancellation:
    """Cancels the current task at a loss, as ``asyncio.timeout`` does when time is up."""

    def __init__(self, watched: Sequence[Watched]) -> None:
        task = asyncio.current_task()
        assert task is not None, "an async block needs a task"
        self._task = task
        self._before = _cancelling(task)
        self._loop = asyncio.get_running_loop()
        self._desk = _call.desk_of(self._loop)
        self._is_over = False
        self._is_cancelled = False
        self._keys: list[int] = []
        for one in watched:
            self._watch(one.watch())

    def _watch(self, call: Call[str | None]) -> None:
        def done() -> None:
            try:
                call.take()
            except RuntimeError:
                return  # The block has given it back or ended it by itself.
            self._lose()

        key = self._desk.begin(call, done)
        if key is None:
            # The permit is lost already. The loop calls this later, because a task that has left
            # its block by then must not be cancelled.
            self._loop.call_soon(done)
        else:
            self._keys.append(key)

    def _lose(self) -> None:
        if not self._is_over and not self._is_cancelled:
            self._is_cancelled = True
            self._task.cancel()

    def end(self, raised: type[BaseException] | None) -> bool:
        """Ends the watch, and returns whether this watch has caused the cancellation."""
        self._is_over = True
        for key in self._keys:
            self._desk.forget(key)
        if not self._is_cancelled:
            return False
        others = _uncancel(self._task) > self._before
        return raised is asyncio.CancelledError and not others


def _cancelling(task: asyncio.Task[object]) -> int:
    # Before Python 3.11 there is no count of cancellations, so a cancellation in a block whose
    # permit was lost counts as the block's own.
    count = getattr(task, "cancelling", None)
    return count() if count is not None else 0


def _uncancel(task: asyncio.Task[object]) -> int:
    uncancel = getattr(task, "uncancel", None)
    return uncancel() if uncancel is not None else 0


def lost(name: str, how: str) -> Lost:
    """The error for a loss."""
    return Lost(f"{name}: {how}")
