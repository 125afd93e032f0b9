"""Each library as its documentation shows it: a way to hold a mutex once, and give it back."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import filelock
import redis
import redis.asyncio
import redis_lock
from asyncio_advanced_semaphores import RedisConfig, RedisSemaphore

import seinpaal

Hold = Callable[[], None]
HoldAsync = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Rival:
    """A library. Its clients are threads, or tasks of one event loop."""

    name: str
    #: Makes the function that a client calls for each hold, from the URL of a Redis, a directory
    #: and a name.
    on_threads: Callable[[str, str, str], Hold] | None = None
    on_tasks: Callable[[str, str, str], HoldAsync] | None = None
    #: Whether the library uses the Redis.
    is_remote: bool = True
    #: The promise that only this library of the table makes.
    keeps: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether the row is seinpaal's. The rows below it are compared with it."""
        return self.name.startswith("seinpaal")


def _ours(url: str, directory: str, name: str) -> Hold:
    return _hold(_connected(url).mutex(name))


def _ours_in_files(url: str, directory: str, name: str) -> Hold:
    return _hold(_connected(f"file://{directory}/store").mutex(name))


_connections: dict[tuple[int, str], seinpaal.Seinpaal] = {}


def _connected(url: str) -> seinpaal.Seinpaal:
    """The connection of this process, which the guide recommends."""
    key = (os.getpid(), url)
    if key not in _connections:
        _connections[key] = seinpaal.connect(url, lazy=True)
    return _connections[key]


def _hold(mutex: seinpaal.Mutex) -> Hold:
    def hold() -> None:
        with mutex:
            pass

    return hold


def _ours_async(url: str, directory: str, name: str) -> HoldAsync:
    mutex = _connected(url).mutex(name)

    async def hold() -> None:
        async with mutex:
            pass

    return hold


def _redis_py(url: str, directory: str, name: str) -> Hold:
    client = redis.Redis.from_url(url)

    def hold() -> None:
        with client.lock(name, timeout=30):
            pass

    return hold


def _redis_py_async(url: str, directory: str, name: str) -> HoldAsync:
    client = redis.asyncio.Redis.from_url(url)

    async def hold() -> None:
        async with client.lock(name, timeout=30):
            pass

    return hold


def _python_redis_lock(url: str, directory: str, name: str) -> Hold:
    client = redis.Redis.from_url(url)

    def hold() -> None:
        with redis_lock.Lock(client, name, expire=30):
            pass

    return hold


def _python_redis_lock_renewed(url: str, directory: str, name: str) -> Hold:
    client = redis.Redis.from_url(url)

    def hold() -> None:
        with redis_lock.Lock(client, name, expire=30, auto_renewal=True):
            pass

    return hold


def _advanced_semaphores(url: str, directory: str, name: str) -> HoldAsync:
    semaphore = RedisSemaphore(name=name, value=1, config=RedisConfig(url=url, namespace="bench"))

    async def hold() -> None:
        async with semaphore.cm():
            pass

    return hold


def _filelock(url: str, directory: str, name: str) -> Hold:
    path = f"{directory}/{name}.lock"

    def hold() -> None:
        with filelock.FileLock(path):
            pass

    return hold


RIVALS = [
    Rival("seinpaal, threads", on_threads=_ours, keeps="renewed, in order, fenced"),
    Rival("redis-py `Lock`", on_threads=_redis_py),
    Rival("python-redis-lock", on_threads=_python_redis_lock),
    Rival("python-redis-lock, `auto_renewal`", on_threads=_python_redis_lock_renewed, keeps="renewed"),
    Rival("seinpaal, asyncio", on_tasks=_ours_async, keeps="renewed, in order, fenced"),
    Rival("redis-py `Lock`, asyncio", on_tasks=_redis_py_async),
    Rival("asyncio-advanced-semaphores", on_tasks=_advanced_semaphores, keeps="renewed, in order"),
    Rival("seinpaal, `file:`", on_threads=_ours_in_files, is_remote=False, keeps="in order, fenced"),
    Rival("filelock", on_threads=_filelock, is_remote=False),
]
