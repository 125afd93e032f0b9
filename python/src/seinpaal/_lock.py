"""Semaphores, mutexes and readers-writer locks: names, and the ways to ask for a permit."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from . import _call, _native
from ._permit import Permit
from ._want import Options, Want, names_in
from .errors import ReleaseError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._connection import Seinpaal

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Snapshot:
    """A name at one moment."""

    #: The limit in force.
    limit: int
    #: The reason for which the name is paused, if it is.
    paused: str | None
    #: How many permits are held.
    permits_held: int
    #: How many tickets hold.
    holders_total: int
    #: How many tickets wait.
    waiting_total: int
    #: The first tickets that hold, in the order of their grants.
    holders: list[str]
    #: The first tickets that wait, in the order of service.
    waiters: list[str]
    #: The names of the slots, from slot 0 up. Empty if the slots have no names.
    slot_names: list[str]


def _snapshot(read: dict[str, Any]) -> Snapshot:
    return Snapshot(**read)


#: Held for a moment by each thread that enters or leaves a block. Reentrant, because a signal
#: handler or a finalizer may enter or leave a block while its thread does so.
_mutex = threading.RLock()


def _after_fork() -> None:
    """Forgets the holder of the mutex, which may be a thread of the parent."""
    global _mutex
    _mutex = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


class _Entered:
    """The permits of blocks that are open, by the thread or task that entered them."""

    def __init__(self) -> None:
        self._permits: dict[object, list[Permit]] = {}

    def push(self, permit: Permit) -> Permit:
        with _mutex:
            self._permits.setdefault(_here(), []).append(permit)
        return permit

    def pop(self) -> Permit | None:
        """The permit of the block that is left here, or ``None`` if that is ambiguous.

        A block that another thread or task has entered is known if it is the only one.
        """
        with _mutex:
            here = _here()
            if here not in self._permits and self.count() == 1:
                here = next(iter(self._permits))
            permits = self._permits.get(here)
            if permits is None:
                return None
            permit = permits.pop()
            if not permits:
                del self._permits[here]
            return permit

    def count(self) -> int:
        """The number of open blocks."""
        with _mutex:
            return sum(map(len, self._permits.values()))

    def forget(self, permit: Permit) -> None:
        """Removes a permit that may be there."""
        with _mutex:
            permits = self._permits.get(_here(), [])
            if permit in permits:
                permits.remove(permit)
            if not permits:
                self._permits.pop(_here(), None)


def _here() -> object:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    return task if task is not None else threading.get_ident()


class Holding:
    """Holds a permit for the length of a block, or of each call of a function.

    ``with``, ``async with``, and a decorator of functions and coroutine functions. It may be
    entered by any number of threads and tasks at once; each has a permit of its own.

    A block finds its permit by the thread or task, so it must be left where it was entered. A
    generator that is resumed on other threads, as a dependency of FastAPI is, enters
    ``with lock.acquire() as permit:`` instead, which has no such tie.
    """

    def __init__(self, lock: Lock, options: Options) -> None:
        self._lock = lock
        self._options = options
        self._entered = _Entered()

    def __enter__(self) -> Permit:
        permit = self._lock.acquire(**self._options)
        try:
            return self._entered.push(permit).__enter__()
        except BaseException:
            # A signal handler has raised, so the block is not entered and ``__exit__`` will not be
            # called.
            self._entered.forget(permit)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._left().__exit__(kind, raised, trace)

    async def __aenter__(self) -> Permit:
        permit = await self._lock.acquire_async(**self._options)
        return await self._entered.push(permit).__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._left().__aexit__(kind, raised, trace)

    def _left(self) -> Permit:
        """The permit of the block that is left."""
        permit = self._entered.pop()
        if permit is None:
            raise ReleaseError(
                f"{self._lock.name}: a block is left by a thread or task that has entered none, and it could be any "
                f"of {self._entered.count()}, so no permit is given back: a block that another thread or task leaves "
                "has to be `with lock.acquire() as permit:`"
            )
        return permit

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorates a function, or a coroutine function: each call holds a permit.

        Not a generator function: the call is over before the generator begins.
        """
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError("a generator function takes its permit inside: `with lock.acquire():`")
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def held_async(*args: P.args, **kwargs: P.kwargs) -> Any:
                async with self:
                    return await function(*args, **kwargs)

            return cast("Callable[P, R]", held_async)

        @functools.wraps(function)
        def held(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return held

    def _wanted(self) -> Want:
        return self._lock._want.described(self._options)


class Lock(Holding):
    """A name with permits: ``with lock:``, ``async with lock:``, ``@lock``, or :meth:`acquire`.

    Waiters are served in the order in which they came. Nothing is sent before a permit is wanted.
    """

    def __init__(self, connection: Seinpaal, want: Want) -> None:
        super().__init__(self, {})
        self._connection = connection
        self._want = want

    @property
    def name(self) -> str:
        """The name."""
        return self._want.name

    def holding(self, **options: Unpack[Options]) -> Holding:
        """The lock with options: ``with gpus.holding(timeout=10, permits=2) as permit:``."""
        return Holding(self, options)

    def acquire(self, **options: Unpack[Options]) -> Permit:
        """Waits in line for a permit, for as long as it takes or until ``timeout``.

        Only the calling thread waits. On the main thread a signal handler that raises, such as that
        of Ctrl-C, ends the wait within 100 ms, and nothing stays held or queued.
        """
        call = self._connection._here().acquire(self._want.described(options))
        return Permit(self._connection, call.wait())

    async def acquire_async(self, **options: Unpack[Options]) -> Permit:
        """As `acquire`, from asyncio. A cancelled task leaves the line, and nothing stays held."""
        native = await self._connection._here_async()
        call = native.acquire(self._want.described(options))
        return Permit(self._connection, await _call.run(call))

    def try_acquire(self, **options: Unpack[Options]) -> Permit | None:
        """A permit, or ``None`` if none is free. ``timeout`` is for the store's answer (5 s)."""
        call = self._connection._here().try_acquire(self._want.described(options))
        permit = call.wait()
        return Permit(self._connection, permit) if permit is not None else None

    async def try_acquire_async(self, **options: Unpack[Options]) -> Permit | None:
        """As `try_acquire`, from asyncio."""
        native = await self._connection._here_async()
        permit = await _call.run(native.try_acquire(self._want.described(options)))
        return Permit(self._connection, permit) if permit is not None else None

    def attach(self, ticket: str, **options: Unpack[Options]) -> Permit:
        """Becomes the holder of a detached ticket. If the ticket is held, its holder loses it."""
        want = self._want.described(options)
        return Permit(self._connection, self._connection._here().attach(want, ticket).wait())

    def snapshot(self) -> Snapshot:
        """Reads the holders and waiters."""
        return _snapshot(self._connection._here().snapshot(self._want).wait())

    async def snapshot_async(self) -> Snapshot:
        """As `snapshot`, from asyncio."""
        native = await self._connection._here_async()
        return _snapshot(await _call.run(native.snapshot(self._want)))

    def evict(self, ticket: str) -> None:
        """Ends the lease or the place in line of another client, which learns of it at once."""
        self._connection._here().evict(self._want, ticket).wait()

    def pause(self, reason: str) -> None:
        """Admits nobody until :meth:`resume`. Holders keep their permits."""
        self._connection._here().pause(self._want, reason).wait()

    def resume(self) -> None:
        """Admits again."""
        self._connection._here().pause(self._want, None).wait()

    def __reduce__(self) -> tuple[type[Lock], tuple[Seinpaal, Want]]:
        """Pickles the lock, so that it can be sent to another process."""
        return type(self), (self._connection, self._want)

    def __repr__(self) -> str:
        return f"<seinpaal.{type(self).__name__} {self.name!r}>"


class Semaphore(Lock):
    """At most ``limit`` permits of a name are held at once, over all clients of the store."""

    def set_limit(self, limit: int) -> None:
        """Sets the limit as an operator. Until it is unset, it overrides what callers state."""
        self._connection._here().set_limit(self._want, limit).wait()

    def name_slots(self, names: Sequence[str]) -> None:
        """Gives the slots these names, from slot 0 up, and sets the limit to their number.

        While anybody holds or waits, names can only be added at the end. Setting or unsetting the
        limit removes them.
        """
        self._connection._here().name_slots(self._want, list(names_in(names))).wait()

    def unset_limit(self) -> None:
        """Removes a limit that was set, and the names of slots."""
        self._connection._here().set_limit(self._want, None).wait()


class Mutex(Lock):
    """One holder at a time."""


@dataclass(frozen=True)
class RwLock:
    """Many readers or one writer. Readers and writers stand in one line, so neither starves."""

    #: The lock of a reader.
    read: Lock
    #: The lock of the writer.
    write: Lock
