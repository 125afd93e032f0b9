"""64 asyncio tasks, 64 threads, and both at once: the limit holds, and each has its turn."""

from __future__ import annotations

import asyncio
import threading

import pytest

import seinpaal

MANY = 64
LIMIT = 4


class Inside:
    """Counts the holders, and notes their slots and fences."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._now = 0
        self.most = 0
        self.came: dict[int, int] = {}
        #: Slots that are in use, and whether one ever was twice.
        self._slots: set[int] = set()
        self.had_a_slot_twice = False

    def enter(self, number: int, permit: seinpaal.Permit) -> None:
        with self._mutex:
            self._now += 1
            self.most = max(self.most, self._now)
            self.had_a_slot_twice |= permit.slot in self._slots
            self._slots.add(permit.slot)
            self.came[permit.fence] = number

    def leave(self, permit: seinpaal.Permit) -> None:
        with self._mutex:
            self._slots.discard(permit.slot)
            self._now -= 1

    def check(self, of: int) -> None:
        """Checks that so many were inside, each once, and never more than the limit at once."""
        assert sorted(self.came.values()) == list(range(of))
        assert self.most == LIMIT
        assert not self.had_a_slot_twice


class Groups:
    """Lets tasks go on when as many as the limit have come.

    It does what asyncio.Barrier does, which Python 3.10 does not have.
    """

    def __init__(self) -> None:
        self._here: list[asyncio.Future[None]] = []

    async def wait(self) -> None:
        future = asyncio.get_running_loop().create_future()
        self._here.append(future)
        if len(self._here) == LIMIT:
            for one in self._here:
                one.set_result(None)
            self._here = []
        await future


def test_64_asyncio_tasks_hold_at_most_the_limit(url: str, name: str) -> None:
    inside = Inside()

    async def main() -> None:
        store = await seinpaal.connect_async(url)
        gpus, groups = store.semaphore(name, LIMIT), Groups()

        async def work(number: int) -> None:
            async with gpus as permit:
                inside.enter(number, permit)
                await groups.wait()
                inside.leave(permit)

        await asyncio.gather(*map(work, range(MANY)))
        assert (await gpus.snapshot_async()).permits_held == 0
        await store.close_async()

    asyncio.run(main())
    inside.check(MANY)


@pytest.mark.needs("KeepsOrder")
def test_64_asyncio_tasks_are_served_in_the_order_they_came(url: str, name: str) -> None:
    inside = Inside()

    async def main() -> None:
        store = await seinpaal.connect_async(url)
        gpus = store.semaphore(name, LIMIT)

        async def work(number: int) -> None:
            async with gpus as permit:
                inside.enter(number, permit)
                inside.leave(permit)

        await asyncio.gather(*map(work, range(MANY)))
        await store.close_async()

    asyncio.run(main())
    assert [inside.came[fence] for fence in sorted(inside.came)] == list(range(MANY))


def test_64_threads_hold_at_most_the_limit(store: seinpaal.Seinpaal, name: str) -> None:
    gpus, inside, groups = store.semaphore(name, LIMIT), Inside(), threading.Barrier(LIMIT)

    def work(number: int) -> None:
        with gpus as permit:
            inside.enter(number, permit)
            groups.wait(60)
            inside.leave(permit)

    in_threads(work)
    inside.check(MANY)
    assert gpus.snapshot().permits_held == 0


def test_64_threads_with_a_connection_each_hold_at_most_the_limit(url: str, name: str) -> None:
    inside, groups = Inside(), threading.Barrier(LIMIT)

    def work(number: int) -> None:
        with seinpaal.connect(url) as store, store.semaphore(name, LIMIT) as permit:
            inside.enter(number, permit)
            groups.wait(60)
            inside.leave(permit)

    in_threads(work)
    inside.check(MANY)


def test_64_threads_and_64_asyncio_tasks_share_one_limit(store: seinpaal.Seinpaal, name: str) -> None:
    gpus, inside = store.semaphore(name, LIMIT), Inside()

    def work(number: int) -> None:
        with gpus as permit:
            inside.enter(number, permit)
            inside.leave(permit)

    async def work_async(number: int) -> None:
        async with gpus as permit:
            inside.enter(number, permit)
            await asyncio.sleep(0)
            inside.leave(permit)

    async def main() -> None:
        await asyncio.gather(*map(work_async, range(MANY, 2 * MANY)))

    loop = threading.Thread(target=lambda: asyncio.run(main()))
    loop.start()
    in_threads(work)
    loop.join()
    assert sorted(inside.came.values()) == list(range(2 * MANY))
    assert inside.most <= LIMIT and not inside.had_a_slot_twice
    assert gpus.snapshot().permits_held == 0


def in_threads(work: object) -> None:
    """Runs a function in 64 threads, each with its number, and fails if one fails."""
    assert callable(work)
    ended: list[int] = []

    def run(number: int) -> None:
        work(number)
        ended.append(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(MANY)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ended) == list(range(MANY)), "a thread failed"
