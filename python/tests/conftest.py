"""Stores to test with. `python/test` starts the Redis."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import seinpaal

REDIS = os.environ["SEINPAAL_TEST_REDIS"]
#: Where the servers of other stores are reached, by the kind of store.
SERVERS = dict(line.split() for line in os.environ["SEINPAAL_TEST_SERVERS"].splitlines())
_names = itertools.count()


@pytest.fixture(params=["memory", "file", "redis"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each kind of store in turn."""
    return url_of(request.param, tmp_path)


def url_of(kind: str, tmp_path: Path) -> str:
    """A store that no other test uses, but for servers, where names are a test's own."""
    return {
        "memory": f"memory:{tmp_path.name}",
        "file": f"file://{tmp_path}/store",
        "redis": REDIS,
        **SERVERS,
    }[kind]


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return f"test {os.getpid()} {next(_names)}"


@pytest.fixture
def store(url: str) -> Iterator[seinpaal.Seinpaal]:
    with seinpaal.connect(url) as connection:
        yield connection


@pytest.fixture
def redis() -> Iterator[seinpaal.Seinpaal]:
    """Where permits live by their leases."""
    with seinpaal.connect(REDIS) as connection:
        yield connection


def until(holds: Callable[[], bool]) -> None:
    """Waits for something that is bound to come."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it did not come within a minute"
        time.sleep(0.005)
