"""Semaphores, mutexes and readers-writer locks."""

from __future__ import annotations

import pytest

import seinpaal
from seinpaal import errors

from .stage import SOON, Stage


def a_name_is_one_kind_of_lock_at_a_time(stage: Stage) -> None:
    client = stage.client()
    for number in range(3):
        kinds = _every_kind(client.connection, f"{stage.name} {number}")
        stored = kinds.pop(number)
        kept = client.take(stored)
        for stated in kinds:
            with pytest.raises(errors.OtherKind):
                client.attempt(stated)
        assert stored.snapshot().holders == [kept.ticket]


def _every_kind(connection: seinpaal.Seinpaal, name: str) -> list[seinpaal.Lock]:
    return [connection.semaphore(name), connection.mutex(name), connection.rwlock(name).read]


def the_limit_of_a_mutex_cannot_be_changed(stage: Stage) -> None:
    client = stage.client()
    kept = client.take(client.mutex())
    with pytest.raises(errors.OtherKind):
        client.semaphore().set_limit(2)
    assert client.look().limit == 1
    assert kept.is_held


def a_name_whose_limit_was_set_on_purpose_is_a_semaphore(stage: Stage) -> None:
    client = stage.limited(1)
    with pytest.raises(errors.OtherKind):
        client.attempt(client.mutex())


def readers_share_and_a_writer_excludes(stage: Stage) -> None:
    client = stage.client()
    lock = client.rwlock()
    a, b = client.take(lock.read), client.take(lock.read)
    writer = client.queue(lock.write)
    client.release(a)
    assert client.holders == [b.ticket]
    client.release(b)
    assert client.holders == [writer.result(SOON).ticket]


def readers_that_come_after_a_waiting_writer_wait_for_it(stage: Stage) -> None:
    client = stage.client()
    lock = client.rwlock()
    a = client.take(lock.read)
    writer = client.queue(lock.write)
    readers = [client.queue(lock.read), client.queue(lock.read)]
    client.release(a)
    b = writer.result(SOON)
    assert client.holders == [b.ticket]
    client.release(b)
    assert client.holders == [asked.result(SOON).ticket for asked in readers]


def a_writer_that_becomes_a_reader_lets_readers_in_and_no_writer(stage: Stage) -> None:
    client = stage.client()
    lock = client.rwlock()
    a = client.take(lock.write)
    reader, writer = client.queue(lock.read), client.queue(lock.write)
    now = stage.face.begin(a.downgrade, a.downgrade_async).result(SOON)
    assert client.holders == [now.ticket, reader.result(SOON).ticket]
    assert len(client.waiters) == 1 and not writer.done()


def a_writer_gets_all_permits_in_one_piece_whatever_readers_left(stage: Stage) -> None:
    client = stage.client()
    lock = client.rwlock()
    a, b, c = [client.take(lock.read) for _ in range(3)]
    writer = client.queue(lock.write)
    for permit in (b, a, c):
        client.release(permit)
    got = writer.result(SOON)
    assert (got.slot, got.slots) == (0, tuple(range(1024)))
