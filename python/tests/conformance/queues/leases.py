"""Workers that die."""

from __future__ import annotations

from conftest import until

from ..stage import SOON, Stage


def an_item_whose_worker_died_is_delivered_again_at_once(stage: Stage) -> None:
    worker = stage.worker()
    worker.push("a")
    stage.elsewhere("queue").has_it().die()
    again = worker.queue.pop(timeout=SOON)
    assert (again.text, again.attempt) == ("a", 2)


def an_item_whose_worker_died_is_delivered_again_after_its_ttl_with_a_higher_fence(
    stage: Stage,
) -> None:
    worker = stage.worker()
    [pushed] = worker.push("a")
    dying = stage.elsewhere("queue", ttl=1).has_it()
    dying.die()
    again = worker.queue.pop(timeout=SOON)
    assert (again.id, again.attempt) == (pushed.id, 2)
    assert again.fence > dying.fence


def what_was_lost_is_first_again(stage: Stage) -> None:
    worker = stage.worker()
    worker.push("a")
    dying = stage.elsewhere("queue", ttl=1).has_it()
    worker.push("b")
    dying.die()
    worker.queue.set_limit(0)
    until(lambda: worker.counts == [2, 0, 0, 0])
    worker.queue.set_limit(None)
    assert worker.texts(9) == ["a", "b"]
