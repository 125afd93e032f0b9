"""Queues of items that wait for workers."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _call, _native
from ._item import Item
from ._want import ItemWant, NewItem, Seconds, in_seconds, whole

if TYPE_CHECKING:
    from ._connection import Seinpaal
    from ._worker import Worker


@dataclass(frozen=True)
class Pushed:
    """The result of a push."""

    #: The number of the item.
    id: int
    #: Whether the queue had an item with this deduplication key already. If so, ``id`` is the
    #: number of that item.
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
    """Raised by a handler to leave its item to others after ``delay``. The delivery does not count.

    A ``delay`` below 0, for example until a moment that has passed, counts as 0.
    """

    def __init__(self, delay: Seconds = 0.0) -> None:
        super().__init__("given back")
        self.delay = delay


class Queue:
    """A queue of items that wait for workers.

    A worker that pops an item has a lease on it, which is renewed while it works.
    """

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
        new_item = _new_item(payload, priority, delay, group, dedup, deliveries, labels)
        return Pushed(*self._connection._here().push(self._name, new_item).wait())

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
        """As `push`, from asyncio."""
        new_item = _new_item(payload, priority, delay, group, dedup, deliveries, labels)
        native = await self._connection._here_async()
        return Pushed(*await _call.run(native.push(self._name, new_item)))

    def pop(self, *, timeout: Seconds | None = None, ttl: Seconds | None = None) -> Item:
        """Waits for an item, for as long as it takes or until ``timeout`` (:exc:`TimedOut`)."""
        _call.refuse_in_loop("pop()", "`await queue.pop_async()`")
        return Item(self._connection, self._pop(timeout, ttl).wait())

    async def pop_async(
        self, *, timeout: Seconds | None = None, ttl: Seconds | None = None
    ) -> Item:
        """As `pop`, from asyncio. A task that is cancelled leaves the line, and loses no item."""
        await self._connection._here_async()
        return Item(self._connection, await _call.run(self._pop(timeout, ttl)))

    def try_pop(self, *, ttl: Seconds | None = None) -> Item | None:
        """An item if there is one now."""
        item = self._connection._here().try_pop(self._name, ItemWant(in_seconds(ttl))).wait()
        return Item(self._connection, item) if item is not None else None

    async def try_pop_async(self, *, ttl: Seconds | None = None) -> Item | None:
        """As `try_pop`, from asyncio."""
        native = await self._connection._here_async()
        item = await _call.run(native.try_pop(self._name, ItemWant(in_seconds(ttl))))
        return Item(self._connection, item) if item is not None else None

    def snapshot(self) -> QueueSnapshot:
        """Reads the counts of the queue."""
        return QueueSnapshot(**self._connection._here().queue_snapshot(self._name).wait())

    async def snapshot_async(self) -> QueueSnapshot:
        """As `snapshot`, from asyncio."""
        native = await self._connection._here_async()
        return QueueSnapshot(**await _call.run(native.queue_snapshot(self._name)))

    def set_limit(self, limit: int | None) -> None:
        """Sets how many items may be in work at once, everywhere; ``None``: any number."""
        self._connection._here().queue_limit(self._name, _limit(limit)).wait()

    async def set_limit_async(self, limit: int | None) -> None:
        """As `set_limit`, from asyncio."""
        native = await self._connection._here_async()
        await _call.run(native.queue_limit(self._name, _limit(limit)))

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
        # Imported here, because that module imports this one.
        from ._worker import Worker

        return Worker(self, handler, concurrency, ttl, in_seconds(grace) or 0.0, retry)

    def _pop(self, timeout: Seconds | None, ttl: Seconds | None) -> _native.Call[_native.Item]:
        want = ItemWant(in_seconds(ttl), in_seconds(timeout))
        return self._connection._here().pop(self._name, want)

    def __reduce__(self) -> tuple[type[Queue], tuple[Seinpaal, str]]:
        """Pickles the queue, so that it can be sent to another process."""
        return Queue, (self._connection, self._name)

    def __repr__(self) -> str:
        return f"<seinpaal.Queue {self._name!r}>"


def _limit(limit: int | None) -> int | None:
    return None if limit is None else whole("limit", limit)


def _new_item(
    payload: bytes | str,
    priority: int,
    delay: Seconds | None,
    group: str | None,
    dedup: tuple[str, Seconds] | None,
    deliveries: int | None,
    labels: Mapping[str, str] | None,
) -> NewItem:
    try:
        # Not `bytes(payload)`, which makes a payload of zeros out of a number.
        text = payload.encode() if isinstance(payload, str) else bytes(memoryview(payload))
    except TypeError:
        kind = type(payload).__name__
        raise TypeError(f"a payload is bytes or a str, not {kind}: json.dumps() makes a str") from None
    key = (dedup[0], in_seconds(dedup[1]) or 0.0) if dedup is not None else None
    named = tuple((labels or {}).items())
    return NewItem(text, whole("priority", priority), in_seconds(delay), group, key, deliveries, named)
