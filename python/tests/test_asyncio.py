"""Permits of tasks: the tests of `test_locks.py` for tasks, and those that only asyncio needs."""

from __future__ import annotations

import asyncio
import gc

import pytest

import seinpaal


async def until(holds: object) -> None:
    """Waits for a condition that must come true."""
    assert callable(holds)
    for _ in range(6000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come within a minute")


def test_an_async_block_holds_a_permit(url: str, name: str) -> None:
    async def main() -> None:
        async with await seinpaal.connect_async(url) as store:
            nightly = store.mutex(name)
            async with nightly as permit:
                assert permit.is_held
                assert await nightly.try_acquire_async() is None
            assert (await nightly.snapshot_async()).holders_total == 0
            async with nightly.holding(timeout=5, ttl=10):
                pass
            permit = await nightly.acquire_async(timeout=5)
            await permit.release_async()
            with pytest.raises(seinpaal.NotHeld):
                await permit.release_async()

    asyncio.run(main())


def test_the_only_block_that_is_open_can_be_left_in_another_task(url: str, name: str) -> None:
    async def main() -> None:
        async with await seinpaal.connect_async(url) as store:
            nightly = store.mutex(name)
            permit = await asyncio.ensure_future(nightly.__aenter__())
            assert permit.is_held
            await asyncio.ensure_future(nightly.__aexit__(None, None, None))
            assert (await nightly.snapshot_async()).holders_total == 0

    asyncio.run(main())


def test_a_loop_that_waits_does_other_things(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        nightly = store.mutex(name)
        held = await nightly.acquire_async()
        waiter = asyncio.ensure_future(nightly.acquire_async())
        await until(lambda: nightly.snapshot().waiting_total == 1)
        await held.release_async()
        permit = await waiter
        assert permit.fence > held.fence
        await permit.release_async()
        await store.close_async()

    asyncio.run(main())


def test_a_task_that_is_cancelled_leaves_the_line(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        nightly = store.mutex(name)
        held = await nightly.acquire_async()
        waiter = asyncio.ensure_future(nightly.acquire_async())
        await until(lambda: nightly.snapshot().waiting_total == 1)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
        await until(lambda: nightly.snapshot().waiting_total == 0)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(nightly.acquire_async(), 0.05)
        await until(lambda: nightly.snapshot().waiting_total == 0)
        await held.release_async()
        await until(lambda: nightly.snapshot().holders_total == 0)
        await store.close_async()

    asyncio.run(main())


def test_tasks_cancelled_at_any_moment_leave_nothing(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        nightly = store.mutex(name)
        for turns in range(40):
            task = asyncio.ensure_future(nightly.acquire_async())
            for _ in range(turns % 8):
                await asyncio.sleep(0)
            await asyncio.sleep(0.0005 * (turns % 5))
            task.cancel()
            try:
                await (await task).release_async()
            except asyncio.CancelledError:
                pass
        await until(lambda: nightly.snapshot().holders_total == 0)
        assert nightly.snapshot().waiting_total == 0
        await store.close_async()

    asyncio.run(main())


def test_a_loss_cancels_the_block_and_is_lost_outside(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        nightly = store.mutex(name)
        was_cancelled = False
        with pytest.raises(seinpaal.Lost, match=f"{name}: somebody evicted it"):
            async with nightly as permit:
                nightly.evict(permit.ticket)
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    was_cancelled = True
                    raise
        assert was_cancelled
        task = asyncio.current_task()
        assert task is not None and getattr(task, "cancelling", lambda: 0)() == 0
        await asyncio.sleep(0)  # It is not cancelled any more.
        await store.close_async()

    asyncio.run(main())


def test_a_cancellation_from_outside_is_not_taken_for_a_loss(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        nightly = store.mutex(name)
        entered = asyncio.Event()

        async def work() -> None:
            async with nightly as permit:
                entered.set()
                try:
                    await asyncio.sleep(3600)
                finally:
                    nightly.evict(permit.ticket)

        task = asyncio.ensure_future(work())
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await store.close_async()

    asyncio.run(main())


def test_a_loss_while_the_loop_is_blocked_is_told_at_the_end(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        nightly = store.mutex(name)
        with pytest.raises(seinpaal.Lost):
            async with nightly as permit:
                nightly.evict(permit.ticket)
                while permit.lost is None:
                    pass
        await asyncio.sleep(0)
        await store.close_async()

    asyncio.run(main())


def test_several_names_at_once_are_lost_together(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        one, two = store.mutex(f"{name} one"), store.mutex(f"{name} two")
        with pytest.raises(seinpaal.Lost):
            async with await store.acquire_all_async(one, two, timeout=5) as both:
                two.evict(both[1].ticket)
                await asyncio.sleep(3600)
        await until(lambda: one.snapshot().holders_total == 0)
        await store.close_async()

    asyncio.run(main())


def test_a_decorated_coroutine_holds_a_permit(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)

        @store.mutex(name)
        async def report(day: str) -> str:
            assert await store.mutex(name).try_acquire_async() is None
            return day

        assert await report("Monday") == "Monday"
        await store.close_async()

    asyncio.run(main())


def test_one_connection_serves_loops_that_follow_each_other(url: str, name: str) -> None:
    store = seinpaal.connect(url)

    async def main() -> None:
        async with store.mutex(name):
            await asyncio.sleep(0)

    for _ in range(3):
        asyncio.run(main())
    store.close()


def test_a_loop_that_is_closed_gives_up_what_waits_there(url: str, name: str) -> None:
    store = seinpaal.connect(url)
    nightly = store.mutex(name)
    held = nightly.acquire()
    loop = asyncio.new_event_loop()
    waiter = loop.create_task(nightly.acquire_async())
    loop.run_until_complete(until(lambda: nightly.snapshot().waiting_total == 1))
    waiter._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.close()
    del waiter, loop
    gc.collect()
    for _ in range(1000):
        if nightly.snapshot().waiting_total == 0:
            break
    assert nightly.snapshot().waiting_total == 0
    held.release()
    assert nightly.snapshot().holders_total == 0
    store.close()
