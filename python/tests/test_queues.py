"""Queues: pushing, popping, and workers that shut down gracefully."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import threading
from typing import Any

import pytest
from conftest import REDIS, until

import seinpaal
from seinpaal import _native, errors
from seinpaal._native import Call, Mailbox
from seinpaal._want import ItemWant

pytestmark = pytest.mark.needs("KeepsQueues")


def test_items_come_in_the_order_they_were_pushed(store: seinpaal.Seinpaal, name: str) -> None:
    mails = store.queue(name)
    pushed = [mails.push(text) for text in ("ann", "bob")]
    popped = [mails.pop() for _ in pushed]
    assert [item.id for item in popped] == [one.id for one in pushed]
    assert mails.try_pop() is None


def test_an_item_says_what_was_pushed(store: seinpaal.Seinpaal, name: str) -> None:
    mails = store.queue(name)
    mails.push(b'{"to": "ann"}', group="ann", priority=3, deliveries=2, labels={"day": "Monday"})
    item = mails.pop()
    assert (item.payload, item.json()) == (b'{"to": "ann"}', {"to": "ann"})
    assert (item.group, item.labels, item.priority) == ("ann", {"day": "Monday"}, 3)
    assert (item.attempt, item.deliveries) == (1, 2)
    assert item.is_held and item.lost is None and item.fence > 0
    item.acknowledge()
    assert item.is_ended and not item.is_held


def test_an_item_that_fails_comes_again_until_it_is_dead(
    store: seinpaal.Seinpaal, name: str
) -> None:
    mails = store.queue(name)
    mails.push("ann", deliveries=2)
    assert mails.pop().fail("no route") is False
    item = mails.pop()
    assert item.attempt == 2
    assert item.fail("no route") is True
    assert (mails.snapshot().dead, mails.snapshot().ready) == (1, 0)


def test_an_item_that_is_given_back_counts_no_delivery(
    store: seinpaal.Seinpaal, name: str
) -> None:
    mails = store.queue(name)
    mails.push("ann")
    mails.pop().give_back()
    assert mails.pop().attempt == 1


def test_a_block_acknowledges_its_item_or_fails_it(store: seinpaal.Seinpaal, name: str) -> None:
    mails = store.queue(name)
    mails.push("ann")
    with pytest.raises(KeyError), mails.pop():
        raise KeyError("mine")
    with mails.pop() as item:
        assert item.attempt == 2
    assert mails.try_pop() is None
    with pytest.raises(seinpaal.Lost):
        item.acknowledge()


def test_an_item_dropped_without_a_word_comes_again(store: seinpaal.Seinpaal, name: str) -> None:
    mails = store.queue(name)
    mails.push("ann")
    item: seinpaal.Item | None = mails.pop()
    assert item is not None
    item.on_lost(print)
    item = None
    assert mails.pop().attempt == 2


def test_a_key_is_pushed_once(store: seinpaal.Seinpaal, name: str) -> None:
    mails = store.queue(name)
    first = mails.push("ann", dedup=("ann", 3600))
    again = mails.push("ann", dedup=("ann", 3600))
    assert again.is_duplicate and again.id == first.id and not first.is_duplicate


def test_a_pop_ends_with_its_timeout(store: seinpaal.Seinpaal, name: str) -> None:
    with pytest.raises(seinpaal.TimedOut):
        store.queue(name).pop(timeout=1)


def test_a_payload_that_is_too_long_is_refused(store: seinpaal.Seinpaal, name: str) -> None:
    with pytest.raises(errors.TooLarge):
        store.queue(name).push(b"x" * (64 << 20))


def test_a_task_popping_is_cancelled_without_losing_an_item(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        mails = store.queue(name)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(mails.pop_async(), 0.05)
        await mails.push_async("ann")
        async with await mails.pop_async() as item:
            assert (item.text, item.attempt) == ("ann", 1)
        assert await mails.try_pop_async() is None
        await store.close_async()

    asyncio.run(main())


@pytest.mark.parametrize("ends", ["cancelled", "forgotten"])
@pytest.mark.parametrize("how", ["pop", "try_pop"])
def test_an_item_that_arrives_as_its_pop_ends_was_not_delivered(
    store: seinpaal.Seinpaal, name: str, how: str, ends: str
) -> None:
    mails = store.queue(name)
    mails.push("ann")
    mailbox = Mailbox()
    call: Call[_native.Item | None] | None = getattr(store._here(), how)(name, ItemWant())
    assert call is not None
    while not call.poll(mailbox, 0):
        select.select([mailbox.fileno()], [], [], 60)
        mailbox.drain()
    if ends == "cancelled":
        call.cancel()
    else:
        call = None
    item = mails.pop(timeout=60)
    assert (item.text, item.attempt) == ("ann", 1)


def test_a_worker_works_until_it_is_stopped(store: seinpaal.Seinpaal, name: str) -> None:
    mails = store.queue(name)
    seen: list[str] = []
    mutex = threading.Lock()

    def send(item: seinpaal.Item) -> None:
        if item.text == "carol":
            raise ValueError("no such address")
        if item.text == "dave":
            raise seinpaal.GiveBack(delay=3600)
        with mutex:
            seen.append(item.text)

    for text in ("ann", "bob", "carol", "dave"):
        mails.push(text, deliveries=1)
    worker = mails.worker(send, concurrency=2)
    thread_counts: list[seinpaal.Counts] = []
    thread = threading.Thread(target=lambda: thread_counts.append(worker.run()))
    thread.start()
    until(lambda: (mails.snapshot().ready, mails.snapshot().in_work) == (0, 0))
    worker.stop()
    thread.join()
    assert sorted(seen) == ["ann", "bob"]
    assert thread_counts == [seinpaal.Counts(acknowledged=2, given_back=1, died=1)]


class Mute(Exception):
    """An exception that cannot be told."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


def outcome_of(worker: seinpaal.Worker) -> object:
    """What a worker returns or raises within a minute, whatever becomes of its threads."""
    outcomes: list[object] = []

    def run() -> None:
        try:
            outcomes.append(worker.run())
        except BaseException as error:
            outcomes.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    if thread.is_alive():
        worker.stop()
        pytest.fail("the worker goes on, and nothing does its work")
    return outcomes[0]


def test_an_error_that_is_not_the_handlers_ends_a_worker_and_is_raised(
    store: seinpaal.Seinpaal, name: str
) -> None:
    mails = store.queue(name)
    mails.push("ann")

    def send(item: seinpaal.Item) -> None:
        raise KeyError("mine")

    worker = mails.worker(send, retry=lambda attempt: [1.0, 5.0][attempt + 1])
    assert isinstance(outcome_of(worker), IndexError)
    wrong: Any = "30"
    assert isinstance(outcome_of(mails.worker(print, ttl=wrong)), TypeError)


def test_an_exception_that_cannot_be_told_fails_its_item_like_any_other(
    store: seinpaal.Seinpaal, name: str
) -> None:
    mails = store.queue(name)
    raised = [Mute(), ValueError("a name that is no UTF-8: \udcff")]
    for _ in raised:
        mails.push("ann", deliveries=1)

    def send(item: seinpaal.Item) -> None:
        error = raised.pop()
        if not raised:
            worker.stop()
        raise error

    worker = mails.worker(send)
    assert outcome_of(worker) == seinpaal.Counts(died=2)
    mails.push("bob", deliveries=1)
    with pytest.raises(Mute), mails.pop():
        raise Mute
    assert mails.snapshot().dead == 3


def test_an_item_given_back_until_a_moment_that_has_passed_is_free_at_once(
    store: seinpaal.Seinpaal, name: str
) -> None:
    mails = store.queue(name)
    mails.push("ann", deliveries=1)

    def send(item: seinpaal.Item) -> None:
        worker.stop()
        raise seinpaal.GiveBack(delay=-1)

    worker = mails.worker(send)
    assert outcome_of(worker) == seinpaal.Counts(given_back=1)
    assert mails.pop().attempt == 1


@pytest.mark.parametrize("delay", ["1h", float("inf"), float("nan"), 1e300])
def test_an_item_given_back_with_a_delay_that_is_none_has_failed(
    store: seinpaal.Seinpaal, name: str, delay: Any
) -> None:
    mails = store.queue(name)
    mails.push("ann", deliveries=1)

    def send(item: seinpaal.Item) -> None:
        worker.stop()
        raise seinpaal.GiveBack(delay)

    worker = mails.worker(send)
    assert outcome_of(worker) == seinpaal.Counts(died=1)


@pytest.mark.parametrize("delay", ["1h", float("inf"), float("nan"), 1e300])
def test_a_retry_that_tells_no_delay_ends_the_worker_and_its_item_comes_again(
    store: seinpaal.Seinpaal, name: str, delay: Any
) -> None:
    mails = store.queue(name)
    mails.push("ann")

    def send(item: seinpaal.Item) -> None:
        raise KeyError("mine")

    worker = mails.worker(send, retry=lambda attempt: delay)
    assert isinstance(outcome_of(worker), (TypeError, errors.BadSetting))
    assert mails.pop(timeout=60).attempt == 2


def test_a_retry_at_a_moment_that_has_passed_is_at_once(
    store: seinpaal.Seinpaal, name: str
) -> None:
    mails = store.queue(name)
    mails.push("ann")

    def send(item: seinpaal.Item) -> None:
        if item.attempt == 3:
            worker.stop()
        raise KeyError("mine")

    worker = mails.worker(send, retry=lambda attempt: -1.0)
    assert outcome_of(worker) == seinpaal.Counts(failed=3)


def test_delays_that_are_none_do_the_same_on_tasks(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        mails, stop = store.queue(name), asyncio.Event()
        raised: Exception

        async def send(item: seinpaal.Item) -> None:
            stop.set()
            raise raised

        async def ends(error: Exception, retry: Any = None) -> seinpaal.Counts:
            nonlocal raised
            raised = error
            await mails.push_async("ann", deliveries=1)
            stop.clear()
            return await mails.worker(send, retry=retry).run_async(stop)

        for wrong in (float("inf"), 1e300):
            assert await ends(seinpaal.GiveBack(wrong)) == seinpaal.Counts(died=1)
        with pytest.raises(errors.BadSetting):
            await ends(KeyError("mine"), lambda attempt: float("inf"))
        with pytest.raises(IndexError):
            await ends(KeyError("mine"), lambda attempt: [][attempt])
        assert await ends(seinpaal.GiveBack(-1)) == seinpaal.Counts(given_back=1)
        assert (mails.snapshot().dead, mails.snapshot().ready) == (4, 1)
        await store.close_async()

    asyncio.run(main())


def test_a_worker_gives_back_what_outlasts_the_grace_period(
    store: seinpaal.Seinpaal, name: str
) -> None:
    mails = store.queue(name)
    mails.push("ann")
    begun, end = threading.Event(), threading.Event()

    def send(item: seinpaal.Item) -> None:
        begun.set()
        worker.stop()
        end.wait()

    worker = mails.worker(send, grace=0.1)
    counts = worker.run()
    assert counts.given_back == 1
    assert mails.pop().attempt == 1
    end.set()


def test_a_worker_with_an_endless_grace_waits_for_its_handlers(
    store: seinpaal.Seinpaal, name: str
) -> None:
    mails = store.queue(name)
    mails.push("ann")

    def send(item: seinpaal.Item) -> None:
        worker.stop()

    worker = mails.worker(send, grace=float("inf"))
    assert outcome_of(worker) == seinpaal.Counts(acknowledged=1)


def test_an_item_that_its_handler_has_ended_counts_by_that_end(
    store: seinpaal.Seinpaal, name: str
) -> None:
    mails = store.queue(name)
    endings = {
        "acknowledged": lambda item: item.acknowledge(),
        "failed": lambda item: item.fail("no", delay=3600),
        "died": lambda item: item.fail("no"),
        "given_back": lambda item: item.give_back(3600),
    }
    for text in endings:
        mails.push(text, deliveries=1 if text == "died" else 2)

    def send(item: seinpaal.Item) -> None:
        endings[item.text](item)
        if mails.snapshot().ready + mails.snapshot().in_work == 0:
            worker.stop()

    worker = mails.worker(send)
    assert worker.run() == seinpaal.Counts(acknowledged=1, failed=1, died=1, given_back=1)


def test_an_item_that_its_handler_has_ended_counts_so_after_the_grace_too(
    store: seinpaal.Seinpaal, name: str
) -> None:
    mails = store.queue(name)
    mails.push("ann")
    end = threading.Event()

    def send(item: seinpaal.Item) -> None:
        item.acknowledge()
        worker.stop()
        end.wait()

    worker = mails.worker(send, grace=0)
    counts = worker.run()
    assert counts == seinpaal.Counts(acknowledged=1)
    end.set()


def test_an_item_whose_end_was_not_confirmed_in_the_grace_counts_once_and_as_unknown(
    store: seinpaal.Seinpaal, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mails = store.queue(name)
    mails.push("ann")
    answered = threading.Event()
    confirm = seinpaal.Item._confirm

    def silent(self: seinpaal.Item, how: str, ending: Any) -> Any:
        # The end is not confirmed until the worker has given up.
        worker.stop()
        answered.wait()
        return confirm(self, how, ending)

    monkeypatch.setattr(seinpaal.Item, "_confirm", silent)
    worker = mails.worker(lambda item: None, grace=0)
    counts = worker.run()
    assert counts == seinpaal.Counts(unknown=1)
    answered.set()
    until(lambda: mails.snapshot().in_work == 0)
    assert counts == seinpaal.Counts(unknown=1)


def test_an_item_that_its_handler_has_ended_counts_so_on_tasks_too(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        mails, stop = store.queue(name), asyncio.Event()

        async def send(item: seinpaal.Item) -> None:
            await item.acknowledge_async()
            stop.set()
            if item.text == "goes on":
                await asyncio.sleep(3600)

        for text in ("returns", "goes on"):
            await mails.push_async(text)
            counts = await mails.worker(send, grace=0).run_async(stop)
            assert counts == seinpaal.Counts(acknowledged=1)
            stop.clear()
        await store.close_async()

    asyncio.run(main())


def test_a_worker_on_tasks_works_until_it_is_stopped(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        mails = store.queue(name)
        stop = asyncio.Event()
        seen: list[str] = []

        async def send(item: seinpaal.Item) -> None:
            await asyncio.sleep(0)
            seen.append(item.text)
            if len(seen) == 20:
                stop.set()

        for number in range(20):
            await mails.push_async(str(number))
        counts = await mails.worker(send, concurrency=4).run_async(stop)
        assert counts == seinpaal.Counts(acknowledged=20)
        assert sorted(seen, key=int) == [str(number) for number in range(20)]
        await store.close_async()

    asyncio.run(main())


def test_a_handler_that_awaits_what_others_cancelled_fails_its_item_and_no_more(
    url: str, name: str
) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        mails, stop = store.queue(name), asyncio.Event()
        shared: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        shared.cancel()

        async def send(item: seinpaal.Item) -> None:
            if item.text == "ann":
                await shared
            stop.set()

        await mails.push_async("ann", deliveries=1)
        await mails.push_async("bob")
        counts = await asyncio.wait_for(mails.worker(send).run_async(stop), 60)
        assert counts == seinpaal.Counts(acknowledged=1, died=1)
        await store.close_async()

    asyncio.run(main())


def test_a_worker_on_tasks_that_is_cancelled_gives_back_what_it_works_on(
    url: str, name: str
) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        mails, begun = store.queue(name), asyncio.Event()

        async def send(item: seinpaal.Item) -> None:
            begun.set()
            await asyncio.sleep(3600)

        await mails.push_async("ann", deliveries=1)
        running = asyncio.ensure_future(mails.worker(send).run_async())
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert (await mails.pop_async()).attempt == 1
        await store.close_async()

    asyncio.run(main())


def test_a_worker_on_tasks_gives_back_what_outlasts_the_grace_period(url: str, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(url)
        mails = store.queue(name)
        stop = asyncio.Event()

        async def send(item: seinpaal.Item) -> None:
            stop.set()
            await asyncio.sleep(3600)

        await mails.push_async("ann")
        counts = await mails.worker(send, grace=0.1).run_async(stop)
        assert counts.given_back == 1
        assert (await mails.pop_async()).attempt == 1
        await store.close_async()

    asyncio.run(main())


WORKER = """
import sys, time, seinpaal
def work(item):
    print("begun", flush=True)
    time.sleep(0.5)
    print("done", flush=True)
counts = seinpaal.connect(sys.argv[1]).queue(sys.argv[2]).worker(work).run()
print(counts.acknowledged, flush=True)
"""


STRAY = """
import signal, sys, threading, seinpaal
def work(item):
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
seinpaal.connect(sys.argv[1]).queue(sys.argv[2]).worker(work).run()
"""


def test_a_signal_that_interrupts_no_wait_ends_a_worker_too(
    redis: seinpaal.Seinpaal, name: str
) -> None:
    redis.queue(name).push("ann")
    subprocess.run([sys.executable, "-c", STRAY, REDIS, name], timeout=60, check=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_a_worker_finish_what_it_works_on(
    redis: seinpaal.Seinpaal, name: str, number: signal.Signals
) -> None:
    mails = redis.queue(name)
    mails.push("ann")
    arguments = [sys.executable, "-c", WORKER, REDIS, name]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "begun\n"
        os.kill(worker.pid, number)
        assert worker.stdout.read() == "done\n1\n"
    assert worker.returncode == 0
    assert (mails.snapshot().ready, mails.snapshot().in_work) == (0, 0)


EAGER = """
import os, signal, sys, seinpaal
def work(item):
    os.kill(os.getpid(), signal.SIGTERM)
counts = seinpaal.connect(sys.argv[1]).queue(sys.argv[2]).worker(work, concurrency=64).run()
print(counts.acknowledged)
"""


def test_a_signal_during_the_first_item_finds_the_worker_ready_for_it(
    redis: seinpaal.Seinpaal, name: str
) -> None:
    mails = redis.queue(name)
    mails.push("ann")
    arguments = [sys.executable, "-c", EAGER, REDIS, name]
    worker = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, timeout=120)
    assert (worker.returncode, worker.stdout) == (0, "1\n")


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_an_item_that_a_child_inherited_is_the_parents(
    redis: seinpaal.Seinpaal, name: str
) -> None:
    mails = redis.queue(name)
    mails.push("ann")
    item = mails.pop()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            assert not item.is_held and item.lost is not None
            with pytest.raises(seinpaal.Forked):
                item.acknowledge()
            del item
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert item.is_held
    item.acknowledge()
