"""Programs that fork: Celery's prefork, gunicorn with a preloaded module, a loader's pool."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import forks
import pytest
from celery import Celery
from conftest import REDIS, until, url_of

import seinpaal

#: Stores, and whether the parent uses its connection and holds a permit before it forks.
PARENTS = [("file", False), ("redis", False), ("redis", True)]
parents = pytest.mark.parametrize(
    ("kind", "is_used"), PARENTS, ids=["file", "redis", "redis, used and held by the parent"]
)

#: The common part of the modules of servers: a limit, and work that fails if the limit is exceeded.
MODULE = """
import os, time, seinpaal

store = seinpaal.connect({url!r}, lazy=True)
slots = store.semaphore({name!r}, 2)
held = store.mutex({name!r} + " parent").acquire() if {is_used} else None

def work():
    with slots as permit:
        # Another holder of this slot would have made the file, and this line would fail.
        mark = f"{directory}/{{permit.slot}}"
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        time.sleep(0.01)
        os.unlink(mark)
    is_mine = held is not None and held.is_held
    is_free = store.mutex({name!r} + " parent").try_acquire() is not None if held else None
    return [os.getpid(), is_mine, is_free]
"""

TASKS = """
from celery import Celery
from work import work

app = Celery("tasks", broker={broker!r}, backend={broker!r})
app.conf.task_default_queue = {queue!r}
app.task(work, name="work")
"""

SITE = """
import json
from work import work

def application(environment, start):
    body = json.dumps(work()).encode()
    start("200 OK", [("Content-Type", "application/json")])
    return [body]
"""


def write_modules(directory: Path, kind: str, name: str, is_used: bool) -> None:
    url = url_of(kind, directory)
    words = MODULE.format(url=url, name=name, is_used=is_used, directory=directory)
    (directory / "work.py").write_text(words)


@contextmanager
def serving(directory: Path, *command: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A server in a directory, whose output goes to a file. It must shut down cleanly."""
    log = directory / "log"
    with open(log, "w") as words:
        server = subprocess.Popen(
            [sys.executable, "-m", *command], cwd=directory, stdout=words, stderr=words, text=True
        )
    try:
        yield server, log
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0, log.read_text()
    finally:
        server.kill()
        server.wait()


def check(answers: list[list[Any]], server: int, is_used: bool) -> None:
    """Checks the workers' reports: their processes, the parent's permit and its name."""
    workers = {answer[0] for answer in answers}
    assert len(workers) >= 2 and server not in workers
    expected = [False, False] if is_used else [False, None]
    assert all(answer[1:] == expected for answer in answers), answers


def is_left(kind: str, directory: Path, name: str) -> int:
    """How many permits are held after the server has gone."""
    with seinpaal.connect(url_of(kind, directory)) as store:
        return store.semaphore(name).snapshot().permits_held


@parents
def test_celerys_prefork_workers_share_a_limit(
    kind: str, is_used: bool, tmp_path: Path, name: str
) -> None:
    write_modules(tmp_path, kind, name, is_used)
    broker = f"{REDIS}/1"
    (tmp_path / "tasks.py").write_text(TASKS.format(broker=broker, queue=name))
    options = ["--pool", "prefork", "--concurrency", "4", "--loglevel", "WARNING", "-Q", name]
    app = Celery("tasks", broker=broker, backend=broker)
    with serving(tmp_path, "celery", "-A", "tasks", "worker", *options) as (server, log):
        asked = [app.send_task("work", queue=name) for _ in range(48)]
        answers = [one.get(timeout=60) for one in asked]
        assert "Traceback" not in log.read_text(), log.read_text()
    app.close()
    check(answers, server.pid, is_used)
    assert is_left(kind, tmp_path, name) == 0


@parents
def test_gunicorns_preloaded_workers_share_a_limit(
    kind: str, is_used: bool, tmp_path: Path, name: str
) -> None:
    write_modules(tmp_path, kind, name, is_used)
    (tmp_path / "site_of_test.py").write_text(SITE)
    options = ["--preload", "--workers", "4", "--bind", "127.0.0.1:0", "--no-control-socket"]
    with serving(tmp_path, "gunicorn", *options, "site_of_test:application") as (server, log):
        address = _address(server, log)
        answers = _asked_at_once(address, 48)
        assert "Traceback" not in log.read_text(), log.read_text()
    check(answers, server.pid, is_used)
    assert is_left(kind, tmp_path, name) == 0


def _address(server: subprocess.Popen[str], log: Path) -> str:
    def listens() -> re.Match[str] | None:
        assert server.poll() is None, log.read_text()
        return re.search(r"Listening at: (http://\S+)", log.read_text())

    until(lambda: listens() is not None)
    found = listens()
    assert found is not None
    return found[1]


def _asked_at_once(address: str, many: int) -> list[list[Any]]:
    answers: list[list[Any]] = []

    def ask() -> None:
        for _ in range(many // 8):
            with urllib.request.urlopen(address, timeout=60) as answer:
                answers.append(json.load(answer))

    clients = [threading.Thread(target=ask) for _ in range(8)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert len(answers) == many, "a request failed"
    return answers


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
@pytest.mark.parametrize("is_used", [False, True], ids=["before first use", "used and held"])
def test_a_loaders_pool_shares_a_limit_over_its_epochs(
    method: str, is_used: bool, tmp_path: Path, name: str
) -> None:
    store = seinpaal.connect(REDIS, lazy=True)
    held = store.mutex(f"{name} parent").acquire() if is_used else None
    samples = forks.Samples(store.semaphore(name, 2), str(tmp_path))
    context: Any = multiprocessing.get_context(method)
    for _ in range(2):
        loaded = list(forks.Loader(samples, context, workers=4))
        assert [index for index, _ in loaded] == list(range(len(samples)))
        workers = {worker for _, worker in loaded}
        assert len(workers) == 4 and os.getpid() not in workers
    assert held is None or held.is_held
    assert store.semaphore(name).snapshot().permits_held == 0
    store.close()
