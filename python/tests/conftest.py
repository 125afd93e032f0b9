"""Stores to test with. `python/test` starts their servers."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

import seinpaal

pytest.register_assert_rewrite("conformance")

REDIS = os.environ["SEINPAAL_TEST_REDIS"]
#: The URLs of the servers of other stores, by the kind of store.
SERVERS = dict(line.split() for line in os.environ["SEINPAAL_TEST_SERVERS"].splitlines())
#: Every kind of store.
STORES = ["file", "redis", "memory", *SERVERS]
#: The abilities that a store lacks, by their names in `crates/conformance`.
LACKS = {
    "quorum": {"KeepsOrder", "NamesSlots", "KeepsQueues"},
    "zookeeper": {"KeepsQueues"},
}
_names = itertools.count()


def stores_that_promise(needs: set[str], among: Iterable[str] = STORES) -> Iterator[str]:
    """The stores among these, in their order, that have everything that a test needs."""
    for store in STORES:
        if store in among and not needs & LACKS.get(store, set()):
            yield store


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs a test that takes a store on each store that has the abilities in the test's marks."""
    if "url" in metafunc.fixturenames:
        needs = {need for mark in metafunc.definition.iter_markers("needs") for need in mark.args}
        metafunc.parametrize("url", list(stores_that_promise(needs)), indirect=True)


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each kind of store in turn."""
    return url_of(request.param, tmp_path)


def url_of(kind: str, tmp_path: Path) -> str:
    """A store that no other test uses. On servers, a test has names of its own instead."""
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
    """A store whose permits last as long as their leases."""
    with seinpaal.connect(REDIS) as connection:
        yield connection


def until(holds: Callable[[], bool]) -> None:
    """Waits for a condition that must come true."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it did not come within a minute"
        time.sleep(0.005)
