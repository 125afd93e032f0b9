"""Permits of threads: semaphores, mutexes, readers-writer locks."""

from __future__ import annotations

import gc
import pickle
import threading
from datetime import timedelta

import pytest
from conftest import until

import seinpaal
from seinpaal import errors


def test_at_most_the_limit_is_held(store: seinpaal.Seinpaal, name: str) -> None:
    gpus = store.semaphore(name, 2)
    one, two = gpus.acquire(), gpus.acquire()
    assert {one.slot, two.slot} == {0, 1}
    assert one.fence < two.fence
    assert gpus.try_acquire() is None
    one.release()
    three = gpus.try_acquire()
    assert three is not None
    assert (three.slot, three.limit, three.permits, three.name) == (0, 2, 1, name)
    assert three.fence > two.fence
    assert three.ticket in gpus.snapshot().holders


def test_a_block_holds_a_permit_and_gives_it_back(store: seinpaal.Seinpaal, name: str) -> None:
    nightly = store.mutex(name)
    with nightly as permit:
        assert permit.is_held and permit.lost is None
        assert nightly.try_acquire() is None
    assert not permit.is_held
    assert nightly.snapshot().holders_total == 0


def test_a_block_that_raises_gives_its_permit_back(store: seinpaal.Seinpaal, name: str) -> None:
    nightly = store.mutex(name)
    with pytest.raises(KeyError), nightly:
        raise KeyError("mine")
    assert nightly.snapshot().holders_total == 0


def test_a_permit_released_inside_its_block_is_released_once(
    store: seinpaal.Seinpaal, name: str
) -> None:
    with store.mutex(name) as permit:
        permit.release()
        with store.mutex(name):
            pass
    with pytest.raises(seinpaal.NotHeld):
        permit.release()


def test_blocks_of_one_lock_nest_if_there_are_permits(store: seinpaal.Seinpaal, name: str) -> None:
    gpus = store.semaphore(name, 2)
    with gpus as outer, gpus as inner:
        assert outer.slot != inner.slot
    assert gpus.snapshot().permits_held == 0


def test_a_permit_that_nobody_has_any_more_goes_back(store: seinpaal.Seinpaal, name: str) -> None:
    nightly = store.mutex(name)
    permit: seinpaal.Permit | None = nightly.acquire()
    assert permit is not None
    permit.on_lost(print)
    permit = None
    gc.collect()
    nightly.acquire().release()


def test_a_wait_ends_with_its_timeout(store: seinpaal.Seinpaal, name: str) -> None:
    nightly = store.mutex(name)
    with nightly:
        with pytest.raises(seinpaal.TimedOut, match="timed out waiting"):
            nightly.acquire(timeout=1)
        with pytest.raises(TimeoutError):
            nightly.acquire(timeout=timedelta(seconds=1))
        assert nightly.snapshot().waiting_total == 0


def test_a_wait_holds_up_no_other_thread(store: seinpaal.Seinpaal, name: str) -> None:
    nightly = store.mutex(name)
    got: list[seinpaal.Permit] = []
    held = nightly.acquire()
    waiter = threading.Thread(target=lambda: got.append(nightly.acquire()))
    waiter.start()
    until(lambda: nightly.snapshot().waiting_total == 1)
    held.release()
    waiter.join()
    assert got[0].is_held and got[0].fence > held.fence


def test_sixty_four_threads_are_served_in_turn(store: seinpaal.Seinpaal, name: str) -> None:
    gpus = store.semaphore(name, 4)
    inside, most = 0, 0
    mutex = threading.Lock()

    def work() -> None:
        nonlocal inside, most
        with gpus:
            with mutex:
                inside += 1
                most = max(most, inside)
            with mutex:
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= most <= 4
    assert gpus.snapshot().permits_held == 0


def test_a_writer_is_alone_and_becomes_a_reader(store: seinpaal.Seinpaal, name: str) -> None:
    catalogue = store.rwlock(name)
    with catalogue.read, catalogue.read:
        assert catalogue.write.try_acquire() is None
    writer = catalogue.write.acquire()
    assert catalogue.read.try_acquire() is None
    reader = writer.downgrade()
    with catalogue.read:
        assert reader.is_held and not writer.is_held


def test_several_names_are_had_together_or_not_at_all(store: seinpaal.Seinpaal, name: str) -> None:
    gpus, disk = store.semaphore(f"{name} gpus", 4), store.mutex(f"{name} disk")
    with store.acquire_all(gpus.holding(permits=2), disk, timeout=10) as both:
        assert [permit.permits for permit in both] == [2, 1]
        assert both[0].slots == (0, 1)
        assert store.try_acquire_all(gpus, disk) is None
        assert gpus.snapshot().permits_held == 2
    assert gpus.snapshot().permits_held == disk.snapshot().permits_held == 0


def test_one_name_twice_in_one_request_is_refused(store: seinpaal.Seinpaal, name: str) -> None:
    with pytest.raises(errors.NamedTwice, match=name):
        store.acquire_all(store.mutex(name), store.mutex(name))


def test_a_decorated_function_holds_a_permit_while_it_runs(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)

    @nightly
    def report(day: str) -> str:
        """Its own words."""
        assert nightly.try_acquire() is None
        return f"report of {day}"

    @nightly.holding(timeout=5)
    def other() -> int:
        return nightly.snapshot().holders_total

    assert report("Monday") == "report of Monday"
    assert report.__doc__ == "Its own words."
    assert other() == 1
    assert nightly.snapshot().holders_total == 0


def test_who_is_evicted_learns_it_at_the_end_of_the_block(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)
    with pytest.raises(seinpaal.Lost, match=f"{name}: somebody evicted it"), nightly as permit:
        nightly.evict(permit.ticket)
        until(lambda: permit.lost is not None)
        assert not permit.is_held


def test_what_the_block_raised_is_not_hidden_by_the_loss(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)
    with pytest.raises(KeyError), nightly as permit:
        nightly.evict(permit.ticket)
        until(lambda: permit.lost is not None)
        raise KeyError("mine")


def test_a_loss_is_called_back_once(store: seinpaal.Seinpaal, name: str) -> None:
    nightly = store.mutex(name)
    permit = nightly.acquire()
    told: list[seinpaal.Lost] = []
    permit.on_lost(told.append)
    nightly.evict(permit.ticket)
    until(lambda: bool(told))
    assert str(told[0]) == f"{name}: somebody evicted it"
    permit.on_lost(told.append)
    assert len(told) == 2, "at once, since it is lost"
    with pytest.raises(seinpaal.NotHeld):
        permit.release()


def test_a_permit_that_is_given_back_calls_nobody_back(store: seinpaal.Seinpaal, name: str) -> None:
    told: list[seinpaal.Lost] = []
    with store.mutex(name) as permit:
        permit.on_lost(told.append)
    with store.mutex(name) as permit:
        permit.on_lost(told.append)
        store.mutex(name).evict(permit.ticket)
        until(lambda: bool(told))
        try:
            permit.release()
        except seinpaal.NotHeld:
            pass
    assert len(told) == 1


def test_a_holder_is_called_back_for_each_ask_until_it_gives_back(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)
    permit = nightly.acquire()
    assert permit.asked(0) is None
    heard: list[seinpaal.HandOverAsk] = []

    def hear(ask: seinpaal.HandOverAsk) -> None:
        heard.append(ask)
        if len(heard) == 1:
            raise RuntimeError("what a callback raises ends nothing")

    permit.on_asked(hear)
    nightly.ask_holder(permit.ticket, "a release is due", by="eve")
    until(lambda: len(heard) == 1)
    nightly.ask_holder(permit.ticket, "<b>still</b> waiting")
    until(lambda: len(heard) == 2)
    assert (heard[0].by, heard[0].reason) == ("eve", "a release is due")
    assert "@" in heard[1].by and heard[1].reason == "<b>still</b> waiting"
    assert permit.is_held
    permit.release()
    with pytest.raises(seinpaal.NotHeld):
        permit.asked(0)


def test_a_permit_that_only_its_callback_for_asks_has_goes_back(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)
    permit = nightly.acquire()
    permit.on_asked(lambda ask: None)
    del permit
    gc.collect()
    until(lambda: nightly.snapshot().holders_total == 0)


def test_a_wait_for_an_ask_ends_with_the_loss_or_the_release_of_the_permit(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)
    permit = nightly.acquire()
    nightly.evict(permit.ticket)
    with pytest.raises(seinpaal.Lost, match="evicted"):
        permit.asked()
    permit = nightly.acquire()
    ended: list[object] = []

    def wait() -> None:
        try:
            ended.append(permit.asked())
        except seinpaal.NotHeld as error:
            ended.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    permit.release()
    thread.join(60)
    assert [type(end) for end in ended] == [seinpaal.NotHeld]


def test_words_of_an_ask_that_cannot_be_shown_are_refused(store: seinpaal.Seinpaal, name: str) -> None:
    nightly = store.mutex(name)
    with nightly as permit:
        for by, reason in [("", "x"), ("eve", ""), ("a\nb", "x"), ("eve", "x" * 513)]:
            with pytest.raises(errors.BadSetting):
                nightly.ask_holder(permit.ticket, reason, by=by)
        assert nightly.snapshot().asks == {}


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


def test_a_callback_that_raises_does_not_stop_later_ones(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)
    told: list[seinpaal.Lost] = []

    def fail(loss: seinpaal.Lost) -> None:
        raise RuntimeError("a callback of the test")

    for callback in (fail, told.append):
        permit = nightly.acquire()
        permit.on_lost(callback)
        nightly.evict(permit.ticket)
    until(lambda: bool(told))


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


def test_a_request_does_not_queue_behind_too_many(store: seinpaal.Seinpaal, name: str) -> None:
    nightly = store.mutex(name)
    with nightly, pytest.raises(seinpaal.Busy):
        nightly.acquire(max_waiting=0)


def test_closing_ends_every_wait(url: str, name: str) -> None:
    store = seinpaal.connect(url)
    nightly = store.mutex(name)
    held = nightly.acquire()
    ends: list[Exception] = []

    def wait() -> None:
        try:
            nightly.acquire()
        except Exception as error:
            ends.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    until(lambda: nightly.snapshot().waiting_total == 1)
    store.close()
    waiter.join()
    assert isinstance(ends[0], seinpaal.Closed)
    assert not held.is_held
    with pytest.raises(seinpaal.Closed):
        nightly.acquire()


def test_an_operator_sets_the_limit_and_pauses(store: seinpaal.Seinpaal, name: str) -> None:
    gpus = store.semaphore(name, 1)
    gpus.set_limit(2)
    with gpus, gpus:
        assert gpus.snapshot().limit == 2
    with pytest.raises(errors.OtherLimit):
        store.semaphore(name, 1, exactly=True).acquire()
    gpus.unset_limit()
    gpus.pause("driver update")
    assert gpus.try_acquire() is None
    assert gpus.snapshot().paused == "driver update"
    gpus.resume()
    gpus.acquire().release()


def test_a_ticket_changes_hands(store: seinpaal.Seinpaal, name: str) -> None:
    gpus = store.semaphore(name, 1)
    permit = gpus.acquire()
    ticket = permit.detach()
    assert not permit.is_held
    attached = gpus.attach(ticket)
    assert attached.ticket == ticket and attached.fence > permit.fence


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
