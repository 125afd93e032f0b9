"""Workers that wait while nothing is ready."""

from __future__ import annotations

from ..stage import SOON, Stage


def an_item_that_falls_due_reaches_a_worker_that_looks(stage: Stage) -> None:
    maker = stage.worker()
    maker.push("a", delay=0.3)
    assert stage.worker().wait().result(SOON).text == "a"


def the_first_in_line_is_told_again_when_something_falls_due_sooner(stage: Stage) -> None:
    maker = stage.worker()
    maker.push("in an hour", delay=3600)
    waiting = stage.worker().wait()
    maker.push("soon", delay=0.3)
    assert waiting.result(SOON).text == "soon"


def the_next_in_line_looks_when_the_first_leaves(stage: Stage) -> None:
    maker = stage.worker()
    first, second = [stage.worker().wait() for _ in range(2)]
    maker.push("a", delay=0.5)
    first.cancel()
    assert second.result(SOON).text == "a"
