"""Snapshots of a name."""

from __future__ import annotations

from conftest import until

from .stage import Stage


def a_snapshot_agrees_with_what_was_granted(stage: Stage) -> None:
    client = stage.limited(3)
    permit = client.take(permits=2)
    client.queue(permits=2)
    seen = client.look()
    assert (seen.limit, seen.paused) == (3, None)
    assert (seen.permits_held, seen.holders_total, seen.waiting_total) == (2, 1, 1)
    assert (seen.holders, len(seen.waiters)) == ([permit.ticket], 1)


def a_snapshot_never_shows_what_has_run_out(stage: Stage) -> None:
    client = stage.client()
    client.take(ttl=0.1).detach()
    until(lambda: client.look().permits_held == 0)
    client.take()
