"""What children do in test_fork.py; importable, so that spawned children find it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier

import seinpaal


def try_both(sync: seinpaal.Mutex, asynchronous: seinpaal.Mutex, answer: Connection) -> None:
    """Says what a child gets by a lock from a thread, and by another one from asyncio."""
    answer.send((_outcome(lambda: _try(sync)), _outcome(lambda: asyncio.run(_try_async(asynchronous)))))
    answer.close()


def _outcome(attempt: Callable[[], str]) -> str | seinpaal.Error:
    try:
        return attempt()
    except seinpaal.Error as error:
        return error


def _try(lock: seinpaal.Mutex) -> str:
    permit = lock.try_acquire()
    if permit is None:
        return "busy"
    permit.release()
    return "held"


async def _try_async(lock: seinpaal.Mutex) -> str:
    permit = await lock.try_acquire_async()
    if permit is None:
        return "busy"
    await permit.release_async()
    return "held"


def keep(lock: seinpaal.Mutex, barrier: Barrier) -> None:
    """Ends with a permit in hand."""
    kept = [lock.acquire()]
    kept.append(kept)  # type: ignore[arg-type]
    barrier.wait()
