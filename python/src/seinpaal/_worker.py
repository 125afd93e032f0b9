"""Working on items as they come."""

from __future__ import annotations

import asyncio
import inspect
import operator
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from . import _call
from ._grip import Cancellation
from ._native import Call
from ._item import Item, reason
from ._queue import GiveBack, Queue
from ._want import Seconds, delay_in_seconds
from .errors import BadInput, BadSetting, Error, StoreError

#: How long a worker waits before it asks again if the store does not answer.
_PAUSE = 1.0

#: How often the main thread looks for signals while it waits.
_LOOK = 0.05


@dataclass
class Counts:
    """The counts of the items that a worker worked on, by their ends."""

    acknowledged: int = 0
    #: Given back for other workers: by the handler, or at the shutdown.
    given_back: int = 0
    #: Failed, and delivered again later.
    failed: int = 0
    #: Failed for the last time, so dead letters now.
    died: int = 0
    #: Lost before they were done, so other workers may have worked on them, too.
    lost: int = 0
    #: Ended without a confirmation, because the store was silent or the grace period was over, so
    #: they may be delivered once more.
    unknown: int = 0
    _mutex: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def _add(self, what: str) -> None:
        with self._mutex:
            setattr(self, what, getattr(self, what) + 1)


class _Shutdown(BaseException):
    """A signal has come."""


def _back_off(attempt: int) -> float:
    """The default back-off: a second, doubled for each delivery, at most five minutes."""
    return min(2.0 ** min(attempt - 1, 20), 300.0)


class Worker:
    """Works on items as they come, up to a number of them at a time.

    What the handler does decides: it returns (acknowledged), raises :exc:`GiveBack` (left to
    others), raises anything else (delivered again after a back-off, with that text as the reason,
    until it is a dead letter), or ends the item itself. The delay of a :exc:`GiveBack` that is no
    number of seconds counts as raised by the handler.

    ``retry`` says how many seconds the back-off lasts, from the number of the delivery that failed.
    If it raises, or what it returns is no number of seconds, that shuts the worker down and is
    raised by :meth:`run` or :meth:`run_async`. The item that had failed is delivered again after
    the usual back-off. A number below 0 is no delay.

    :meth:`run` works on threads, :meth:`run_async` on tasks, with a coroutine function for its
    handler. At the shutdown no item is taken any more. Running handlers may go on for ``grace``,
    and then their items are given back.
    """

    def __init__(
        self,
        queue: Queue,
        handler: Callable[[Item], Any],
        concurrency: int,
        ttl: Seconds | None,
        grace: float,
        retry: Callable[[int], float] | None,
    ) -> None:
        if operator.index(concurrency) < 1:
            raise BadSetting("a worker works on 1 item at least")
        self._queue = queue
        self._handler = handler
        self._concurrency = concurrency
        self._ttl = ttl
        self._grace = grace
        self._retry = retry or _back_off
        self._counts = Counts()
        self._pops: set[Call[Any]] = set()
        self._hands: set[Item] = set()
        self._counting = threading.Lock()
        self._stopping = threading.Event()
        self._failure: BaseException | None = None
        #: Whether the tasks of :meth:`run_async` are being cancelled.
        self._is_cancelling = False

    def stop(self) -> None:
        """Begins the shutdown of :meth:`run`, from any thread or handler."""
        self._stopping.set()
        for call in list(self._pops):
            call.cancel()

    # ---- on threads

    def run(self, signals: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)) -> Counts:
        """Works until :meth:`stop` or, on the main thread, one of these signals.

        A second signal does what it would do without the worker. An error that is not the
        handler's, for example of ``retry``, or of a store that refuses, shuts the worker down and
        is raised.
        """
        if inspect.iscoroutinefunction(self._handler):
            raise TypeError("a coroutine function needs run_async()")
        _call.refuse_in_loop("run()", "`await worker.run_async()`")
        self._queue._connection._here()
        threads = [
            threading.Thread(target=self._serve, name=f"seinpaal-worker-{n}", daemon=True)
            for n in range(self._concurrency)
        ]
        try:
            with _raising(signals):
                # Inside the `try`, because a signal may come while threads are started, and the
                # first thread may have an item already.
                for thread in threads:
                    thread.start()
                # The wait is short and repeated, because a signal that comes just before a wait, or
                # to another thread, does not end the wait.
                while not self._stopping.wait(_LOOK):
                    pass
        except _Shutdown:
            pass
        finally:
            self.stop()
        self._wind_up([thread for thread in threads if thread.is_alive()])
        if self._failure is not None:
            raise self._failure
        return self._counts

    def _wind_up(self, threads: list[threading.Thread]) -> None:
        until = time.monotonic() + self._grace
        for thread in threads:
            left = max(0.0, until - time.monotonic())
            # `join` accepts no longer time, and `grace` may be infinite.
            thread.join(min(left, threading.TIMEOUT_MAX))
        # A thread cannot be ended from outside. Its handler may go on, without the item.
        for item in list(self._hands):
            self._end(item.give_back)
            self._count(item)

    def _serve(self) -> None:
        try:
            while not self._stopping.is_set():
                self._serve_one()
        except BaseException as error:
            # An error that ends a thread ends the worker, so that no thread is missing unnoticed.
            self._fail(error)

    def _serve_one(self) -> None:
        try:
            item = self._pop()
        except Error as error:
            if self._stopping.is_set():
                return
            if not isinstance(error, StoreError) or not error.is_passing:
                raise
            self._stopping.wait(_PAUSE)
        else:
            if item is not None:
                self._work_on(item)

    def _fail(self, error: BaseException) -> None:
        """Begins the shutdown, after which :meth:`run` raises the first such error."""
        with self._counting:
            if self._failure is None:
                self._failure = error
        self.stop()

    def _pop(self) -> Item | None:
        call = self._queue._pop(None, self._ttl)
        self._pops.add(call)
        try:
            if self._stopping.is_set():
                return None
            return Item(self._queue._connection, call.wait())
        except RuntimeError:
            if not self._stopping.is_set():
                raise
            return None  # Cancelled by the shutdown.
        finally:
            self._pops.discard(call)

    def _work_on(self, item: Item) -> None:
        self._hands.add(item)
        try:
            self._handler(item)
        except GiveBack as given:
            try:
                self._end(lambda: item.give_back(delay_in_seconds(given.delay)))
            except Exception as error:
                self._end_failed(item, error)
        except BaseException as raised:
            self._end_failed(item, raised)
        else:
            if not item.is_ended:
                self._end(item.acknowledge)
        finally:
            self._count(item)

    def _end_failed(self, item: Item, raised: BaseException) -> None:
        what = reason(raised)
        try:
            self._end(lambda: item.fail(what, delay_in_seconds(self._retry(item.attempt))))
        except BaseException:
            # The program's `retry` has raised, which ends the worker. The item is delivered again.
            self._end(lambda: item.fail(what, _back_off(item.attempt)))
            raise

    def _end(self, end: Callable[[], object]) -> None:
        try:
            end()
        except BadInput:
            raise  # Nothing was sent: the item has not ended.
        except Error:
            pass  # The item knows, and is counted by that.

    def _count(self, item: Item) -> None:
        """Counts an item once, although its handler and the end of the grace period may end it."""
        with self._counting:
            if item not in self._hands:
                return
            self._hands.discard(item)
        self._counts._add(item._fate or "unknown")

    # ---- on tasks

    async def run_async(self, stop: asyncio.Event | None = None) -> Counts:
        """Works until ``stop`` is set. A handler whose delivery is lost is cancelled.

        If the task that runs this is cancelled, the handlers are cancelled, too, and their items
        are given back.
        """
        stop = stop if stop is not None else asyncio.Event()
        self._is_cancelling = False
        popping: set[asyncio.Task[None]] = set()
        serving = {
            asyncio.ensure_future(self._serve_async(stop, popping))
            for _ in range(self._concurrency)
        }
        stopped = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait({stopped, *serving}, return_when=asyncio.FIRST_COMPLETED)
            stop.set()
            for task in popping:
                task.cancel()
            await asyncio.wait(serving, timeout=self._grace)
        finally:
            stopped.cancel()
            self._is_cancelling = True
            for task in serving:
                task.cancel()
            outcomes = await asyncio.gather(*serving, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
        return self._counts

    async def _serve_async(
        self, stop: asyncio.Event, popping: set[asyncio.Task[None]]
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        while not stop.is_set():
            popping.add(task)
            try:
                item = await self._queue.pop_async(ttl=self._ttl)
            except StoreError as error:
                if not error.is_passing:
                    raise
                await asyncio.sleep(_PAUSE)
                continue
            finally:
                popping.discard(task)
            await self._work_on_async(item)

    async def _work_on_async(self, item: Item) -> None:
        cancellation = Cancellation([item._mine()])
        try:
            await self._handler(item)
        except asyncio.CancelledError as cancelled:
            if cancellation.end(type(cancelled)):
                item._fate = item._fate or "lost"
                return
            if not self._is_cancelled():
                # The handler awaited a task that was cancelled, so the handler has failed.
                await self._end_failed_async(item, cancelled)
                return
            # The shutdown has cancelled the handler. A second cancellation must not stop the call
            # that gives the item back.
            await asyncio.shield(self._end_async(item.give_back_async()))
            raise
        except GiveBack as given:
            cancellation.end(None)
            try:
                await self._end_async(item.give_back_async(delay_in_seconds(given.delay)))
            except Exception as error:
                await self._end_failed_async(item, error)
        except Exception as raised:
            cancellation.end(None)
            await self._end_failed_async(item, raised)
        else:
            cancellation.end(None)
            if not item.is_ended:
                await self._end_async(item.acknowledge_async())
        finally:
            self._counts._add(item._fate or "unknown")

    def _is_cancelled(self) -> bool:
        """Whether somebody has cancelled the current task."""
        count = getattr(asyncio.current_task(), "cancelling", None)
        # Before Python 3.11 there is no count of cancellations, so only cancellations by the worker
        # are known.
        return self._is_cancelling if count is None else count() > 0

    async def _end_failed_async(self, item: Item, raised: BaseException) -> None:
        what = reason(raised)
        try:
            delay = delay_in_seconds(self._retry(item.attempt))
            await self._end_async(item.fail_async(what, delay))
        except Exception:
            # As on threads.
            await self._end_async(item.fail_async(what, _back_off(item.attempt)))
            raise

    async def _end_async(self, end: Coroutine[Any, Any, object]) -> None:
        try:
            await end
        except BadInput:
            raise
        except Error:
            pass  # The item knows, and is counted by that.


@contextmanager
def _raising(signals: tuple[signal.Signals, ...]) -> Iterator[None]:
    """Makes these signals end a wait on the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: object) -> None:
        raise _Shutdown

    before = [(one, signal.signal(one, end)) for one in signals]
    try:
        yield
    finally:
        for one, handler in before:
            signal.signal(one, handler)
