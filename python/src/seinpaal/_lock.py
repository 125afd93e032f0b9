"""Semaphores, mutexes and readers-writer locks: names, and the ways to ask for a permit."""

from __future__ import annotations

import asyncio
import functools
import getpass
import inspect
import os
import platform
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from . import _call, _native
from ._ask import HandOverAsk
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
    #: Why the name is paused, if it is.
    paused: str | None
    #: How many permits are held.
    permits_held: int
    #: How many tickets hold.
    holders_total: int
    #: How many tickets wait.
    waiting_total: int
    #: The tickets that hold, in order of their grants, perhaps not all.
    holders: list[str]
    #: The tickets that wait, in the order in which they will be served, perhaps not all.
    waiters: list[str]
    #: What the slots are called, from slot 0 up; empty if they have no names.
    slot_names: list[str]
    #: Who asked which ticket to hand over, the oldest first; of those in ``holders``.
    asks: dict[str, list[HandOverAsk]]


def _snapshot(read: dict[str, Any]) -> Snapshot:
    asks = read.pop("asks").items()
    told = {ticket: [HandOverAsk(*ask) for ask in asked] for ticket, asked in asks}
    return Snapshot(**read, asks=told)


#: Held for a moment by whoever enters or leaves a block. A signal handler and a finalizer may do so
#: while their own thread does.
_mutex = threading.RLock()


def _after_fork() -> None:
    """Forgets who held the mutex: perhaps a thread of the parent."""
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
        """The permit of the block that is left here; ``None``: nobody can say which one that is.

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
        """How many blocks are open."""
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
            # A signal handler has raised: the block is not entered, and nobody will leave it.
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
        """Becomes the holder of a ticket that was detached. If it is held, its holder loses it."""
        want = self._want.described(options)
        return Permit(self._connection, self._connection._here().attach(want, ticket).wait())

    def snapshot(self) -> Snapshot:
        """Reads who holds and who waits."""
        return _snapshot(self._connection._here().snapshot(self._want).wait())

    async def snapshot_async(self) -> Snapshot:
        """As `snapshot`, from asyncio."""
        native = await self._connection._here_async()
        return _snapshot(await _call.run(native.snapshot(self._want)))

    def evict(self, ticket: str) -> None:
        """Ends somebody's lease or place in the line. Its owner learns of it at once."""
        self._connection._here().evict(self._want, ticket).wait()

    def ask_holder(self, ticket: str, reason: str, *, by: str | None = None) -> None:
        """Asks the holder of a ticket to hand over. The holder decides.

        It is told by its next renewal at the latest. ``by`` is who asks, by default this user at
        this host: 1 to 128 bytes. ``reason`` has 1 to 512. A quorum refuses it.
        """
        self._asked(self._connection._here(), ticket, reason, by).wait()

    async def ask_holder_async(self, ticket: str, reason: str, *, by: str | None = None) -> None:
        """As `ask_holder`, from asyncio."""
        native = await self._connection._here_async()
        await _call.run(self._asked(native, ticket, reason, by))

    def _asked(
        self, native: _native.Connection, ticket: str, reason: str, by: str | None
    ) -> _native.Call[None]:
        return native.ask_holder(self._want, ticket, _this_user() if by is None else by, reason)

    def pause(self, reason: str) -> None:
        """Admits nobody until :meth:`resume`; who holds, holds."""
        self._connection._here().pause(self._want, reason).wait()

    def resume(self) -> None:
        """Admits again."""
        self._connection._here().pause(self._want, None).wait()

    def __reduce__(self) -> tuple[type[Lock], tuple[Seinpaal, Want]]:
        """It can be sent to another process."""
        return type(self), (self._connection, self._want)

    def __repr__(self) -> str:
        return f"<seinpaal.{type(self).__name__} {self.name!r}>"


class Semaphore(Lock):
    """At most ``limit`` permits of a name are held at once, by anybody on the same store."""

    def set_limit(self, limit: int) -> None:
        """Sets the limit as an operator: in force whatever callers state, until it is unset."""
        self._connection._here().set_limit(self._want, limit).wait()

    def name_slots(self, names: Sequence[str]) -> None:
        """Gives the slots these names, from slot 0 up, and sets the limit to how many they are.

        While anybody holds or waits, names can only be added at the end. Setting or unsetting the
        limit removes them.
        """
        self._connection._here().name_slots(self._want, list(names_in(names))).wait()

    def unset_limit(self) -> None:
        """Lets go of a limit that was set, and of the names of slots."""
        self._connection._here().set_limit(self._want, None).wait()


def _this_user() -> str:
    """USER@HOST, by which people know each other on several machines."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return f"{user}@{platform.node()}"


class Mutex(Lock):
    """One holder at a time."""


@dataclass(frozen=True)
class RwLock:
    """Many readers or one writer. Readers and writers stand in one line, so neither starves."""

    #: The lock of a reader.
    read: Lock
    #: The lock of the writer.
    write: Lock
