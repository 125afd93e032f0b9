"""Errors: their texts, and that they are raised before anything is sent."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any, cast

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


ACQUIRES = ["acquire", "acquire_async", "try_acquire", "try_acquire_async", "holding"]


@pytest.mark.parametrize("method", ACQUIRES)
def test_an_argument_that_is_not_there_is_refused_with_a_hint(name: str, method: str) -> None:
    call = getattr(seinpaal.connect("memory:", lazy=True).mutex(name), method)
    hints = {
        "blocking": "try_acquire",
        "blocking_timeout": "use timeout=",
        "expire": "use ttl=",
        "tiemout": "did you mean timeout=",
        "permts": "did you mean permits=",
        "zzz": "there are timeout, permits",
    }
    for argument, hint in hints.items():
        with pytest.raises(TypeError, match=f"{method}.*{argument!r}.*{hint}"):
            call(**{argument: 1})
    with pytest.raises(TypeError, match="try_acquire"):
        call(False)


def test_every_option_is_in_the_signature(name: str) -> None:
    lock = seinpaal.connect("memory:", lazy=True).mutex(name)
    options = "timeout permits priority ttl max_waiting labels slot_names".split()
    for method in ACQUIRES:
        assert list(inspect.signature(getattr(lock, method)).parameters) == options


def test_a_wrong_type_is_told_where_it_is_given(name: str) -> None:
    store = seinpaal.connect("memory:", lazy=True)
    nightly, wrong = store.mutex(name), cast(Any, b"x")
    calls: dict[Callable[[], object], str] = {
        lambda: store.mutex(wrong): "a name is a str, not b'x'",
        lambda: store.semaphore(name, wrong): "limit is a whole number, not b'x'",
        lambda: nightly.holding(timeout=wrong): "a time is a number of seconds or a timedelta",
        lambda: nightly.holding(permits=wrong): "permits is a whole number",
        lambda: nightly.holding(labels={"a": wrong}): "a label is a str",
        lambda: store.queue(name).push(cast(Any, {"a": 1})): "a payload is .* not dict",
    }
    for call, said in calls.items():
        with pytest.raises(TypeError, match=said):
            call()
    with pytest.raises(errors.BadCount):
        store.semaphore(name, -1)
    with pytest.raises(errors.BadName):
        store.rwlock("")
    with pytest.raises(errors.BadSetting, match="'adopt'"):
        store.semaphore(name, 1, on_mismatch=wrong)


def test_an_error_of_a_request_says_which_name_it_is_about(
    store: seinpaal.Seinpaal, name: str
) -> None:
    with store.mutex(name):
        with pytest.raises(seinpaal.TimedOut, match=f"^{name}: timed out waiting$") as late:
            store.mutex(name).acquire(timeout=0.1)
        assert late.value.name == name
        assert pickle.loads(pickle.dumps(late.value)).name == name
        with pytest.raises(seinpaal.TimedOut, match=f"^{name}: timed out waiting$") as all_late:
            store.acquire_all(store.mutex(name), timeout=0.1)
        assert all_late.value.name == name


def test_a_caller_chooses_what_another_limit_means(store: seinpaal.Seinpaal, name: str) -> None:
    with store.semaphore(name, 4):
        with pytest.raises(errors.OtherLimit, match='on_mismatch="adopt".*on_mismatch="set"'):
            store.semaphore(name, 8).acquire()
        with store.semaphore(name, 8, on_mismatch="adopt") as permit:
            assert permit.limit == 4
        with store.semaphore(name, 8, on_mismatch="set") as permit:
            assert permit.limit == 8
        with pytest.raises(errors.OtherLimit):
            store.semaphore(name, 4, on_mismatch="exact").acquire()
