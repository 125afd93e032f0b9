"""Children by fork, forkserver and spawn: before and after first use, with a permit and without."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import forks
import pytest
from conftest import REDIS, STORES, until, url_of

import seinpaal

METHODS = ["fork", "forkserver", "spawn"]
#: Stores that several programs can share.
SHARED = [kind for kind in STORES if kind != "memory"]
#: The stores that a child cannot use if its parent has used one, with the part that breaks.
BROKEN_BY_FORK = {"file": "SQLite", "zookeeper": "its client"}


def answers_of(method: str, *locks: seinpaal.Mutex) -> Any:
    """The outputs of a child that was started by this method: from a thread, and from asyncio."""
    context: Any = multiprocessing.get_context(method)
    here, there = context.Pipe()
    child = context.Process(target=forks.try_both, args=(*locks, there))
    child.start()
    there.close()
    answers = here.recv()
    child.join()
    assert child.exitcode == 0
    return answers


@pytest.mark.parametrize("is_held", [False, True], ids=["free", "held"])
@pytest.mark.parametrize("is_used", [False, True], ids=["before first use", "after first use"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", SHARED)
def test_a_child_has_a_connection_of_its_own(
    kind: str, method: str, is_used: bool, is_held: bool, tmp_path: Path, name: str
) -> None:
    url = url_of(kind, tmp_path)
    # The check is about the whole process, and this process has opened such stores already.
    if kind in BROKEN_BY_FORK and method == "fork":
        run_apart(f"matrix({url!r}, {name!r}, {method!r}, {is_used}, {is_held})")
    else:
        matrix(url, name, method, is_used, is_held)


def matrix(url: str, name: str, method: str, is_used: bool, is_held: bool) -> None:
    """One case. Before first use the permit is held by another program, after it by this one."""
    locks = [seinpaal.connect(url, lazy=True).mutex(name) for _ in ("sync", "asyncio")]
    held = locks[0].acquire() if is_used and is_held else None
    other = elsewhere(url, name) if is_held and not is_used else None
    if is_used:
        assert [lock.snapshot().holders_total for lock in locks] == [is_held, is_held]
    answers = answers_of(method, *locks)
    broken = BROKEN_BY_FORK.get(url.partition(":")[0])
    if method == "fork" and broken and is_used:
        assert all(isinstance(answer, seinpaal.Forked) for answer in answers)
        assert f"{broken} does not survive a fork" in str(answers[0])
    else:
        assert answers == (("busy", "busy") if is_held else ("held", "held"))
    if held is not None:
        assert held.is_held, "a permit stays the parent's"
        assert locks[1].snapshot().holders == [held.ticket]
        held.release()
    if other is not None:
        other.communicate()
    locks[1].acquire(timeout=60).release()


HOLDER = """
import sys, seinpaal
permit = seinpaal.connect(sys.argv[1]).mutex(sys.argv[2]).acquire()
print("held", flush=True)
sys.stdin.read()
permit.release()
"""


def elsewhere(url: str, name: str) -> subprocess.Popen[str]:
    """Another program that holds the name."""
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, url, name], **pipes)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    return holder


def run_apart(call: str) -> None:
    """Runs a function of this module in a program of its own, which has opened no store yet."""
    code = f"import test_fork; test_fork.{call}"
    tests = str(Path(__file__).parent)
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([tests, *sys.path]))
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, timeout=120)


def in_child(work: Callable[[], None]) -> None:
    """Runs a function in a forked child, and fails if it fails."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def test_an_inherited_permit_is_not_held(store: seinpaal.Seinpaal, name: str) -> None:
    permit = store.mutex(name).acquire()

    def work() -> None:
        assert not permit.is_held
        assert permit.remaining == 0
        assert "belongs to process" in str(permit.lost)
        for use in (permit.release, permit.detach, permit.downgrade, permit.__enter__):
            with pytest.raises(seinpaal.Forked, match="belongs to process"):
                use()
        with pytest.raises(seinpaal.Forked):
            permit.on_lost(print)

    in_child(work)
    assert permit.is_held
    permit.release()


def test_a_block_that_a_child_leaves_says_so_and_stays_the_parents(
    store: seinpaal.Seinpaal, name: str
) -> None:
    nightly = store.mutex(name)
    with nightly as permit:

        def work() -> None:
            with pytest.raises(seinpaal.Forked):
                nightly.__exit__(None, None, None)

        in_child(work)
        assert permit.is_held and nightly.snapshot().holders == [permit.ticket]


def test_what_a_child_drops_stays_its_parents(store: seinpaal.Seinpaal, name: str) -> None:
    permit = store.mutex(name).acquire()
    told: list[seinpaal.Lost] = []
    permit.on_lost(told.append)
    box: list[object] = [store, permit]

    def work() -> None:
        nonlocal permit
        box.clear()
        del permit

    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    os.waitpid(child, 0)
    assert permit.is_held and not told
    assert store.mutex(name).snapshot().holders == [permit.ticket]


def test_a_child_forked_while_another_thread_connects_makes_its_own_connection(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = seinpaal.connect(REDIS, lazy=True)
    connect, parent = store._call, os.getpid()
    begun, go_on = threading.Event(), threading.Event()

    def slowly() -> Any:
        if os.getpid() == parent:
            begun.set()
            go_on.wait()
        return connect()

    monkeypatch.setattr(store, "_call", slowly)
    user = threading.Thread(target=lambda: store.mutex(name).snapshot())
    user.start()
    begun.wait()

    def work() -> None:
        signal.alarm(60)  # It ends a child that hangs.
        store.mutex(name).acquire().release()

    try:
        in_child(work)
    finally:
        go_on.set()
        user.join()
    store.close()


def test_a_store_in_memory_is_new_in_a_child(name: str) -> None:
    store = seinpaal.connect("memory:")
    permit = store.mutex(name).acquire()

    def work() -> None:
        mine = store.mutex(name).try_acquire()
        assert mine is not None
        assert seinpaal.connect("memory:").mutex(name).try_acquire() is None
        mine.release()
        assert seinpaal.connect("memory:").mutex(name).try_acquire() is not None

    in_child(work)
    assert permit.is_held


def test_a_grandchild_has_a_connection_of_its_own(redis: seinpaal.Seinpaal, name: str) -> None:
    nightly = redis.mutex(name)
    held = nightly.acquire()

    def work() -> None:
        assert nightly.try_acquire() is None
        with redis.mutex(f"{name} child") as mine:
            in_child(lambda: grandchild(mine))
            assert mine.is_held

    def grandchild(theirs: seinpaal.Permit) -> None:
        assert not theirs.is_held
        assert redis.mutex(f"{name} child").try_acquire() is None

    in_child(work)
    assert held.is_held


def test_callbacks_work_in_a_child(redis: seinpaal.Seinpaal, name: str) -> None:
    nightly = redis.mutex(name)
    told: list[seinpaal.Lost] = []
    nightly.acquire().on_lost(told.append)  # This starts the thread of the parent.

    def work() -> None:
        other = redis.mutex(f"{name} child")
        permit = other.acquire()
        permit.on_lost(told.append)
        other.evict(permit.ticket)
        until(lambda: bool(told))

    in_child(work)


PARENT = """
import os, sys, time, seinpaal
permit = seinpaal.connect(sys.argv[1]).mutex(sys.argv[2]).acquire()
if os.fork() == 0:
    print("child", os.getpid(), flush=True)
    time.sleep(600)
time.sleep(600)
"""


def test_a_child_does_not_keep_a_dead_parents_permit(tmp_path: Path, name: str) -> None:
    url = url_of("file", tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, url, name], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline().split()[1])
        try:
            nightly = seinpaal.connect(url).mutex(name)
            assert nightly.try_acquire() is None
            parent.kill()
            # Its child sleeps on for ten minutes.
            nightly.acquire(timeout=60).release()
            os.kill(child, 0)
        finally:
            os.kill(child, signal.SIGKILL)


#: A program that ends with the gate locked, as if it had been killed inside a call.
INSIDE = """
import fcntl, os, signal, sys, time, seinpaal
url, name, gate = sys.argv[1:]
permit = seinpaal.connect(url).mutex(name).acquire()
child = os.fork()
if child == 0:
    time.sleep(600)
at = lambda fd: os.path.realpath(f"/proc/self/fd/{fd}")
own = next(int(fd) for fd in os.listdir("/proc/self/fd") if at(fd) == gate)
fcntl.flock(own, fcntl.LOCK_EX)
print("child", child, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_child_of_a_parent_that_was_killed_inside_a_call_keeps_nobody_out(
    tmp_path: Path, name: str
) -> None:
    url, gate = url_of("file", tmp_path), os.path.realpath(tmp_path / "store" / "gate")
    with subprocess.Popen(
        [sys.executable, "-c", INSIDE, url, name, gate], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline().split()[1])
        try:
            parent.wait()
            seinpaal.connect(url).mutex(name).acquire(timeout=60).release()
            os.kill(child, 0)
        finally:
            os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize("method", METHODS)
def test_a_child_that_ends_gives_back_what_it_holds(
    method: str, redis: seinpaal.Seinpaal, name: str
) -> None:
    context: Any = multiprocessing.get_context(method)
    nightly, barrier = redis.mutex(name), context.Barrier(2)
    child = context.Process(target=forks.keep, args=(nightly, barrier))
    child.start()
    barrier.wait()
    child.join()
    assert nightly.snapshot().holders_total == 0
