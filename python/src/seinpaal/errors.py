"""The errors. Their texts come from the Rust crate, and their classes say what a program can do."""

from __future__ import annotations

__all__ = [
    "AcquireError",
    "BadCount",
    "BadInput",
    "BadName",
    "BadSetting",
    "BadUrl",
    "BlocksLoop",
    "Busy",
    "Closed",
    "Ended",
    "Error",
    "FinishUnknown",
    "Forked",
    "Lost",
    "NamedTwice",
    "NoSuchItem",
    "NoSuchSlot",
    "NoSuchTicket",
    "NotAWriter",
    "NotHeld",
    "OtherKind",
    "OtherLimit",
    "PushUnknown",
    "QueueUnknown",
    "ReleaseError",
    "ReleaseUnknown",
    "SlotsInUse",
    "StoreError",
    "TimedOut",
    "TooLarge",
    "TooMany",
    "TooManyWaiting",
]


class Error(Exception):
    """The base class of every error of this package."""

    def __init__(self, message: str = "", *, name: str | None = None) -> None:
        super().__init__(message)
        #: The name of the lock or queue, if a request for it failed.
        self.name = name


class BlocksLoop(Error, RuntimeError):
    """A call that waits was made where it would stop an event loop, or the greenlets of gevent."""


class BadInput(Error, ValueError):
    """An argument is outside its range. Nothing was sent."""


class BadUrl(BadInput):
    """The URL of the store is invalid."""


class BadName(BadInput):
    """The name is invalid."""


class BadCount(BadInput):
    """A limit, a number of permits or a priority is out of range."""


class BadSetting(BadInput):
    """A ttl, a time, a label or a number of deliveries or workers outside its range."""


class TooLarge(BadInput):
    """The payload of an item is too long."""


class StoreError(Error):
    """The store does not answer, or refuses."""

    def __init__(self, message: str, *, kind: str = "internal") -> None:
        super().__init__(message)
        #: unreachable, forbidden, misconfigured, full, corrupt, other version or internal
        self.kind = kind

    @property
    def is_passing(self) -> bool:
        """Whether trying again later can help."""
        return self.kind in ("unreachable", "full")


class Closed(Error):
    """The connection is closed, which gives back everything that it held."""


class Forked(Error):
    """This object belongs to the process that this one was forked from."""


class Lost(Error):
    """A permit, or an item in work, was lost before its block was done: others may have it."""


class Busy(Error):
    """Other clients hold the permits or wait. An equal request may be granted later."""


class TimedOut(Busy, TimeoutError):
    """The timeout came first."""


class TooManyWaiting(Busy):
    """As many wait already as ``max_waiting`` allows."""


class AcquireError(Error):
    """The permits cannot be granted to a request like this."""


class NamedTwice(AcquireError):
    """One request for several names names one of them twice."""


class OtherKind(AcquireError):
    """The name is in use as another kind of lock."""


class OtherLimit(AcquireError):
    """Other clients or an operator have stated another limit."""

    def __init__(
        self, message: str, *, stored: int = 0, stated: int = 0, name: str | None = None
    ) -> None:
        super().__init__(message, name=name)
        #: The limit in force.
        self.stored = stored
        #: The limit that this caller stated.
        self.stated = stated


class TooMany(AcquireError):
    """More permits were asked for than exist."""

    def __init__(
        self, message: str, *, permits: int = 0, limit: int = 0, name: str | None = None
    ) -> None:
        super().__init__(message, name=name)
        #: How many were asked for.
        self.permits = permits
        #: How many exist.
        self.limit = limit


class Ended(AcquireError):
    """An operator or another client ended the request while it waited."""


class NoSuchTicket(AcquireError):
    """There is no such ticket at this name."""


class NoSuchSlot(AcquireError):
    """No slot of the name has this name."""


class SlotsInUse(AcquireError):
    """Holders and waiters use the present names of the slots, so the names cannot change."""


class ReleaseError(Error):
    """Permits were not given back, or it is unknown whether they were."""


class NotHeld(ReleaseError):
    """The permits had been lost or given back before."""


class NotAWriter(ReleaseError):
    """Only the whole permit of a writer becomes a reader's. This one was given back."""


class ReleaseUnknown(ReleaseError):
    """The store did not answer in time. The release is sent again in the background."""

    def __init__(self, message: str, *, at_most: float | None = None) -> None:
        super().__init__(message)
        #: The permits are free after this many seconds at the latest. ``None``: when this process
        #: ends.
        self.at_most = at_most


class PushUnknown(Error):
    """The item may or may not be in the queue. Pushing again is safe with a deduplication key."""


class FinishUnknown(Error):
    """The delivery may or may not have ended."""


class NoSuchItem(Error):
    """There is no such item in the queue, or no such dead letter."""


class QueueUnknown(Error):
    """The request about a queue may or may not have been executed."""
