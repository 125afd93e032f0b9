"""The ends of leases. A lease that nobody renews is one that was detached."""

from __future__ import annotations

import time

import pytest
from conftest import until

from seinpaal import errors

from .stage import SOON, Stage


def a_lease_that_nobody_renews_ends(stage: Stage) -> None:
    client = stage.client()
    began = time.monotonic()
    ticket = client.take(ttl=1).detach()
    until(lambda: not client.holders)
    assert time.monotonic() - began >= 1, "it ended before its ttl"
    with pytest.raises(errors.AcquireError):
        client.semaphore().attach(ticket)
    client.take()


def a_client_that_lives_holds_without_renewing(stage: Stage) -> None:
    client = stage.limited(2)
    permit = client.take(ttl=0.2)
    assert permit.remaining is None, "it lasts as long as its process"
    client.take(ttl=1).detach()  # Five ttls of the other.
    until(lambda: client.holders == [permit.ticket])
    assert permit.is_held


def each_lease_has_the_length_its_holder_named(stage: Stage) -> None:
    client = stage.limited(3)
    long, short, middle = [client.take(ttl=ttl).detach() for ttl in (600, 0.2, 2)]
    until(lambda: client.holders == [long, middle])
    until(lambda: client.holders == [long])
    assert short != middle


def a_ttl_of_a_day_outlives_a_short_one_asked_for_later(stage: Stage) -> None:
    client = stage.limited(2)
    day = client.take(ttl=86_400).detach()
    client.take(ttl=0.1).detach()
    until(lambda: client.holders == [day])
    client.semaphore().evict(day)


def what_a_dead_holder_held_is_free_at_once(stage: Stage) -> None:
    client = stage.limited(2)
    dying = stage.elsewhere("semaphore", permits=2).has_it()
    asked = client.queue(permits=2)
    dying.die()
    asked.result(SOON)


def what_a_dead_holder_held_is_free_after_its_ttl_however_long_nobody_looked(stage: Stage) -> None:
    client = stage.client()
    stage.elsewhere("semaphore", ttl=1).has_it().die()
    client.ask().result(SOON)


def a_dead_waiter_at_the_head_holds_up_nobody(stage: Stage) -> None:
    holder, behind = stage.limited(2), stage.client()
    held = holder.take(permits=2)
    dying = stage.elsewhere("semaphore", permits=2)
    until(lambda: holder.look().waiting_total == 1)
    asked = behind.queue()
    dying.die()
    holder.release(held)
    asked.result(SOON)


def a_waiter_that_died_is_not_granted_later(stage: Stage) -> None:
    holder = stage.client()
    held = holder.take()
    dying = stage.elsewhere("semaphore")
    until(lambda: holder.look().waiting_total == 1)
    dying.die()
    holder.release(held)
    # On a server its place ends after 15 s.
    until(lambda: holder.look().waiting_total == 0)
    if stage.kind == "zookeeper":
        # On ZooKeeper nobody knows that the client died until its session ends, so it keeps the
        # permit.
        until(lambda: holder.look().permits_held == 0)
    assert holder.look().permits_held == 0


def the_time_that_a_grant_is_valid_for_is_the_ttl_and_runs_down(stage: Stage) -> None:
    permit = stage.client().take(ttl=600)
    first = permit.remaining
    assert first is not None and 0 < first <= 600

    def has_run_down() -> bool:
        now = permit.remaining
        return now is not None and now < first - 0.05

    until(has_run_down)
