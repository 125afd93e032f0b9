"""Servers and pools: a module makes its connection, then workers are forked."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from conftest import url_of

import seinpaal

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


PRELOAD = """
import os, sys, time, seinpaal
slots = seinpaal.connect(sys.argv[1], lazy=True).semaphore(sys.argv[2], 2)
def serve():
    for _ in range(5):
        with slots as permit:
            # Another holder of this slot would have made the file, and this line would fail.
            mark = f"{sys.argv[3]}/{permit.slot}"
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            os.unlink(mark)
workers = []
for _ in range(4):
    worker = os.fork()
    if worker == 0:
        status = 1
        try:
            serve()
            status = 0
        finally:
            os._exit(status)
    workers.append(worker)
sys.exit(any(os.waitpid(worker, 0)[1] for worker in workers))
"""


@pytest.mark.parametrize("kind", ["file", "redis"])
def test_workers_forked_from_a_preloaded_module_share_a_limit(
    kind: str, tmp_path: Path, name: str
) -> None:
    arguments = [url_of(kind, tmp_path), name, str(tmp_path)]
    subprocess.run([sys.executable, "-c", PRELOAD, *arguments], check=True, timeout=120)


_slots: seinpaal.Semaphore | None = None


def _load(directory: str) -> int:
    assert _slots is not None
    with _slots as permit:
        mark = f"{directory}/{permit.slot}"
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        time.sleep(0.002)
        os.unlink(mark)
    return os.getpid()


def test_a_forked_pool_that_inherits_a_semaphore_in_use_shares_its_limit(
    redis: seinpaal.Seinpaal, tmp_path: Path, name: str
) -> None:
    global _slots
    _slots = redis.semaphore(name, 2)
    _slots.acquire().release()
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(4, mp_context=context) as pool:
        workers = set(pool.map(_load, [str(tmp_path)] * 32))
    assert os.getpid() not in workers
    assert _slots.snapshot().permits_held == 0
