"""The permit: the guard in hand."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from . import _call, _native
from ._ask import HandOverAsk, hear, wait
from ._block import Block, raise_it
from ._grip import lost
from ._want import Seconds, in_seconds
from .errors import Forked, Lost, NotHeld

if TYPE_CHECKING:
    from ._connection import Seinpaal


class Permit(Block):
    """Permits that are held, until this is released, its block ends, or nobody has it any more.

    It is renewed by a thread that needs neither the GIL nor an event loop. A permit belongs to the
    process that acquired it: a child that inherited it holds nothing.
    """

    def __init__(self, connection: Seinpaal, native: _native.Permit) -> None:
        # Kept, so that a forked child can close the descriptors that it inherited.
        self._connection = connection
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
        """The number of the grant, which grows with every grant. Give it to what you write to."""
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
        """The name of the lowest slot; ``None`` if the slots have no names."""
        return next(iter(self._native.slot_names), None)

    @property
    def slot_names(self) -> tuple[str, ...]:
        """The names of all slots held; empty if the slots have no names."""
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
        """Whether the permit is held at this moment, by the clock."""
        return not self._is_inherited and self._native.is_held

    @property
    def remaining(self) -> float | None:
        """How many seconds it is certain to be held if the store is not heard from again.

        ``None``: for as long as this process lives.
        """
        return 0.0 if self._is_inherited else self._native.remaining

    @property
    def lost(self) -> Lost | None:
        """How it was lost, if it was."""
        if self._is_inherited:
            return lost(self.name, str(self._forked()))
        how = self._native.lost
        return lost(self.name, how) if how is not None else None

    def on_lost(self, callback: Callable[[Lost], None]) -> None:
        """Calls ``callback`` once when the permit is lost, on a thread of this package.

        If the permit is lost already, that is at once. The callback is not called when the permit
        is given back, nor in a child process.
        """
        self._check()
        name = self.name
        _call.tell(self._native.watch(), lambda how: callback(lost(name, how)))

    def asked(self, timeout: Seconds | None = None) -> HandOverAsk | None:
        """Waits until somebody asks that the permit be handed over, and returns who and why.

        ``None``: nobody asked in this time. The permit stays held: the holder decides. Each ask is
        told once, also one that came before anybody waited here. Raises :exc:`Lost` if the permit
        is lost first. ``asked(0)`` looks, and does not wait.
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
        """As `asked`, from asyncio. No ask is lost if the task is cancelled."""
        self._check()
        while True:
            call = self._native.watch_asks()
            await _call.until_done(call)
            ask = self._fetched(call)
            if ask is not None:
                return ask

    def _fetched(self, call: _native.Call[bool]) -> HandOverAsk | None:
        """The next ask; ``None`` if another thread or task has fetched it."""
        try:
            is_asked = call.take()
        except RuntimeError:
            raise NotHeld("the permit was given back") from None
        if not is_asked:
            raise_it(self.lost)
        ask = self._native.take_ask()
        return HandOverAsk(*ask) if ask is not None else None

    def on_asked(self, callback: Callable[[HandOverAsk], None]) -> None:
        """Calls ``callback`` with each ask, on a thread of this package; not in a child process."""
        self._check()
        hear(weakref.ref(self), callback)

    def downgrade(self) -> Permit:
        """Makes a reader of a writer, with no moment in between for another writer."""
        self._check()
        return Permit(self._connection, self._native.downgrade().wait())

    async def downgrade_async(self) -> Permit:
        """As `downgrade`, from asyncio."""
        self._check()
        return Permit(self._connection, await _call.run(self._native.downgrade()))

    def detach(self) -> str:
        """Leaves the permit held for one more ttl, and returns its ticket.

        Another process can attach to the ticket.
        """
        self._check()
        return self._native.detach().wait()

    async def detach_async(self) -> str:
        """As `detach`, from asyncio."""
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


class PermitSet(Block):
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
