"""Which item is next."""

from __future__ import annotations

from conftest import until

from ..exclusion import in_parallel
from ..stage import Stage


def what_is_pushed_first_is_delivered_first(stage: Stage) -> None:
    maker, worker = stage.worker(), stage.worker()
    maker.push("a", "b")
    worker.push("c")
    maker.push("d")
    assert worker.texts(2) == ["a", "b"]
    assert maker.texts(9) == ["c", "d"]


def what_is_acknowledged_is_gone(stage: Stage) -> None:
    worker = stage.worker()
    worker.push("a", "b")
    for item in (worker.take(), worker.take()):
        worker.acknowledge(item)
    assert worker.counts == [0, 0, 0, 0]
    assert worker.attempt() is None


def an_item_is_in_work_once(stage: Stage) -> None:
    workers = [stage.worker(), stage.worker()]
    workers[0].push("a", "b", "c")
    items = [workers[turn % 2].attempt() for turn in range(6)]
    assert [item.text for item in items if item is not None] == ["a", "b", "c"]


def higher_priority_comes_first(stage: Stage) -> None:
    worker = stage.worker()
    for text, priority in [("low", -100), ("a", 0), ("high", 7), ("b", 0), ("highest", 100)]:
        worker.push(text, priority=priority)
    assert worker.texts(9) == ["highest", "high", "a", "b", "low"]


def what_is_given_back_is_first_again(stage: Stage) -> None:
    worker = stage.worker()
    worker.push("a", "b", "c")
    for item in [worker.take(), worker.take()]:
        worker.give_back(item)
    again = [worker.take() for _ in range(3)]
    assert [item.attempt for item in again] == [1, 1, 1]
    assert [item.text for item in again] == ["a", "b", "c"]


def what_is_given_back_for_later_comes_when_it_is_due_behind_the_others(stage: Stage) -> None:
    worker = stage.worker()
    worker.push("a", "b")
    worker.give_back(worker.take(), 1)
    until(lambda: worker.counts == [2, 0, 0, 0])
    again = [worker.take(), worker.take()]
    assert [item.text for item in again] == ["b", "a"]
    assert again[1].attempt == 1


def thousands_of_items_are_delivered_in_order(stage: Stage) -> None:
    maker, worker = stage.worker(), stage.worker()
    texts = [f"item {number}" for number in range(2000)]
    pushed = [maker.queue.push(text) for text in texts]
    assert [one.id for one in pushed] == sorted(one.id for one in pushed)
    assert worker.texts(2001) == texts
    assert worker.counts == [0, 0, 0, 0]


def of_workers_that_race_each_item_has_one(stage: Stage) -> None:
    texts = [str(number) for number in range(60)]
    stage.worker().push(*texts)
    taken: list[str] = []
    in_parallel(lambda: taken.extend(stage.worker().texts(60)), 6)
    assert sorted(taken, key=int) == texts
