"""The two ways to ask: from threads, and from an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Face(Protocol):
    """Begins a request, and returns a future of its result."""

    #: Whether a request can be cancelled by :meth:`Future.cancel`.
    cancels: bool

    def begin(
        self, plain: Callable[[], T], coroutine: Callable[[], Coroutine[Any, Any, T]]
    ) -> Future[T]:
        """Begins the blocking or the asynchronous form of a request."""
        ...

    def close(self) -> None:
        """Ends the threads or the loop of the face."""
        ...


class Threads:
    """Each request on a thread of its own. A thread that waits cannot be cancelled."""

    cancels = False

    def begin(
        self, plain: Callable[[], T], coroutine: Callable[[], Coroutine[Any, Any, T]]
    ) -> Future[T]:
        future: Future[T] = Future()

        def work() -> None:
            try:
                future.set_result(plain())
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=work, daemon=True).start()
        return future

    def close(self) -> None:
        pass


class Loop:
    """Each request as a task of one event loop, which runs on a thread."""

    cancels = True

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def begin(
        self, plain: Callable[[], T], coroutine: Callable[[], Coroutine[Any, Any, T]]
    ) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(coroutine(), self._loop)

    def on_loop(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Runs a coroutine as a task of the loop."""
        return asyncio.run_coroutine_threadsafe(work(), self._loop).result(60)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


FACES: dict[str, Callable[[], Face]] = {"threads": Threads, "asyncio": Loop}
