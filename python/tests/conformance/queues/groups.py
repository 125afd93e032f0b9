"""Shares of a queue. Their limit is set on the command line."""

from __future__ import annotations

from ..exclusion import ODD
from ..stage import Stage


def within_a_group_priority_counts(stage: Stage) -> None:
    worker = stage.worker()
    for text, priority in [("low", -1), ("middle", 0), ("high", 1)]:
        worker.push(text, group="g", priority=priority)
    assert worker.texts(9) == ["high", "middle", "low"]


def a_group_may_have_any_name(stage: Stage) -> None:
    worker = stage.worker()
    names = [odd for odd in ODD if odd]
    for name in names:
        worker.push("x", group=name)
    items = [worker.take() for _ in names]
    assert [item.group for item in items] == names
