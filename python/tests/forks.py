"""The work of children in test_fork.py and test_servers.py. Spawned children import this module."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any

import seinpaal


def try_both(sync: seinpaal.Mutex, asynchronous: seinpaal.Mutex, answer: Connection) -> None:
    """Prints the result of a lock from a thread of a child, and of another lock from asyncio."""
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


class Samples:
    """The data set of a loader. Each sample is read under one of two permits."""

    def __init__(self, slots: seinpaal.Semaphore, directory: str) -> None:
        self._slots = slots
        self._directory = directory

    def __len__(self) -> int:
        return 32

    def __getitem__(self, index: int) -> tuple[int, int]:
        with self._slots as permit:
            # Another holder of this slot would have made the file, and this line would fail.
            mark = f"{self._directory}/{permit.slot}"
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            time.sleep(0.002)
            os.unlink(mark)
        return index, os.getpid()


class Loader:
    """Loads samples in order by processes that live for one epoch, as PyTorch's DataLoader does.

    Each worker has a queue of indices of its own, filled in turn; all put samples into one queue.
    """

    def __init__(self, samples: Samples, context: Any, workers: int) -> None:
        self._samples = samples
        self._loaded = context.Queue()
        self._indices = [context.Queue() for _ in range(workers)]
        self._workers = [
            context.Process(target=_load, args=(samples, indices, self._loaded))
            for indices in self._indices
        ]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for worker in self._workers:
            worker.start()
        for index in range(len(self._samples)):
            self._indices[index % len(self._indices)].put(index)
        came: dict[int, int] = {}
        for index in range(len(self._samples)):
            while index not in came:
                came.update([self._loaded.get(timeout=60)])
            yield index, came.pop(index)
        self._end()

    def _end(self) -> None:
        for indices in self._indices:
            indices.put(None)
        for worker in self._workers:
            worker.join(60)
            assert worker.exitcode == 0


def _load(samples: Samples, indices: Any, loaded: Any) -> None:
    while (index := indices.get(timeout=60)) is not None:
        loaded.put(samples[index])
