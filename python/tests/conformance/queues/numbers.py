"""Numbers of items and of deliveries."""

from __future__ import annotations

from ..stage import Stage


def numbers_of_items_and_fences_of_deliveries_grow_together(stage: Stage) -> None:
    worker, last = stage.worker(), 0
    for _ in range(20):
        [pushed] = worker.push("a")
        item = worker.take()
        assert last < pushed.id < item.fence
        last = item.fence
        worker.acknowledge(item)


def every_delivery_of_an_item_has_a_greater_fence(stage: Stage) -> None:
    worker, last = stage.worker(), 0
    worker.push("a", deliveries=9)
    for turn in range(6):
        item = worker.take()
        assert item.fence > last
        last = item.fence
        if turn % 2:
            worker.fail(item, "no")
        else:
            worker.give_back(item)
