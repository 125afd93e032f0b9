"""Queues: items that wait for somebody to work on them, and the item in hand."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _call, _native
from ._grip import Cancellation, lost
from ._wish import Letter, Pick, Seconds, in_seconds
from .errors import Error, Forked, Lost

if TYPE_CHECKING:
    from ._connection import Seinpaal
    from ._worker import Worker


@dataclass(frozen=True)
class Pushed:
    """What became of a push."""

    #: The number of the item.
    id: int
    #: Whether an item with this deduplication key was there already: then ``id`` is that one's.
    is_duplicate: bool


@dataclass(frozen=True)
class QueueSnapshot:
    """A queue at one moment: counts of items, and the limit of those in work."""

    limit: int | None
    paused: str | None
    ready: int
    delayed: int
    in_work: int
    dead: int
    #: Connections that want more items.
    idle: int


class GiveBack(Exception):
    """Raised by a handler to leave its item to somebody else, after ``delay``. The delivery does not count."""

    def __init__(self, delay: Seconds = 0.0) -> None:
        super().__init__("given back")
        self.delay = delay


class Queue:
    """Items that wait for somebody to work on them. They are leased to whoever pops them, and renewed meanwhile."""

    def __init__(self, connection: Seinpaal, name: str) -> None:
        self._connection = connection
        self._name = name

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    def push(
        self,
        payload: bytes | str,
        *,
        priority: int = 0,
        delay: Seconds | None = None,
        group: str | None = None,
        dedup: tuple[str, Seconds] | None = None,
        deliveries: int | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Pushed:
        """Pushes an item. With ``dedup=(key, window)`` the same key is pushed once in that time."""
        letter = _letter(payload, priority, delay, group, dedup, deliveries, labels)
        return Pushed(*self._connection._here().push(self._name, letter).wait())

    async def push_async(
        self,
        payload: bytes | str,
        *,
        priority: int = 0,
        delay: Seconds | None = None,
        group: str | None = None,
        dedup: tuple[str, Seconds] | None = None,
        deliveries: int | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Pushed:
        """The same, from asyncio."""
        letter = _letter(payload, priority, delay, group, dedup, deliveries, labels)
        native = await self._connection._here_async()
        return Pushed(*await _call.run(native.push(self._name, letter)))

    def pop(self, *, timeout: Seconds | None = None, ttl: Seconds | None = None) -> Item:
        """Waits for an item, for as long as it takes or until ``timeout`` (:exc:`TimedOut`)."""
        return Item(self._connection, self._pop(timeout, ttl).wait())

    async def pop_async(
        self, *, timeout: Seconds | None = None, ttl: Seconds | None = None
    ) -> Item:
        """The same, from asyncio. A task that is cancelled leaves the line, and loses no item."""
        await self._connection._here_async()
        return Item(self._connection, await _call.run(self._pop(timeout, ttl)))

    def try_pop(self, *, ttl: Seconds | None = None) -> Item | None:
        """An item if there is one now."""
        item = self._connection._here().try_pop(self._name, Pick(in_seconds(ttl))).wait()
        return Item(self._connection, item) if item is not None else None

    async def try_pop_async(self, *, ttl: Seconds | None = None) -> Item | None:
        """The same, from asyncio."""
        native = await self._connection._here_async()
        item = await _call.run(native.try_pop(self._name, Pick(in_seconds(ttl))))
        return Item(self._connection, item) if item is not None else None

    def snapshot(self) -> QueueSnapshot:
        """Reads how the queue stands."""
        return QueueSnapshot(**self._connection._here().queue_snapshot(self._name).wait())

    def set_limit(self, limit: int | None) -> None:
        """Sets how many items may be in work at once, everywhere; ``None``: any number."""
        self._connection._here().queue_limit(self._name, limit).wait()

    def worker(
        self,
        handler: Callable[[Item], None] | Callable[[Item], Coroutine[Any, Any, None]],
        *,
        concurrency: int = 1,
        ttl: Seconds | None = None,
        grace: Seconds = 30.0,
        retry: Callable[[int], float] | None = None,
    ) -> Worker:
        """Works on items as they come, at most ``concurrency`` at a time. See :class:`Worker`."""
        from ._worker import Worker

        return Worker(self, handler, concurrency, ttl, in_seconds(grace) or 0.0, retry)

    def _pop(self, timeout: Seconds | None, ttl: Seconds | None) -> _native.Call[_native.Item]:
        pick = Pick(in_seconds(ttl), in_seconds(timeout))
        return self._connection._here().pop(self._name, pick)

    def __reduce__(self) -> tuple[type[Queue], tuple[Seinpaal, str]]:
        """It can be sent to another process."""
        return Queue, (self._connection, self._name)

    def __repr__(self) -> str:
        return f"<seinpaal.Queue {self._name!r}>"


def _letter(
    payload: bytes | str,
    priority: int,
    delay: Seconds | None,
    group: str | None,
    dedup: tuple[str, Seconds] | None,
    deliveries: int | None,
    labels: Mapping[str, str] | None,
) -> Letter:
    text = payload.encode() if isinstance(payload, str) else bytes(payload)
    key = (dedup[0], in_seconds(dedup[1]) or 0.0) if dedup is not None else None
    named = tuple((labels or {}).items())
    return Letter(text, priority, in_seconds(delay), group, key, deliveries, named)


class Item:
    """An item to work on, until it is acknowledged, failed, given back, or nobody has it any more.

    ``with item:`` acknowledges it at the end of the block, or fails it with what was raised. An item that is dropped
    without a word has failed, and is delivered again. In a forked child it is the parent's.
    """

    def __init__(self, connection: Seinpaal, native: _native.Item) -> None:
        self._connection = connection
        self._native = native
        self._process = os.getpid()
        self._cancellation: Cancellation | None = None

    @property
    def payload(self) -> bytes:
        """What is to be worked on."""
        return self._native.payload

    @property
    def text(self) -> str:
        """The payload as text."""
        return self._native.payload.decode()

    def json(self) -> Any:
        """The payload, read as JSON."""
        return json.loads(self._native.payload)

    @property
    def id(self) -> int:
        """The number of the item, the same over all deliveries."""
        return self._native.id

    @property
    def fence(self) -> int:
        """The number of this delivery. Give it to what you write to."""
        return self._native.fence

    @property
    def attempt(self) -> int:
        """Which delivery this is, from 1."""
        return self._native.attempt

    @property
    def deliveries(self) -> int:
        """How many deliveries are allowed."""
        return self._native.deliveries

    @property
    def group(self) -> str | None:
        """Whose share of the queue it counts for."""
        return self._native.group

    @property
    def labels(self) -> dict[str, str]:
        """Its labels."""
        return dict(self._native.labels)

    @property
    def pushed_at(self) -> float:
        """When it was pushed, in seconds since 1970 by the store's clock."""
        return self._native.pushed_at

    @property
    def is_held(self) -> bool:
        """Whether this delivery goes on at this moment, by the clock."""
        return self._process == os.getpid() and self._native.is_held

    @property
    def is_ended(self) -> bool:
        """Whether it was acknowledged, failed or given back here."""
        return self._native.is_ended

    @property
    def lost(self) -> Lost | None:
        """How this delivery was lost, if it was: somebody else may have the item."""
        if self._process != os.getpid():
            return lost(self._native.queue, f"it belongs to process {self._process}")
        how = self._native.lost
        return lost(self._native.queue, how) if how is not None else None

    def on_lost(self, callback: Callable[[Lost], None]) -> None:
        """Calls ``callback`` once when the delivery is lost, on a thread of this package."""
        queue = self._native.queue
        _call.tell(self._mine().watch(), lambda how: callback(lost(queue, how)))

    def acknowledge(self) -> None:
        """Says that the item is done, and waits until the store has confirmed it."""
        self._mine().acknowledge().wait()

    async def acknowledge_async(self) -> None:
        """The same, from asyncio."""
        await _call.run(self._mine().acknowledge())

    def fail(self, reason: str, delay: Seconds = 0.0) -> bool:
        """Says that it did not work: it is delivered again after ``delay``, or is a dead letter now (``True``)."""
        return self._mine().fail(reason, in_seconds(delay) or 0.0).wait()

    async def fail_async(self, reason: str, delay: Seconds = 0.0) -> bool:
        """The same, from asyncio."""
        return await _call.run(self._mine().fail(reason, in_seconds(delay) or 0.0))

    def give_back(self, delay: Seconds = 0.0) -> None:
        """Leaves the item to somebody else, after ``delay``; this delivery does not count."""
        self._mine().give_back(in_seconds(delay) or 0.0).wait()

    async def give_back_async(self, delay: Seconds = 0.0) -> None:
        """The same, from asyncio."""
        await _call.run(self._mine().give_back(in_seconds(delay) or 0.0))

    def __enter__(self) -> Item:
        self._mine()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        native = self._mine()
        if native.is_ended:
            return
        if raised is None:
            native.acknowledge().wait()
            return
        try:
            native.fail(reason(raised), 0.0).wait()
        except Error:
            pass  # What was raised says more.

    async def __aenter__(self) -> Item:
        self._cancellation = Cancellation([self._mine()])
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        native = self._mine()
        cancellation, self._cancellation = self._cancellation, None
        if cancellation is not None and cancellation.end(kind):
            raise self.lost or Lost("lost") from raised
        if native.is_ended:
            return
        if raised is None:
            await _call.run(native.acknowledge())
            return
        try:
            await _call.run(native.fail(reason(raised), 0.0))
        except Error:
            pass  # What was raised says more.

    def _mine(self) -> _native.Item:
        if self._process != os.getpid():
            raise Forked(
                f"this item of {self._native.queue!r} belongs to process {self._process}, which this one was forked "
                "from: pop another one here"
            )
        return self._native

    def __repr__(self) -> str:
        return f"<seinpaal.Item {self.id} of {self._native.queue!r}, delivery {self.attempt} of {self.deliveries}>"


def reason(raised: BaseException) -> str:
    """What is written down about a failure."""
    return f"{type(raised).__name__}: {raised}" if str(raised) else type(raised).__name__
