"""Items for later."""

from __future__ import annotations

import time

from conftest import until

from ..stage import Stage, Worker


def delayed_items_come_in_the_order_in_which_they_fall_due(stage: Stage) -> None:
    worker = stage.worker()
    while not _pushed_at_once(worker):
        until(lambda: worker.counts == [3, 0, 0, 0])
        worker.texts(9)
    until(lambda: worker.counts == [3, 0, 0, 0])
    assert worker.texts(9) == ["a", "b", "c"]


def _pushed_at_once(worker: Worker) -> bool:
    """Pushes three items, and returns whether they fall due in order.

    A busy machine may take so long between two pushes that they do not.
    """
    began = time.monotonic()
    for text, delay in [("c", 1.2), ("a", 0.4), ("b", 0.8)]:
        worker.push(text, delay=delay)
    return time.monotonic() - began < 0.4


def a_delayed_item_has_its_priority_when_it_comes(stage: Stage) -> None:
    worker = stage.worker()
    worker.push("urgent", priority=9, delay=0.3)
    worker.push("a", "b")
    until(lambda: worker.counts == [3, 0, 0, 0])
    assert worker.texts(9) == ["urgent", "a", "b"]


def an_item_can_be_due_in_years(stage: Stage) -> None:
    worker = stage.worker()
    worker.push("later", delay=3 * 365 * 86_400)
    assert worker.attempt() is None
    assert worker.counts == [0, 1, 0, 0]
