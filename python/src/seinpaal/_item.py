"""The item in hand: what to work on, until it is ended or lost."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from . import _call, _native
from ._grip import Cancellation, lost
from ._want import Seconds, in_seconds
from .errors import Error, Forked, Lost

if TYPE_CHECKING:
    from ._connection import Seinpaal

_T = TypeVar("_T")


class Item:
    """An item to work on, until it is acknowledged, failed, given back, or nobody has it any more.

    ``with item:`` acknowledges it at the end of the block, or fails it with what was raised. An
    item that is dropped without any of these has failed, and is delivered again. In a forked child
    it is the parent's.
    """

    def __init__(self, connection: Seinpaal, native: _native.Item) -> None:
        self._connection = connection
        self._native = native
        self._process = os.getpid()
        self._cancellation: Cancellation | None = None
        #: How it ended, once that is known, in the words of a worker's counts.
        self._fate: str | None = None

    @property
    def payload(self) -> bytes:
        """The payload that was pushed."""
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
        """The group that the item counts for."""
        return self._native.group

    @property
    def priority(self) -> int:
        """Its rank among the items, -100 to 100."""
        return self._native.priority

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
        """Whether this process has acknowledged, failed or given back the item."""
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
        self._confirm("acknowledged", self._mine().acknowledge())

    async def acknowledge_async(self) -> None:
        """As `acknowledge`, from asyncio."""
        await self._confirm_async("acknowledged", self._mine().acknowledge())

    def fail(self, reason: str, delay: Seconds = 0.0) -> bool:
        """Ends the delivery as failed, and returns whether the item is a dead letter now.

        Otherwise it is delivered again after ``delay``.
        """
        return self._confirm("failed", self._mine().fail(reason, in_seconds(delay) or 0.0))

    async def fail_async(self, reason: str, delay: Seconds = 0.0) -> bool:
        """As `fail`, from asyncio."""
        failing = self._mine().fail(reason, in_seconds(delay) or 0.0)
        return await self._confirm_async("failed", failing)

    def give_back(self, delay: Seconds = 0.0) -> None:
        """Leaves the item to somebody else, after ``delay``; this delivery does not count."""
        self._confirm("given_back", self._mine().give_back(in_seconds(delay) or 0.0))

    async def give_back_async(self, delay: Seconds = 0.0) -> None:
        """As `give_back`, from asyncio."""
        giving = self._mine().give_back(in_seconds(delay) or 0.0)
        await self._confirm_async("given_back", giving)

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
            self.acknowledge()
            return
        try:
            self.fail(reason(raised))
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
            await self.acknowledge_async()
            return
        try:
            await self.fail_async(reason(raised))
        except Error:
            pass  # What was raised says more.

    def _confirm(self, how: str, ending: _native.Call[_T]) -> _T:
        try:
            answer = ending.wait()
        except Error as error:
            self._fate = _fate_of(error)
            raise
        self._fate = "died" if answer is True else how
        return answer

    async def _confirm_async(self, how: str, ending: _native.Call[_T]) -> _T:
        try:
            answer = await _call.run(ending)
        except Error as error:
            self._fate = _fate_of(error)
            raise
        self._fate = "died" if answer is True else how
        return answer

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
    """The text that is kept about a failure; also of an exception that cannot tell its own."""
    kind = type(raised).__name__
    try:
        text = str(raised)
    except Exception:
        text = "(its text could not be made)"
    # A surrogate, as in a name of a file that is not UTF-8, cannot be stored.
    told = f"{kind}: {text}" if text else kind
    return told.encode(errors="backslashreplace").decode()


def _fate_of(error: Error) -> str:
    return "lost" if isinstance(error, Lost) else "unknown"
