"""What is seen from outside."""

from __future__ import annotations

from conftest import until

from ..stage import SOON, Stage


def a_snapshot_counts_everything(stage: Stage) -> None:
    worker = stage.worker()
    worker.push("dead", deliveries=1)
    assert worker.fail(worker.take(), "no") is True
    worker.push("in work", "a", "b")
    kept = worker.take()
    worker.push("delayed", delay=60)
    seen = worker.queue.snapshot()
    assert (seen.ready, seen.delayed, seen.in_work, seen.dead) == (2, 1, 1, 1)
    assert (seen.limit, seen.paused) == (None, None)
    assert kept.is_held


def a_snapshot_counts_idle_workers(stage: Stage) -> None:
    one, other = stage.worker(), stage.worker()
    waiting = [one.wait(), other.wait()]
    assert one.queue.snapshot().idle == 2
    one.push("a")
    waiting[0].result(SOON)
    until(lambda: one.queue.snapshot().idle == 1)
