"""Items that fail."""

from __future__ import annotations

from conftest import until

from ..stage import Stage


def an_item_that_failed_comes_again_after_its_delay(stage: Stage) -> None:
    worker = stage.worker()
    worker.push("a")
    assert worker.fail(worker.take(), "no", 0.5) is False
    assert worker.counts == [0, 1, 0, 0]
    until(lambda: worker.counts == [1, 0, 0, 0])
    assert worker.take().attempt == 2


def giving_back_is_no_delivery(stage: Stage) -> None:
    worker = stage.worker()
    worker.push("a", deliveries=2)
    for _ in range(5):
        item = worker.take()
        assert item.attempt == 1
        worker.give_back(item)
    assert worker.fail(worker.take(), "no") is False
    assert worker.fail(worker.take(), "no") is True
    assert worker.counts == [0, 0, 0, 1]
