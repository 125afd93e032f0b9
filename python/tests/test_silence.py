"""A store that falls silent: its permits are lost, and every way to learn of it works."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import until

import seinpaal

TTL = 2.0


class Server:
    """A Redis of this test's own, which can fall silent."""

    def __init__(self, directory: Path) -> None:
        # By a socket: it needs no port that somebody else may take.
        socket = directory / "redis"
        self.url = f"unix://{socket}"
        command = ["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", ""]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=directory)
        until(socket.exists)

    def falls_silent(self) -> None:
        os.kill(self._process.pid, signal.SIGSTOP)

    def ends(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.ends()


def test_a_block_learns_at_its_end_that_the_store_fell_silent(server: Server, name: str) -> None:
    store = seinpaal.connect(server.url, ttl=TTL)
    told: list[seinpaal.Lost] = []
    with pytest.raises(seinpaal.Lost) as lost, store.mutex(name) as permit:
        permit.on_lost(told.append)
        server.falls_silent()
        until(lambda: permit.lost is not None)
        assert not permit.is_held
        until(lambda: bool(told))
    assert str(told[0]) == str(lost.value)


def test_a_task_is_cancelled_in_its_block_when_the_store_falls_silent(server: Server, name: str) -> None:
    was_cancelled = False

    async def main() -> None:
        nonlocal was_cancelled
        store = await seinpaal.connect_async(server.url, ttl=TTL)
        async with store.mutex(name):
            server.falls_silent()
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                was_cancelled = True
                raise

    with pytest.raises(seinpaal.Lost):
        asyncio.run(main())
    assert was_cancelled


def test_a_blocked_loop_is_told_at_the_end_of_its_block(server: Server, name: str) -> None:
    async def main() -> None:
        store = await seinpaal.connect_async(server.url, ttl=TTL)
        async with store.mutex(name) as permit:
            server.falls_silent()
            while permit.lost is None:
                time.sleep(0.01)

    with pytest.raises(seinpaal.Lost):
        asyncio.run(main())


def test_a_decorated_function_that_outlives_its_permit_returns_nothing(server: Server, name: str) -> None:
    nightly = seinpaal.connect(server.url, ttl=TTL).mutex(name)

    @nightly
    def report() -> str:
        server.falls_silent()
        time.sleep(2 * TTL)
        return "done"

    with pytest.raises(seinpaal.Lost):
        report()
