"""How many items may be in work."""

from __future__ import annotations

import threading

from conftest import until

from ..exclusion import in_parallel
from ..stage import Stage


def no_more_items_are_in_work_than_the_limit(stage: Stage) -> None:
    worker = stage.worker()
    worker.queue.set_limit(2)
    worker.push("a", "b", "c")
    kept = [worker.take(), worker.take()]
    assert worker.attempt() is None
    assert all(item.is_held for item in kept)


def an_item_that_is_finished_makes_room_for_the_next(stage: Stage) -> None:
    worker = stage.worker()
    worker.queue.set_limit(1)
    worker.push("a", "b", "c")
    worker.acknowledge(worker.take())
    worker.fail(worker.take(), "no", 3600)
    assert worker.take().text == "c"


def a_limit_that_is_raised_lets_the_next_be_taken(stage: Stage) -> None:
    worker = stage.worker()
    worker.queue.set_limit(1)
    worker.push("a", "b")
    kept = worker.take()
    assert worker.attempt() is None
    worker.queue.set_limit(2)
    assert worker.take().text == "b"
    assert kept.is_held


def a_limit_below_the_items_in_work_ends_and_admits_nothing(stage: Stage) -> None:
    worker = stage.worker()
    worker.push("a", "b", "c")
    kept = [worker.take(), worker.take()]
    worker.queue.set_limit(1)
    assert all(item.is_held for item in kept)
    worker.acknowledge(kept[0])
    assert worker.attempt() is None
    worker.acknowledge(kept[1])
    assert worker.take().text == "c"


def a_limit_of_zero_delivers_nothing_and_keeps_the_items(stage: Stage) -> None:
    worker = stage.worker()
    worker.queue.set_limit(0)
    worker.push("a")
    assert worker.attempt() is None
    worker.queue.set_limit(None)
    assert worker.texts(9) == ["a"]


def what_was_set_stays_when_nobody_is_here(stage: Stage) -> None:
    worker = stage.worker()
    worker.queue.set_limit(3)
    assert stage.worker().queue.snapshot().limit == 3


def workers_that_race_never_hold_more_than_the_limit(stage: Stage) -> None:
    maker = stage.worker()
    maker.queue.set_limit(3)
    maker.push(*(str(number) for number in range(60)))
    inside, most, done, mutex = 0, 0, 0, threading.Lock()

    def works() -> None:
        nonlocal inside, most, done
        worker = stage.worker()
        while done < 60:
            item = worker.attempt()
            if item is None:
                continue
            with mutex:
                inside += 1
                most = max(most, inside)
            with mutex:
                inside -= 1
            worker.acknowledge(item)
            with mutex:
                done += 1

    in_parallel(works, 6)
    assert 1 <= most <= 3
    until(lambda: maker.counts == [0, 0, 0, 0])
