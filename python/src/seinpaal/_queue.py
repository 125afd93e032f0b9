"""Queues: items that wait for somebody to work on them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _call, _native
from ._item import Item
from ._want import ItemWant, NewItem, Seconds, in_seconds

if TYPE_CHECKING:
    from ._connection import Seinpaal
    from ._worker import Worker


@dataclass(frozen=True)
class Pushed:
    """The result of a push."""

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
    """Raised by a handler to leave its item to others after ``delay``. It counts as no delivery.

    A ``delay`` below 0, for example until a moment that has passed, is none.
    """

    def __init__(self, delay: Seconds = 0.0) -> None:
        super().__init__("given back")
        self.delay = delay


class Queue:
    """Items that wait for somebody to work on them.

    Whoever pops an item has a lease of it, which is renewed meanwhile.
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
        # Here, because that module imports this one.
        from ._worker import Worker

        return Worker(self, handler, concurrency, ttl, in_seconds(grace) or 0.0, retry)

    def _pop(self, timeout: Seconds | None, ttl: Seconds | None) -> _native.Call[_native.Item]:
        want = ItemWant(in_seconds(ttl), in_seconds(timeout))
        return self._connection._here().pop(self._name, want)

    def __reduce__(self) -> tuple[type[Queue], tuple[Seinpaal, str]]:
        """It can be sent to another process."""
        return Queue, (self._connection, self._name)

    def __repr__(self) -> str:
        return f"<seinpaal.Queue {self._name!r}>"


def _new_item(
    payload: bytes | str,
    priority: int,
    delay: Seconds | None,
    group: str | None,
    dedup: tuple[str, Seconds] | None,
    deliveries: int | None,
    labels: Mapping[str, str] | None,
) -> NewItem:
    # Not `bytes(payload)`: of a number that makes so many zeros.
    text = payload.encode() if isinstance(payload, str) else bytes(memoryview(payload))
    key = (dedup[0], in_seconds(dedup[1]) or 0.0) if dedup is not None else None
    named = tuple((labels or {}).items())
    return NewItem(text, priority, in_seconds(delay), group, key, deliveries, named)
