"""The permit: the guard in hand."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING

from . import _call, _native
from ._ask import HandOverAsk, hear, wait
from ._grip import Cancellation, lost
from ._wish import Seconds, in_seconds
from .errors import Error, Forked, Lost, NotHeld

if TYPE_CHECKING:
    from ._connection import Seinpaal


class _Block:
    """What a permit and a set of permits have in common: ``with``, and ``async with``."""

    _cancellation: Cancellation | None = None

    def _all(self) -> tuple[Permit, ...]:
        raise NotImplementedError

    def _trouble(self) -> Error | None:
        """Why the end of a block must raise, whatever the store says."""
        for permit in self._all():
            if permit._is_inherited:
                return permit._forked()
        return self.lost

    @property
    def lost(self) -> Lost | None:
        """How it was lost, if it was; by the clock, and not by what was last noted."""
        return next((one.lost for one in self._all() if one.lost is not None), None)

    @property
    def is_held(self) -> bool:
        """Whether all are held at this moment."""
        return all(permit.is_held for permit in self._all())

    def _give_back(self) -> list[_native.Call[None]]:
        """Calls that give back what was not given back inside the block."""
        open_permits = [one for one in self._all() if not one._is_inherited]
        return [one._native.release() for one in open_permits if not one._native.is_given_back]

    def release(self) -> None:
        """Gives back, and waits until the store has confirmed it, for at most 5 s.

        A wait that is interrupted, and one that ends with :exc:`ReleaseUnknown`, goes on in the background.
        """
        _first_error([_outcome(call) for call in self._released()])

    async def release_async(self) -> None:
        """The same, from asyncio."""
        _first_error([await _outcome_async(call) for call in self._released()])

    def _released(self) -> list[_native.Call[None]]:
        for permit in self._all():
            permit._check()
        calls = self._give_back()
        if not calls:
            raise NotHeld("the permits had been given back before")
        return calls

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        trouble = self._trouble()
        calls = self._give_back()
        if trouble is not None:
            _drop(calls)
        else:
            trouble = _as_loss(_first([_outcome(call) for call in calls]))
        if raised is None:
            _raise(trouble)

    async def _enter_async(self) -> None:
        for permit in self._all():
            permit._check()
        self._cancellation = Cancellation([permit._native for permit in self._all()])

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        cancellation, self._cancellation = self._cancellation, None
        is_ours = cancellation is not None and cancellation.end(kind)
        trouble = self._trouble()
        calls = self._give_back()
        if trouble is not None or is_ours:
            _drop(calls)
        else:
            trouble = _as_loss(_first([await _outcome_async(call) for call in calls]))
        if is_ours:
            raise trouble or Lost("lost") from raised
        if raised is None:
            _raise(trouble)


def _drop(calls: list[_native.Call[None]]) -> None:
    """Gives back in the background."""
    for call in calls:
        call.cancel()


def _outcome(call: _native.Call[None]) -> Error | None:
    try:
        call.wait()
    except Error as error:
        return error
    return None


async def _outcome_async(call: _native.Call[None]) -> Error | None:
    try:
        await _call.run(call)
    except Error as error:
        return error
    return None


def _as_loss(error: Error | None) -> Error | None:
    return Lost(str(error)) if isinstance(error, NotHeld) else error


def _first(outcomes: list[Error | None]) -> Error | None:
    return next((bad for bad in outcomes if bad is not None), None)


def _first_error(outcomes: list[Error | None]) -> None:
    _raise(_first(outcomes))


def _raise(trouble: Error | None) -> None:
    if trouble is not None:
        raise trouble


class Permit(_Block):
    """Permits that are held, until this is released, its block ends, or nobody has it any more.

    It is renewed by a thread that needs neither the GIL nor an event loop. A permit belongs to the process that
    acquired it: a child that inherited it holds nothing.
    """

    def __init__(self, connection: Seinpaal, native: _native.Permit) -> None:
        self._connection = connection  # Kept, so that a child can close what it inherited.
        self._native = native
        self._process = os.getpid()

    def _all(self) -> tuple[Permit, ...]:
        return (self,)

    @property
    def name(self) -> str:
        """The name."""
        return self._native.name

    @property
    def fence(self) -> int:
        """The number of the grant, which grows with every grant of the name. Give it to what you write to."""
        return self._native.fence

    @property
    def ticket(self) -> str:
        """The id of the request, by which it can be evicted, or attached to."""
        return self._native.ticket

    @property
    def slot(self) -> int:
        """The lowest slot held, from 0."""
        return self._native.slot

    @property
    def slots(self) -> tuple[int, ...]:
        """All slots held; of a writer's million, the first 1024."""
        return tuple(self._native.slots)

    @property
    def slot_name(self) -> str | None:
        """What the lowest slot is called; ``None`` if the slots have no names."""
        return next(iter(self._native.slot_names), None)

    @property
    def slot_names(self) -> tuple[str, ...]:
        """What all slots held are called; empty if the slots have no names."""
        return tuple(self._native.slot_names)

    @property
    def permits(self) -> int:
        """How many permits this is."""
        return self._native.permits

    @property
    def limit(self) -> int:
        """The limit at the grant."""
        return self._native.limit

    @property
    def is_held(self) -> bool:
        """Whether it is held at this moment, by the clock."""
        return not self._is_inherited and self._native.is_held

    @property
    def remaining(self) -> float | None:
        """How many seconds it is certain to be held if the store is not heard from; ``None``: while this process lives."""
        return 0.0 if self._is_inherited else self._native.remaining

    @property
    def lost(self) -> Lost | None:
        """How it was lost, if it was."""
        if self._is_inherited:
            return lost(self.name, str(self._forked()))
        how = self._native.lost
        return lost(self.name, how) if how is not None else None

    def on_lost(self, callback: Callable[[Lost], None]) -> None:
        """Calls ``callback`` once when it is lost, on a thread of this package; at once if it is lost already.

        It is not called when the permit is given back, nor in a child process.
        """
        self._check()
        name = self.name
        _call.tell(self._native.watch(), lambda how: callback(lost(name, how)))

    def asked(self, timeout: Seconds | None = None) -> HandOverAsk | None:
        """Waits until somebody asks that the permit be handed over, and says who and why; ``None``: not in this time.

        It stays held: the holder decides. Each ask is told once, also one that came before anybody waited here. Raises
        :exc:`Lost` if the permit is lost first. ``asked(0)`` looks, and does not wait.
        """
        self._check()
        seconds = in_seconds(timeout)
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            call = self._native.watch_asks()
            if not wait(call, end):
                return None
            ask = self._fetched(call)
            if ask is not None:
                return ask

    async def asked_async(self) -> HandOverAsk:
        """The same, from asyncio. No ask is lost if the task is cancelled."""
        self._check()
        while True:
            call = self._native.watch_asks()
            await _call.until_done(call)
            ask = self._fetched(call)
            if ask is not None:
                return ask

    def _fetched(self, call: _native.Call[bool]) -> HandOverAsk | None:
        """The next ask; ``None`` if another one was faster."""
        try:
            is_asked = call.take()
        except RuntimeError:
            raise NotHeld("the permit was given back") from None
        if not is_asked:
            _raise(self.lost)
        ask = self._native.take_ask()
        return HandOverAsk(*ask) if ask is not None else None

    def on_asked(self, callback: Callable[[HandOverAsk], None]) -> None:
        """Calls ``callback`` each time that somebody asks, on a thread of this package; not in a child process."""
        self._check()
        hear(weakref.ref(self), callback)

    def downgrade(self) -> Permit:
        """Makes a reader of a writer, with no moment in between for another writer."""
        self._check()
        return Permit(self._connection, self._native.downgrade().wait())

    async def downgrade_async(self) -> Permit:
        """The same, from asyncio."""
        self._check()
        return Permit(self._connection, await _call.run(self._native.downgrade()))

    def detach(self) -> str:
        """Leaves it held for one more ttl for whoever has the ticket, which is returned: another process attaches to it."""
        self._check()
        return self._native.detach().wait()

    async def detach_async(self) -> str:
        """The same, from asyncio."""
        self._check()
        return await _call.run(self._native.detach())

    def __enter__(self) -> Permit:
        self._check()
        return self

    async def __aenter__(self) -> Permit:
        await self._enter_async()
        return self

    def __repr__(self) -> str:
        state = "held" if self.is_held else "not held"
        return f"<seinpaal.Permit {self.name!r} slot {self.slot}, fence {self.fence}, {state}>"

    @property
    def _is_inherited(self) -> bool:
        return self._process != os.getpid()

    def _forked(self) -> Forked:
        return Forked(
            f"the permit of {self.name!r} belongs to process {self._process}, which this one was forked from: "
            "acquire another one here"
        )

    def _check(self) -> None:
        if self._is_inherited:
            raise self._forked()


class PermitSet(_Block):
    """Permits of several names, held together: if one is lost, all are taken for lost."""

    def __init__(self, permits: tuple[Permit, ...]) -> None:
        self._permits = permits

    def _all(self) -> tuple[Permit, ...]:
        return self._permits

    def __iter__(self) -> Iterator[Permit]:
        return iter(self._permits)

    def __len__(self) -> int:
        return len(self._permits)

    def __getitem__(self, place: int) -> Permit:
        return self._permits[place]

    def __enter__(self) -> PermitSet:
        for permit in self._permits:
            permit._check()
        return self

    async def __aenter__(self) -> PermitSet:
        await self._enter_async()
        return self
