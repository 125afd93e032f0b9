"""The connection to a store."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Coroutine, Generator, Sequence
from types import TracebackType
from typing import Any, NoReturn, cast

from . import _call, _fork, _native
from ._lock import Holding, Lock, Mutex, RwLock, Semaphore
from ._permit import PermitSet
from ._queue import Queue
from ._want import OnMismatch, Seconds, Want, hinting, in_seconds, want
from .errors import BlocksLoop

#: How long the end of the program waits for a store to take permits and items back.
_AT_EXIT = 1.0


class Seinpaal:
    """A connection to a store: one for a program is enough, for any number of threads and tasks.

    It has a thread of its own, which renews what is held and needs neither the GIL nor an event
    loop. A forked child that uses it gets a connection of its own on first use.
    """

    def __init__(self, url: str, client: str, ttl: float | None, patience: float | None) -> None:
        self._url = url
        self._client = client
        self._ttl = ttl
        self._patience = patience
        self._process = 0
        self._connection: _native.Connection | None = None
        self._inherited: list[_native.Connection] = []
        # A thread holds the first lock for as long as it connects. The second is held for a moment
        # only, so tasks of an event loop can take it.
        self._connecting, self._noting = threading.Lock(), threading.Lock()
        # The object is noted before it connects, because a child may be forked while another thread
        # holds the first lock.
        _fork.note(self)

    # ---- names

    def semaphore(
        self,
        name: str,
        limit: int | None = None,
        *,
        exactly: bool = False,
        on_mismatch: OnMismatch = "refuse",
    ) -> Semaphore:
        """At most ``limit`` permits of this name are held at once, over all clients of the store.

        Without a limit: what the others stated, else 1. A limit of 0 admits nobody.

        ``on_mismatch`` is for the case that clients that hold or wait have stated another limit:
        ``"refuse"`` is :exc:`errors.OtherLimit`, ``"adopt"`` uses theirs, ``"set"`` sets this one
        for all, and ``"exact"``, or ``exactly=True``, also refuses one that an operator has set.
        """
        on_mismatch = "exact" if exactly else on_mismatch
        return Semaphore(self, want("semaphore", name, limit, on_mismatch))

    def mutex(self, name: str) -> Mutex:
        """One holder at a time."""
        return Mutex(self, want("mutex", name))

    def rwlock(self, name: str) -> RwLock:
        """Many readers or one writer: ``with lock.read:``, ``with lock.write:``."""
        return RwLock(Lock(self, want("read", name)), Lock(self, want("write", name)))

    def queue(self, name: str) -> Queue:
        """A queue of items that wait for workers."""
        return Queue(self, name)

    # ---- several names at once

    @hinting
    def acquire_all(self, *wanted: Lock | Holding, timeout: Seconds | None = None) -> PermitSet:
        """Permits of several names: all or none.

        Nobody waits in a circle, whatever order the names are given in. In an event loop this does
        not wait: ``async with store.acquire_all(one, two) as both:`` does, or ``await``.
        """
        if _call.has_loop():
            return cast(PermitSet, _AllLater(self.acquire_all_async(*wanted, timeout=timeout)))
        _call.refuse_in_loop("acquire_all()", "acquire_all_async()")
        call = self._here().acquire_all(_wants(wanted), in_seconds(timeout))
        return PermitSet(self, call.wait())

    @hinting
    async def acquire_all_async(
        self, *wanted: Lock | Holding, timeout: Seconds | None = None
    ) -> PermitSet:
        """As `acquire_all`, from asyncio."""
        native = await self._here_async()
        call = native.acquire_all(_wants(wanted), in_seconds(timeout))
        return PermitSet(self, await _call.run(call))

    @hinting
    def try_acquire_all(self, *wanted: Lock | Holding) -> PermitSet | None:
        """Permits of several names if all can be had now, else ``None``."""
        permits = self._here().try_acquire_all(_wants(wanted)).wait()
        return PermitSet(self, permits) if permits is not None else None

    @hinting
    async def try_acquire_all_async(self, *wanted: Lock | Holding) -> PermitSet | None:
        """As `try_acquire_all`, from asyncio."""
        native = await self._here_async()
        permits = await _call.run(native.try_acquire_all(_wants(wanted)))
        return PermitSet(self, permits) if permits is not None else None

    # ---- the connection

    @property
    def address(self) -> str:
        """The address of the store, without a password."""
        return self._here().address

    def close(self) -> None:
        """Gives back everything and ends every wait. The store has 10 s to confirm that."""
        if (connection := self._connection) is not None and self._is_connected():
            connection.close().wait()

    async def close_async(self) -> None:
        """As `close`, from asyncio."""
        if (connection := self._connection) is not None and self._is_connected():
            await _call.run(connection.close())

    def __enter__(self) -> Seinpaal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Seinpaal:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close_async()

    # ---- inside

    def _here(self) -> _native.Connection:
        """The connection of this process, made on first use after a fork."""
        if not self._is_connected():
            with self._connecting:
                if not self._is_connected():
                    self._keep(self._call().wait())
        assert self._connection is not None
        return self._connection

    async def _here_async(self) -> _native.Connection:
        if not self._is_connected():
            self._keep(await _call.run(self._call()))
        assert self._connection is not None
        return self._connection

    def _call(self) -> _native.Call[_native.Connection]:
        _fork.open_here(self._url)
        url = _fork.url_here(self._url)
        return _native.connect(url, self._client, self._ttl, self._patience)

    def _is_connected(self) -> bool:
        return self._connection is not None and self._process == os.getpid()

    def _keep(self, connection: _native.Connection) -> None:
        """Keeps a connection. If another thread or task was quicker, its drop closes it."""
        with self._noting:
            if self._is_connected():
                return
            self._connection, self._process = connection, os.getpid()
        _close_at_end_of_child()

    def __repr__(self) -> str:
        kind = self._url.partition(":")[0]  # The rest may have a password.
        return f"<seinpaal.Seinpaal {kind}:, {'' if self._is_connected() else 'not '}connected>"

    def __reduce__(self) -> tuple[type[Seinpaal], tuple[str, str, float | None, float | None]]:
        """Pickles the arguments: a process that receives them connects anew, on first use."""
        return Seinpaal, (self._url, self._client, self._ttl, self._patience)

    def _after_fork(self) -> None:
        """Never drops what was inherited.

        Closes what would show that the parent lives, and what would keep others out if the parent
        was killed inside a call.
        """
        self._connecting, self._noting = threading.Lock(), threading.Lock()
        if self._connection is None:
            return
        self._inherited.append(self._connection)
        inherited = self._connection.fork_fds
        self._connection = None
        for descriptor in inherited or ():
            os.close(descriptor)


class _AllLater:
    """What `acquire_all` returns in an event loop: nothing is held before ``async with``."""

    def __init__(self, begun: Coroutine[Any, Any, PermitSet]) -> None:
        self._begun = begun

    def __await__(self) -> Generator[Any, Any, PermitSet]:
        return self._begun.__await__()

    async def __aenter__(self) -> PermitSet:
        self._permits = await self
        return await self._permits.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._permits.__aexit__(kind, raised, trace)

    def __enter__(self) -> NoReturn:
        self._begun.close()
        _call.refuse_in_loop("`with store.acquire_all()`", "`async with`")
        raise RuntimeError("it was made in an event loop")

    def __exit__(self, *raised: object) -> None:
        pass

    def __getattr__(self, name: str) -> NoReturn:
        raise BlocksLoop(
            f"acquire_all() holds nothing yet, so it has no {name!r}: in an event loop, `async with` or `await` it"
        )


def _wants(wanted: Sequence[Lock | Holding]) -> list[Want]:
    return [one._want for one in wanted]


def _close_all() -> None:
    """Gives back everything at the end of the program, if the store answers within a second."""
    for connection in _fork.connections():
        if connection._connection is not None and connection._process == os.getpid():
            connection._connection.close().wait_for(_AT_EXIT)


atexit.register(_close_all)


def _close_at_end_of_child() -> None:
    """Registers the clean-up with multiprocessing, whose children do not run atexit's functions."""
    process, util = map(sys.modules.get, ("multiprocessing.process", "multiprocessing.util"))
    if process is not None and util is not None and process.parent_process() is not None:
        util.Finalize(None, _close_all, exitpriority=-10)
