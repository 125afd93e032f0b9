"""Who is called for what. Each worker has a connection of its own."""

from __future__ import annotations

from conftest import until

from ..stage import SOON, Stage


def an_item_calls_one_worker_and_the_first_that_stood_in_line(stage: Stage) -> None:
    maker = stage.worker()
    first, second, third = [stage.worker().wait() for _ in range(3)]
    maker.push("a")
    assert first.result(SOON).text == "a"
    assert not second.done() and not third.done()


def as_many_workers_are_called_as_there_are_items(stage: Stage) -> None:
    maker = stage.worker()
    first, second, third = [stage.worker().wait() for _ in range(3)]
    maker.push("a", "b")
    assert {first.result(SOON).text, second.result(SOON).text} == {"a", "b"}
    assert not third.done()


def a_worker_that_does_not_wait_is_not_called(stage: Stage) -> None:
    maker, worker = stage.worker(), stage.worker()
    assert worker.attempt() is None
    waiting = stage.worker().wait()
    maker.push("a")
    assert waiting.result(SOON).text == "a"


def a_worker_that_leaves_is_not_called(stage: Stage) -> None:
    maker = stage.worker()
    first, second = [stage.worker().wait() for _ in range(2)]
    first.cancel()
    until(lambda: maker.queue.snapshot().idle == 1)
    maker.push("a")
    assert second.result(SOON).text == "a"


def a_worker_that_died_is_passed_over(stage: Stage) -> None:
    maker = stage.worker()
    dying = stage.elsewhere("queue")
    until(lambda: maker.queue.snapshot().idle == 1)
    second = stage.worker().wait()
    dying.die()
    maker.push("a")
    assert second.result(SOON).text == "a"


def room_in_the_queue_calls_a_worker(stage: Stage) -> None:
    maker = stage.worker()
    maker.queue.set_limit(1)
    maker.push("a", "b", "c")
    held = maker.take()
    first, second = [stage.worker().wait() for _ in range(2)]
    maker.acknowledge(held)
    assert first.result(SOON).text == "b"
    maker.queue.set_limit(2)
    assert second.result(SOON).text == "c"


def what_comes_back_calls_a_worker(stage: Stage) -> None:
    maker = stage.worker()
    maker.push("a")
    held = maker.take()
    waiting = stage.worker().wait()
    maker.give_back(held)
    assert waiting.result(SOON).text == "a"


def what_a_dead_worker_had_calls_another(stage: Stage) -> None:
    maker = stage.worker()
    maker.push("a")
    dying = stage.elsewhere("queue", ttl=1).has_it()
    waiting = stage.worker().wait()
    dying.die()
    assert waiting.result(SOON).attempt == 2


def a_hundred_idle_workers_are_called_once_each_for_a_hundred_items(stage: Stage) -> None:
    maker = stage.worker()
    waiting = [stage.worker().wait() for _ in range(100)]
    maker.push(*(str(number) for number in range(100)))
    texts = {one.result(SOON).text for one in waiting}
    assert texts == {str(number) for number in range(100)}
