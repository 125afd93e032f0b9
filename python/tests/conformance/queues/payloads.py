"""What is in an item."""

from __future__ import annotations

from ..exclusion import ODD
from ..stage import Stage


def an_empty_payload_comes_back(stage: Stage) -> None:
    worker = stage.worker()
    worker.queue.push(b"")
    assert worker.take().payload == b""


def every_byte_comes_back_as_it_was(stage: Stage) -> None:
    worker = stage.worker()
    every = bytes(range(256)) * 2
    worker.queue.push(every)
    assert worker.take().payload == every


def a_payload_of_a_mebibyte_comes_back(stage: Stage) -> None:
    worker = stage.worker()
    large = bytes(range(256)) * 4096
    worker.queue.push(large)
    assert worker.take().payload == large


def what_its_maker_says_of_an_item_comes_back(stage: Stage) -> None:
    worker = stage.worker()
    labels = {"k": "", "号": "\"'\\{}:;,%|", "new\u00a0line": "🚦"}
    [pushed] = worker.push("a", labels=labels, deliveries=5, group="g")
    item = worker.take()
    assert (item.id, item.labels, item.group) == (pushed.id, labels, "g")
    assert (item.attempt, item.deliveries) == (1, 5)
    assert item.pushed_at > 0


def queues_do_not_share_items_whatever_is_in_their_names(stage: Stage) -> None:
    connection = stage.connection()
    queues = [connection.queue(f"{stage.name}{odd}") for odd in ODD]
    for queue in queues:
        queue.push(queue.name)
    for queue in queues:
        item = queue.try_pop()
        assert item is not None and item.text == queue.name
        assert queue.try_pop() is None


def the_longest_names_are_as_good_as_any(stage: Stage) -> None:
    filled = stage.name + "é" * 300
    name = filled.encode()[:512].decode(errors="ignore")
    queue = stage.connection().queue(name)
    queue.push("a", group="g" * 200, dedup=("k" * 200, 60))
    assert queue.pop(timeout=60).text == "a"


def a_queue_and_a_semaphore_of_one_name_do_not_touch_each_other(stage: Stage) -> None:
    client, worker = stage.client(), stage.worker()
    permit = client.take()
    worker.push("a")
    item = worker.take()
    assert client.look().permits_held == 1 and worker.counts == [0, 0, 1, 0]
    client.release(permit)
    assert item.is_held and client.look().permits_held == 0
