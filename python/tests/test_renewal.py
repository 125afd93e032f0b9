"""Renewal needs neither the GIL nor an event loop, and a wait holds neither."""

from __future__ import annotations

import asyncio
import ctypes
import subprocess
import sys
import threading
import time
from pathlib import Path

from conftest import REDIS, STORES, until, url_of

import seinpaal

#: With a shorter ttl a busy machine may renew too late, and a permit would rightly be lost.
TTL = 10.0
HOLDS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()


def connections(tmp_path: Path) -> dict[str, seinpaal.Seinpaal]:
    """One to each kind of store. All are tried at once, since each trial takes half a minute."""
    return {kind: seinpaal.connect(url_of(kind, tmp_path), ttl=TTL) for kind in STORES}


def test_a_loop_blocked_for_three_ttls_keeps_its_permit_on_every_store(tmp_path: Path, name: str) -> None:
    async def main() -> None:
        stores = connections(tmp_path)
        permits = {kind: await store.mutex(name).acquire_async() for kind, store in stores.items()}
        time.sleep(3 * TTL)
        for kind, store in stores.items():
            assert permits[kind].is_held, kind
            assert (await store.mutex(name).snapshot_async()).holders == [permits[kind].ticket], kind
            assert await store.mutex(name).try_acquire_async() is None, kind
            await permits[kind].release_async()
            await store.close_async()

    asyncio.run(main())


def test_a_loop_blocked_for_three_ttls_keeps_its_permit_with_defaults_too(name: str) -> None:
    """A minute and a half: the ttl is 30 s."""

    async def main() -> None:
        store = await seinpaal.connect_async(REDIS)
        async with store.mutex(name) as permit:
            first = permit.remaining
            assert first is not None and 15 < first <= 30
            time.sleep(90)
            assert permit.is_held
            assert (await store.mutex(name).snapshot_async()).holders == [permit.ticket]
        await store.close_async()

    asyncio.run(main())


def test_a_gil_held_for_three_ttls_keeps_its_permit_on_every_store(tmp_path: Path, name: str) -> None:
    stores = connections(tmp_path)
    permits = {kind: store.mutex(name).acquire() for kind, store in stores.items()}
    turns, is_over = 0, False

    def count() -> None:
        nonlocal turns
        while not is_over:
            turns += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    # A foreign function that keeps the GIL: no Python thread runs meanwhile.
    before = turns
    ctypes.PyDLL(None).usleep(int(3 * TTL * 1e6))
    during = turns - before
    is_over = True
    counter.join()
    # Where there is no GIL to keep, the others run on, and the permits are kept all the same.
    assert during <= 2 or not HOLDS_GIL, f"the GIL was not held: another thread ran {during} times"
    for kind, store in stores.items():
        assert permits[kind].is_held, kind
        assert store.mutex(name).snapshot().holders == [permits[kind].ticket], kind
        permits[kind].release()
        store.close()


def test_a_permit_without_renewal_would_have_been_lost(url: str, name: str) -> None:
    """Shows that the tests above can fail: nobody renews a detached permit."""
    store = seinpaal.connect(url, ttl=2)
    store.mutex(name).acquire().detach()
    until(lambda: store.mutex(name).snapshot().holders_total == 0)


ENDS = """
import sys, seinpaal
permit = seinpaal.connect(sys.argv[1]).mutex(sys.argv[2]).acquire()
kept = [permit]
kept.append(kept)
print(permit.ticket)
"""


def test_a_program_that_just_ends_gives_back_what_it_holds(
    redis: seinpaal.Seinpaal, name: str
) -> None:
    subprocess.run([sys.executable, "-c", ENDS, REDIS, name], check=True)
    assert redis.mutex(name).snapshot().holders_total == 0
