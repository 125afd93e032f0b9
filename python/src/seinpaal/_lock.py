"""Semaphores, mutexes and readers-writer locks: names, and the ways to ask for a permit."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar, cast

from . import _call, _native
from ._permit import Permit
from ._want import Seconds, Want, hinting, names_in, whole
from .errors import ReleaseError

if TYPE_CHECKING:
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


class _TaskBlocks:
    """The permits of the blocks of a lock that are open in a loop, by the task that entered them."""

    def __init__(self) -> None:
        self._permits: dict[asyncio.Task[Any] | None, list[Permit]] = {}

    def push(self, permit: Permit) -> None:
        self._permits.setdefault(asyncio.current_task(), []).append(permit)

    def pop(self) -> Permit | None:
        """The permit of the block that is left here, or ``None`` if that is ambiguous.

        A block that another task has entered is known if it is the only one.
        """
        here = asyncio.current_task()
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
        return sum(map(len, self._permits.values()))


class Holding(_native.Blocks):
    """Holds a permit for the length of a block, or of each call of a function.

    ``with``, ``async with``, and a decorator of functions and coroutine functions. It may be
    entered by any number of threads and tasks at once; each has a permit of its own.

    A block finds its permit by the thread or task, so it must be left where it was entered. A
    generator that is resumed on other threads, as a dependency of FastAPI is, enters
    ``with lock.acquire() as permit:`` instead, which has no such tie.
    """

    def __init__(self, lock: Lock, want: Want) -> None:
        self._lock = lock
        self._want = want

    # ``__enter__`` and ``__exit__`` are in the native half, which notes the block and its permit
    # where no signal handler can come in between.

    def _enter(self) -> Permit:
        _call.refuse_in_loop(f"`with` on {self._want.name!r}", "`async with`")
        native = self._lock._connection._here()
        return Permit(self._lock._connection, [native.acquire(self._want).wait()])

    async def __aenter__(self) -> Permit:
        permit = await self._lock._acquire_async(self._want)
        permit._enter_async()
        blocks = _call.desk_of(asyncio.get_running_loop()).blocks
        blocks.setdefault(self, _TaskBlocks()).push(permit)
        return permit

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not _call.has_loop():
            return  # The loop was closed with this task in it, and its permits have gone back.
        blocks = _call.desk_of(asyncio.get_running_loop()).blocks.get(self)
        permit = blocks.pop() if blocks is not None else None
        if permit is None:
            self._left_by_other(blocks.count() if blocks is not None else 0)
        await permit.__aexit__(kind, raised, trace)

    def _left_by_other(self, count: int) -> NoReturn:
        raise ReleaseError(
            f"{self._want.name}: a block is left by a thread or task that has entered none, and it could be any "
            f"of {count}, so no permit is given back: a block that another thread or task leaves "
            "has to be `with lock.acquire() as permit:`"
        )

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

    def __repr__(self) -> str:
        return f"<seinpaal.Holding of {self._lock!r}>"


class Lock(Holding):
    """A name with permits: ``with lock:``, ``async with lock:``, ``@lock``, or :meth:`acquire`.

    Waiters are served in the order in which they came. Nothing is sent before a permit is wanted.
    """

    def __init__(self, connection: Seinpaal, want: Want) -> None:
        super().__init__(self, want)
        self._connection = connection

    @property
    def name(self) -> str:
        """The name."""
        return self._want.name

    @hinting
    def holding(
        self,
        *,
        timeout: Seconds | None = None,
        permits: int = 1,
        priority: int = 0,
        ttl: Seconds | None = None,
        max_waiting: int | None = None,
        labels: Mapping[str, str] | None = None,
        slot_names: str | Sequence[str] = (),
    ) -> Holding:
        """The lock with options: ``with gpus.holding(timeout=10, permits=2) as permit:``.

        The options are those of :meth:`acquire`, and nothing is sent before the block is entered.
        """
        return Holding(self, self._want.described(timeout, permits, priority, ttl, max_waiting, labels, slot_names))

    @hinting
    def acquire(
        self,
        *,
        timeout: Seconds | None = None,
        permits: int = 1,
        priority: int = 0,
        ttl: Seconds | None = None,
        max_waiting: int | None = None,
        labels: Mapping[str, str] | None = None,
        slot_names: str | Sequence[str] = (),
    ) -> Permit:
        """Waits in line for a permit, for as long as it takes or until ``timeout``.

        ``permits``: how many, all or nothing. ``priority``: the rank among waiters, -100 to 100,
        higher first. ``ttl``: how long the lease lasts without renewal, 100 ms to 24 h (default:
        the connection's). ``max_waiting``: refuse the request if this many wait already.
        ``labels``: texts that are shown with the holder or waiter. ``slot_names``: wait for the
        slots with these names, one name or a list of at most as many names as permits.

        Only the calling thread waits. On the main thread a signal handler that raises, such as that
        of Ctrl-C, ends the wait within 100 ms, and nothing stays held or queued.
        """
        _call.refuse_in_loop("acquire()", "`async with lock.holding()` or `await lock.acquire_async()`")
        want = self._want.described(timeout, permits, priority, ttl, max_waiting, labels, slot_names)
        return Permit(self._connection, [self._connection._here().acquire(want).wait()])

    @hinting
    async def acquire_async(
        self,
        *,
        timeout: Seconds | None = None,
        permits: int = 1,
        priority: int = 0,
        ttl: Seconds | None = None,
        max_waiting: int | None = None,
        labels: Mapping[str, str] | None = None,
        slot_names: str | Sequence[str] = (),
    ) -> Permit:
        """As `acquire`, from asyncio. A cancelled task leaves the line, and nothing stays held."""
        want = self._want.described(timeout, permits, priority, ttl, max_waiting, labels, slot_names)
        return await self._acquire_async(want)

    async def _acquire_async(self, want: Want) -> Permit:
        native = await self._connection._here_async()
        return Permit(self._connection, [await _call.run(native.acquire(want))])

    @hinting
    def try_acquire(
        self,
        *,
        timeout: Seconds | None = None,
        permits: int = 1,
        priority: int = 0,
        ttl: Seconds | None = None,
        max_waiting: int | None = None,
        labels: Mapping[str, str] | None = None,
        slot_names: str | Sequence[str] = (),
    ) -> Permit | None:
        """A permit, or ``None`` if none is free. ``timeout`` is for the store's answer (5 s)."""
        want = self._want.described(timeout, permits, priority, ttl, max_waiting, labels, slot_names)
        permit = self._connection._here().try_acquire(want).wait()
        return Permit(self._connection, [permit]) if permit is not None else None

    @hinting
    async def try_acquire_async(
        self,
        *,
        timeout: Seconds | None = None,
        permits: int = 1,
        priority: int = 0,
        ttl: Seconds | None = None,
        max_waiting: int | None = None,
        labels: Mapping[str, str] | None = None,
        slot_names: str | Sequence[str] = (),
    ) -> Permit | None:
        """As `try_acquire`, from asyncio."""
        want = self._want.described(timeout, permits, priority, ttl, max_waiting, labels, slot_names)
        native = await self._connection._here_async()
        permit = await _call.run(native.try_acquire(want))
        return Permit(self._connection, [permit]) if permit is not None else None

    @hinting
    def attach(self, ticket: str, *, ttl: Seconds | None = None) -> Permit:
        """Becomes the holder of a detached ticket. If the ticket is held, its holder loses it."""
        want = self._want.described(ttl=ttl)
        return Permit(self._connection, [self._connection._here().attach(want, ticket).wait()])

    @hinting
    async def attach_async(self, ticket: str, *, ttl: Seconds | None = None) -> Permit:
        """As `attach`, from asyncio."""
        native = await self._connection._here_async()
        call = native.attach(self._want.described(ttl=ttl), ticket)
        return Permit(self._connection, [await _call.run(call)])

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

    async def evict_async(self, ticket: str) -> None:
        """As `evict`, from asyncio."""
        await _call.run((await self._connection._here_async()).evict(self._want, ticket))

    def pause(self, reason: str) -> None:
        """Admits nobody until :meth:`resume`. Holders keep their permits."""
        self._connection._here().pause(self._want, reason).wait()

    async def pause_async(self, reason: str) -> None:
        """As `pause`, from asyncio."""
        await _call.run((await self._connection._here_async()).pause(self._want, reason))

    def resume(self) -> None:
        """Admits again."""
        self._connection._here().pause(self._want, None).wait()

    async def resume_async(self) -> None:
        """As `resume`, from asyncio."""
        await _call.run((await self._connection._here_async()).pause(self._want, None))

    def __reduce__(self) -> tuple[type[Lock], tuple[Seinpaal, Want]]:
        """Pickles the lock, so that it can be sent to another process."""
        return type(self), (self._connection, self._want)

    def __repr__(self) -> str:
        return f"<seinpaal.{type(self).__name__} {self.name!r}>"


class Semaphore(Lock):
    """At most ``limit`` permits of a name are held at once, over all clients of the store."""

    def set_limit(self, limit: int) -> None:
        """Sets the limit as an operator. Until it is unset, it overrides what callers state."""
        self._connection._here().set_limit(self._want, whole("limit", limit)).wait()

    async def set_limit_async(self, limit: int) -> None:
        """As `set_limit`, from asyncio."""
        native = await self._connection._here_async()
        await _call.run(native.set_limit(self._want, whole("limit", limit)))

    def name_slots(self, names: Sequence[str]) -> None:
        """Gives the slots these names, from slot 0 up, and sets the limit to their number.

        While anybody holds or waits, names can only be added at the end. Setting or unsetting the
        limit removes them.
        """
        self._connection._here().name_slots(self._want, list(names_in(names))).wait()

    async def name_slots_async(self, names: Sequence[str]) -> None:
        """As `name_slots`, from asyncio."""
        native = await self._connection._here_async()
        await _call.run(native.name_slots(self._want, list(names_in(names))))

    def unset_limit(self) -> None:
        """Removes a limit that was set, and the names of slots."""
        self._connection._here().set_limit(self._want, None).wait()

    async def unset_limit_async(self) -> None:
        """As `unset_limit`, from asyncio."""
        native = await self._connection._here_async()
        await _call.run(native.set_limit(self._want, None))


class Mutex(Lock):
    """One holder at a time."""


@dataclass(frozen=True)
class RwLock:
    """Many readers or one writer. Readers and writers stand in one line, so neither starves."""

    #: The lock of a reader.
    read: Lock
    #: The lock of the writer.
    write: Lock
