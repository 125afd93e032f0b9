"""A store, a face, and a name that no other case uses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import ExitStack
from typing import Any, TypeVar

from conftest import until

import seinpaal

from .faces import Face

T = TypeVar("T")

#: How long to wait for an event that must happen, in seconds. No verdict depends on this time.
SOON = 60

#: A program that asks for the name, prints each step, and lives until it is killed.
ELSEWHERE = """
import sys, seinpaal
connection = seinpaal.connect(sys.argv[1])
kind, name, options = sys.argv[2], sys.argv[3], eval(sys.argv[4])
print("asks", flush=True)
if kind == "queue":
    kept = connection.queue(name).pop(**options)
else:
    kept = connection.semaphore(name).acquire(**options)
print("has", kept.fence, flush=True)
sys.stdin.read()
"""


class Stage:
    """The stage of one case. Everything that it opens is closed at its end."""

    def __init__(self, kind: str, url: str, name: str, face: Face) -> None:
        self.kind = kind
        self.url = url
        self.name = name
        self.face = face
        self._open = ExitStack()
        self._open.callback(face.close)

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def connection(self) -> seinpaal.Seinpaal:
        """A connection of its own."""
        return self._open.enter_context(seinpaal.connect(self.url))

    def client(self) -> Client:
        """A client with a connection of its own."""
        return Client(self, self.connection())

    def limited(self, limit: int) -> Client:
        """A client, after an operator has set the limit of the name."""
        client = self.client()
        client.semaphore().set_limit(limit)
        return client

    def worker(self) -> Worker:
        """A client of the queue, with a connection of its own."""
        return Worker(self, self.connection().queue(self.name))

    def elsewhere(self, kind: str, **options: Any) -> Elsewhere:
        """Another program that asks for this name."""
        return self._open.enter_context(Elsewhere(self.url, kind, self.name, options))


class Client:
    """A client that asks for permits of the stage's name."""

    def __init__(self, stage: Stage, connection: seinpaal.Seinpaal) -> None:
        self._stage = stage
        self.connection = connection

    def semaphore(self, limit: int | None = None, **rule: Any) -> seinpaal.Semaphore:
        return self.connection.semaphore(self._stage.name, limit, **rule)

    def mutex(self) -> seinpaal.Mutex:
        return self.connection.mutex(self._stage.name)

    def rwlock(self) -> seinpaal.RwLock:
        return self.connection.rwlock(self._stage.name)

    def begin(
        self, plain: Callable[[], T], coroutine: Callable[[], Coroutine[Any, Any, T]]
    ) -> Future[T]:
        """Begins a request in the stage's way."""
        return self._stage.face.begin(plain, coroutine)

    def ask(self, lock: seinpaal.Lock | None = None, **options: Any) -> Future[seinpaal.Permit]:
        """Begins to wait for a permit."""
        of = lock or self.semaphore()
        return self._stage.face.begin(
            lambda: of.acquire(**options), lambda: of.acquire_async(**options)
        )

    def take(self, lock: seinpaal.Lock | None = None, **options: Any) -> seinpaal.Permit:
        """A permit, which must be free."""
        permit = self.attempt(lock, **options)
        assert permit is not None, "it is not free"
        return permit

    def attempt(self, lock: seinpaal.Lock | None = None, **options: Any) -> seinpaal.Permit | None:
        """A permit if one is free."""
        of = lock or self.semaphore()
        begun = self._stage.face.begin(
            lambda: of.try_acquire(**options), lambda: of.try_acquire_async(**options)
        )
        return begun.result(SOON)

    def queue(self, lock: seinpaal.Lock | None = None, **options: Any) -> Future[seinpaal.Permit]:
        """Begins to wait for a permit, behind those who wait already."""
        before = self.look().waiting_total
        asked = self.ask(lock, **options)
        until(lambda: asked.done() or self.look().waiting_total > before)
        assert not asked.done(), f"it did not wait: {asked}"
        return asked

    def release(self, permit: seinpaal.Permit) -> None:
        self._stage.face.begin(permit.release, permit.release_async).result(SOON)

    def look(self) -> seinpaal.Snapshot:
        return self.semaphore().snapshot()

    @property
    def holders(self) -> list[str]:
        return self.look().holders

    @property
    def waiters(self) -> list[str]:
        return self.look().waiters


class Worker:
    """A client that pushes items to the stage's queue and pops them."""

    def __init__(self, stage: Stage, queue: seinpaal.Queue) -> None:
        self._stage = stage
        self.queue = queue

    def push(self, *texts: str, **options: Any) -> list[seinpaal.Pushed]:
        """Pushes an item for each text."""
        return [self._push(text, options) for text in texts]

    def _push(self, text: str, options: dict[str, Any]) -> seinpaal.Pushed:
        queue = self.queue
        begun = self._stage.face.begin(
            lambda: queue.push(text, **options), lambda: queue.push_async(text, **options)
        )
        return begun.result(SOON)

    def wait(self, **options: Any) -> Future[seinpaal.Item]:
        """Begins to wait for an item, behind those who wait already."""
        before = self.queue.snapshot().idle
        popped = self._stage.face.begin(
            lambda: self.queue.pop(**options), lambda: self.queue.pop_async(**options)
        )
        until(lambda: popped.done() or self.queue.snapshot().idle > before)
        assert not popped.done(), f"it did not wait: {popped}"
        return popped

    def take(self, **options: Any) -> seinpaal.Item:
        """An item, which must be ready."""
        item = self.attempt(**options)
        assert item is not None, "no item is ready"
        return item

    def attempt(self, **options: Any) -> seinpaal.Item | None:
        """An item if one is ready."""
        begun = self._stage.face.begin(
            lambda: self.queue.try_pop(**options), lambda: self.queue.try_pop_async(**options)
        )
        return begun.result(SOON)

    def texts(self, most: int) -> list[str]:
        """Takes and acknowledges up to so many items, and returns their texts."""
        said: list[str] = []
        while len(said) < most and (item := self.attempt()) is not None:
            said.append(item.text)
            self.acknowledge(item)
        return said

    def acknowledge(self, item: seinpaal.Item) -> None:
        self._stage.face.begin(item.acknowledge, item.acknowledge_async).result(SOON)

    def give_back(self, item: seinpaal.Item, delay: float = 0.0) -> None:
        self._stage.face.begin(
            lambda: item.give_back(delay), lambda: item.give_back_async(delay)
        ).result(SOON)

    def fail(self, item: seinpaal.Item, reason: str, delay: float = 0.0) -> bool:
        return self._stage.face.begin(
            lambda: item.fail(reason, delay), lambda: item.fail_async(reason, delay)
        ).result(SOON)

    @property
    def counts(self) -> list[int]:
        """Items that are ready, delayed, in work and dead."""
        seen = self.queue.snapshot()
        return [seen.ready, seen.delayed, seen.in_work, seen.dead]


class Elsewhere:
    """Another program, which dies without a word."""

    def __init__(self, url: str, kind: str, name: str, options: dict[str, Any]) -> None:
        arguments = [url, kind, name, repr(options)]
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        #: The fence of the permit that the program has.
        self.fence = 0
        self._program = subprocess.Popen([sys.executable, "-c", ELSEWHERE, *arguments], **pipes)
        assert self._says() == "asks"

    def has_it(self) -> Elsewhere:
        """Waits until the program has its permit."""
        word, fence = self._says().split()
        assert word == "has"
        self.fence = int(fence)
        return self

    def die(self) -> None:
        self._program.kill()
        self._program.wait()

    def _says(self) -> str:
        assert self._program.stdout is not None
        line: str = self._program.stdout.readline()
        return line.strip()

    def __enter__(self) -> Elsewhere:
        return self

    def __exit__(self, *_: object) -> None:
        self.die()
        for pipe in (self._program.stdin, self._program.stdout):
            assert pipe is not None
            pipe.close()
