"""Permits of tasks: the tests of `test_locks.py` for tasks, and those that only asyncio needs."""

from __future__ import annotations

import asyncio
import gc
import inspect
from collections.abc import Callable

import pytest

import seinpaal
from seinpaal import errors


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


def test_a_loop_that_is_closed_gives_back_what_is_held_there(url: str, name: str) -> None:
    store = seinpaal.connect(url)
    nightly = store.mutex(name)
    loop = asyncio.new_event_loop()

    async def hold() -> None:
        async with nightly:
            await asyncio.sleep(3600)

    holder = loop.create_task(hold())
    loop.run_until_complete(until(lambda: nightly.snapshot().holders_total == 1))
    holder._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.close()
    del holder, loop
    gc.collect()
    nightly.acquire(timeout=60).release()
    store.close()


def test_a_set_is_given_back_whole_if_its_end_is_cancelled(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        one, two = store.mutex(f"{name} one"), store.mutex(f"{name} two")

        async def work() -> None:
            async with store.acquire_all(one, two):
                task = asyncio.current_task()
                assert task is not None
                task.cancel()

        ended = asyncio.ensure_future(work())
        # The task keeps what it raised, and so the frames that had the permits.
        await asyncio.wait({ended})
        await until(lambda: one.snapshot().holders_total == two.snapshot().holders_total == 0)
        await store.close_async()

    asyncio.run(main())


def test_a_call_that_waits_is_refused_in_a_loop(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        nightly, mails = store.mutex(name), store.queue(name)
        waits: dict[str, Callable[[], object]] = {
            "acquire": nightly.acquire,
            "async with": nightly.__enter__,
            "acquire_all": store.acquire_all(nightly).__enter__,
            "pop_async": mails.pop,
            "run_async": mails.worker(print).run,
        }
        for instead, wait in waits.items():
            with pytest.raises(errors.BlocksLoop, match=instead):
                wait()
        with pytest.raises(errors.BlocksLoop, match="release"):
            late = store.acquire_all(nightly)
            try:
                late.release()
            finally:
                await (await late).release_async()  # type: ignore[misc]
        assert (await nightly.snapshot_async()).holders_total == 0
        # Neither these nor a permit that is held already wait for anybody.
        permit = nightly.try_acquire()
        assert permit is not None
        permit.release()
        with await nightly.acquire_async():
            pass
        await store.close_async()

    asyncio.run(main())


def test_tasks_that_want_several_names_take_turns(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        one, two = store.mutex(f"{name} one"), store.semaphore(f"{name} two", 5)

        async def work() -> int:
            async with store.acquire_all(one, two, timeout=60) as both:
                await asyncio.sleep(0)
                return both[0].fence

        assert len(set(await asyncio.gather(*(work() for _ in range(4))))) == 4
        with pytest.raises(seinpaal.TimedOut):
            async with one, store.acquire_all(one, two, timeout=0.1):
                pass
        await store.close_async()

    asyncio.run(main())


def test_each_method_that_asks_the_store_has_its_twin() -> None:
    kinds = [seinpaal.Semaphore, seinpaal.Queue, seinpaal.Permit, seinpaal.Item, seinpaal.Seinpaal]
    for kind in kinds:
        methods = {key for key, value in vars(kind).items() if inspect.isfunction(value)}
        methods |= {key for key in dir(kind) if key.endswith("_async")}
        without = {"semaphore", "mutex", "rwlock", "queue", "holding", "worker", "json", "on_lost"}
        for method in methods:
            if not method.startswith("_") and method not in without and not method.endswith("_async"):
                assert f"{method}_async" in dir(kind), f"{kind.__name__}.{method}"


def test_an_operator_steers_from_a_loop(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        gpus = store.semaphore(name, 1)
        await gpus.set_limit_async(2)
        assert (await gpus.snapshot_async()).limit == 2
        await gpus.unset_limit_async()
        await gpus.pause_async("driver update")
        assert await gpus.try_acquire_async() is None
        await gpus.resume_async()
        permit = await gpus.acquire_async()
        ticket = await permit.detach_async()
        attached = await gpus.attach_async(ticket)
        await gpus.evict_async(ticket)
        await until(lambda: attached.lost is not None)
        await store.close_async()

    asyncio.run(main())
