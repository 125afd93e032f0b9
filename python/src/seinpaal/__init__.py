"""At most N at once, everywhere, first come first served; you are told when you lose your place.

    import seinpaal

    gpus = seinpaal.connect("redis://localhost").semaphore("gpus", 4)
    with gpus.holding(timeout=10) as permit:
        train(permit.slot)

``async with`` works in the same way. A thread that needs neither the GIL nor an event loop renews
permits.
"""

from __future__ import annotations

import os
import sys

from . import errors
from ._connection import Seinpaal
from ._lock import Holding, Lock, Mutex, RwLock, Semaphore, Snapshot
from ._item import Item
from ._permit import Permit, PermitSet
from ._queue import GiveBack, Pushed, Queue, QueueSnapshot
from ._want import Seconds, in_seconds
from ._worker import Counts, Worker
from .errors import Busy, Closed, Error, Forked, Lost, NotHeld, StoreError, TimedOut

__all__ = [
    "Busy",
    "Closed",
    "Counts",
    "Error",
    "Forked",
    "GiveBack",
    "Holding",
    "Item",
    "Lock",
    "Lost",
    "Mutex",
    "NotHeld",
    "Permit",
    "PermitSet",
    "Pushed",
    "Queue",
    "QueueSnapshot",
    "RwLock",
    "Seinpaal",
    "Semaphore",
    "Snapshot",
    "StoreError",
    "TimedOut",
    "Worker",
    "connect",
    "connect_async",
    "errors",
]


def connect(
    url: str | None = None,
    *,
    client: str | None = None,
    ttl: Seconds | None = None,
    patience: Seconds | None = None,
    lazy: bool = False,
) -> Seinpaal:
    """Connects to the store at ``url``: ``file:`` (this user's), ``redis://HOST``, ``memory:``, …

    Without a URL: ``SEINPAAL_STORE``, else ``file:``. ``client`` is shown to people who look at
    holders; ``ttl`` is how long leases last without renewal (30 s); ``patience`` how long the store
    may be silent before requests fail (30 s). With ``lazy`` it connects when it is first used: for
    modules that are imported before a program forks.
    """
    seinpaal = _described(url, client, ttl, patience)
    if not lazy:
        seinpaal._here()
    return seinpaal


async def connect_async(
    url: str | None = None,
    *,
    client: str | None = None,
    ttl: Seconds | None = None,
    patience: Seconds | None = None,
) -> Seinpaal:
    """As `connect`, from asyncio."""
    seinpaal = _described(url, client, ttl, patience)
    await seinpaal._here_async()
    return seinpaal


def _described(
    url: str | None, client: str | None, ttl: Seconds | None, patience: Seconds | None
) -> Seinpaal:
    where = url or os.environ.get("SEINPAAL_STORE") or "file:"
    name = client or os.path.basename(sys.argv[0] if sys.argv else "") or "python"
    return Seinpaal(where, name, in_seconds(ttl), in_seconds(patience))
