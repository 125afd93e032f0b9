"""Items that are pushed once."""

from __future__ import annotations

from ..exclusion import ODD
from ..stage import Stage


def a_key_is_remembered_after_its_item_was_acknowledged(stage: Stage) -> None:
    worker = stage.worker()
    [first] = worker.push("a", dedup=("k", 3600))
    worker.acknowledge(worker.take())
    [again] = worker.push("a", dedup=("k", 3600))
    assert again.is_duplicate and again.id == first.id
    assert worker.attempt() is None


def keys_are_apart_whatever_is_in_them(stage: Stage) -> None:
    worker = stage.worker()
    keys = [odd for odd in ODD if odd]
    pushed = [worker.push(key, dedup=(key, 3600))[0] for key in keys]
    assert not any(one.is_duplicate for one in pushed)
    assert worker.texts(99) == keys


def a_key_can_be_remembered_for_a_week(stage: Stage) -> None:
    worker = stage.worker()
    worker.push("a", dedup=("k", 7 * 86_400))
    assert worker.push("a", dedup=("k", 7 * 86_400))[0].is_duplicate
