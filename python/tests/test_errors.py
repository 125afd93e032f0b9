"""Errors: their texts, and that they are raised before anything is sent."""

from __future__ import annotations

import pickle

import pytest

import seinpaal
from seinpaal import errors


def test_errors_say_what_happened_with_both_numbers(store: seinpaal.Seinpaal, name: str) -> None:
    with store.semaphore(name, 2):
        with pytest.raises(errors.OtherLimit, match="limit is 2") as other:
            store.semaphore(name, 3).acquire()
        assert (other.value.stored, other.value.stated) == (2, 3)
        with pytest.raises(errors.TooMany) as many:
            store.semaphore(name, 2).acquire(permits=5)
        assert (many.value.permits, many.value.limit) == (5, 2)
        with pytest.raises(errors.OtherKind, match="use another name"):
            store.mutex(name).acquire()
        with pytest.raises(errors.AcquireError):
            store.rwlock(name).read.acquire()


def test_bad_input_is_found_before_anything_is_sent(store: seinpaal.Seinpaal, name: str) -> None:
    with pytest.raises(errors.BadName):
        store.mutex("").acquire()
    with pytest.raises(errors.BadCount):
        store.semaphore(name, -1).acquire()
    with pytest.raises(errors.BadSetting):
        store.mutex(name).acquire(timeout=-1)
    with pytest.raises(errors.BadSetting, match="a ttl is"):
        store.mutex(name).acquire(ttl=0.001)
    with pytest.raises(ValueError):
        store.mutex(name).acquire(labels={"": "empty"})
    with pytest.raises(errors.BadCount):
        store.rwlock(name).write.acquire(permits=2)
    with pytest.raises(errors.TooMany):
        store.mutex(name).acquire(permits=2)
    with pytest.raises(errors.BadUrl):
        seinpaal.connect("nonsense://here")


def test_a_store_that_is_not_there_is_a_store_error() -> None:
    with pytest.raises(seinpaal.StoreError) as error:
        seinpaal.connect("redis://127.0.0.1:1", patience=0.5)
    assert error.value.kind == "unreachable" and error.value.is_passing
    assert "127.0.0.1:1" in str(error.value)


def test_a_lazy_connection_connects_on_first_use(name: str) -> None:
    missing = seinpaal.connect("redis://127.0.0.1:1", patience=0.5, lazy=True)
    with pytest.raises(seinpaal.StoreError):
        missing.mutex(name).acquire()


def test_errors_survive_a_pickle() -> None:
    before = errors.OtherLimit("other", stored=2, stated=3)
    after = pickle.loads(pickle.dumps(before))
    assert (str(after), after.stored, after.stated) == ("other", 2, 3)


def test_a_lock_that_is_sent_elsewhere_connects_there(url: str, name: str) -> None:
    here = seinpaal.connect(url).semaphore(name, 1)
    there = pickle.loads(pickle.dumps(here))
    with here:
        assert there.try_acquire() is None
    there.acquire().release()


def test_slots_without_names_say_so_and_readers_wish_for_none(
    store: seinpaal.Seinpaal, name: str
) -> None:
    with store.semaphore(name, 2) as permit:
        assert (permit.slot_name, permit.slot_names) == (None, ())
    with pytest.raises(errors.BadCount):
        store.rwlock(name).read.acquire(slot_names="a")
    with pytest.raises(errors.BadSetting):
        store.semaphore(name).acquire(slot_names=["a", "b"])
    with pytest.raises(errors.BadSetting):
        store.semaphore(name).name_slots(["a", "a"])
