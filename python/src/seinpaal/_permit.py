"""The permit: the guard in hand."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

from . import _call, _native
from ._block import Block
from ._grip import lost
from .errors import Lost


class Permit(Block):
    """Permits that are held until this is released, its block ends or nothing refers to it.

    It is renewed by a thread that needs neither the GIL nor an event loop. A permit belongs to the
    process that acquired it: a child that inherited it holds nothing.
    """

    @property
    def _native(self) -> _native.Permit:
        return self._natives[0]

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
        """All slots that are held. For a writer, the first 1024 of its million."""
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
        """The number of permits."""
        return self._native.permits

    @property
    def limit(self) -> int:
        """The limit at the grant."""
        return self._native.limit

    @property
    def remaining(self) -> float | None:
        """How many seconds it is certain to be held if the store is not heard from again.

        ``None``: for as long as this process lives.
        """
        return 0.0 if self._is_inherited else self._native.remaining

    def on_lost(self, callback: Callable[[Lost], None]) -> None:
        """Calls ``callback`` once when the permit is lost, on a thread of its own.

        If the permit is lost already, the call is at once. The callback is not called when the
        permit is given back, which the end of the program and of the connection do, too, nor in a
        child process.
        """
        self._check()
        name = self.name
        _call.tell(self._native.watch(), lambda how: callback(lost(name, how)))

    def downgrade(self) -> Permit:
        """Makes a reader of a writer. No other writer is admitted in between."""
        self._check()
        return Permit(self._connection, [self._native.downgrade().wait()])

    async def downgrade_async(self) -> Permit:
        """As `downgrade`, from asyncio."""
        self._check()
        return Permit(self._connection, [await _call.run(self._native.downgrade())])

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

    async def __aenter__(self) -> Permit:
        self._enter_async()
        return self

    def __repr__(self) -> str:
        state = "held" if self.is_held else "not held"
        return f"<seinpaal.Permit {self.name!r} slot {self.slot}, fence {self.fence}, {state}>"


class PermitSet(Block):
    """Permits of several names, held together: if one is lost, all count as lost."""

    @functools.cached_property
    def _permits(self) -> tuple[Permit, ...]:
        return tuple(Permit(self._connection, [native]) for native in self._natives)

    def __iter__(self) -> Iterator[Permit]:
        return iter(self._permits)

    def __len__(self) -> int:
        return len(self._permits)

    def __getitem__(self, place: int) -> Permit:
        return self._permits[place]

    async def __aenter__(self) -> PermitSet:
        self._enter_async()
        return self

    def __repr__(self) -> str:
        state = "held" if self.is_held else "not held"
        return f"<seinpaal.PermitSet {self._names()!r}, {state}>"
