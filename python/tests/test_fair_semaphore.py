"""The fair semaphore of sorted sets, and the guide's replacement for it.

The tests show what the first gets wrong, and the second does not.

Both programs are the guide's own. Clocks are set wrong by faketime, in a program beside this one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from conftest import REDIS
from test_guide import PAGES, examples

import seinpaal

PAGE = "coming-from-python.md"
BEFORE, AFTER = examples(PAGE)[-2:]


def original() -> Any:
    """The functions of the old program, for two at once."""
    code = BEFORE.replace("redis://localhost", REDIS).rsplit("\nrun(", 1)[0]
    names: dict[str, Any] = {}
    exec(code, names)
    return SimpleNamespace(**names)


#: A client of the old program and a client of the new one. Each prints whether it is admitted.
OLD_CLIENT = "import test_fair_semaphore as t, sys; print(t.original().acquire(sys.argv[1]) is not None)"
NEW_CLIENT = """
import seinpaal, sys
permit = seinpaal.connect(sys.argv[2], ttl=10).semaphore(sys.argv[1], 2).try_acquire()
print(permit is not None, flush=True)
sys.stdin.read()
"""


def beside(clock: str, client: str, name: str) -> subprocess.Popen[str]:
    """A client whose clock is wrong. It lives until its stdin is closed."""
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    code = f"import sys; sys.path[:0] = {sys.path!r}\n{client}"
    command = ["faketime", "-f", clock, sys.executable, "-c", code, name, REDIS]
    return subprocess.Popen(command, **pipes)


def is_let_in(client: subprocess.Popen[str]) -> bool:
    assert client.stdout is not None
    said = client.stdout.readline().strip()
    assert said in ("True", "False")
    return said == "True"


def test_a_client_whose_clock_is_ahead_takes_the_originals_permits_and_none_of_ours(
    name: str,
) -> None:
    old = original()
    held = [old.acquire(name), old.acquire(name)]
    assert None not in held and old.acquire(name) is None
    with beside("+1h", OLD_CLIENT, name) as thief:
        assert is_let_in(thief), "three are in, and two are allowed"
    assert [old.refresh(name, me) for me in held] == [False, False]

    store = seinpaal.connect(REDIS, ttl=10)
    new = store.semaphore(f"{name} new", 2)
    with new as one, new as other, beside("+1h", NEW_CLIENT, f"{name} new") as client:
        assert not is_let_in(client)
        assert one.is_held and other.is_held
        assert new.snapshot().holders == [one.ticket, other.ticket]
        _end(client)
    store.close()


def test_a_client_whose_clock_is_behind_loses_the_originals_permit_and_keeps_ours(
    name: str,
) -> None:
    with beside("-1h", OLD_CLIENT, name) as slow:
        assert is_let_in(slow)
    old = original()
    held = [old.acquire(name), old.acquire(name)]
    assert None not in held, "three were let in within ten seconds, and two are allowed"

    store = seinpaal.connect(REDIS, ttl=10)
    new = store.semaphore(f"{name} new", 2)
    with beside("-1h", NEW_CLIENT, f"{name} new") as client:
        assert is_let_in(client)
        with new:
            assert new.try_acquire() is None
            assert new.snapshot().permits_held == 2
        _end(client)
    store.close()


def _end(client: subprocess.Popen[str]) -> None:
    assert client.stdin is not None
    client.stdin.close()
    assert client.wait(60) == 0


class Slow:
    """A client of Redis that stops between the two steps of an acquire."""

    def __init__(self, client: Any, meanwhile: Callable[[], None]) -> None:
        self._client = client
        self._meanwhile = meanwhile

    def pipeline(self) -> Any:
        steps = self._client.pipeline()
        execute, meanwhile = steps.execute, self._meanwhile
        done: list[Any] = []

        def execute_slowly() -> Any:
            if len(done) == 1:
                meanwhile()
            done.append(execute())
            return done[-1]

        steps.execute = execute_slowly
        return steps


def test_a_client_that_is_slow_between_the_originals_steps_is_one_too_many(name: str) -> None:
    quick, held = original(), []

    def others_come() -> None:
        held.extend([quick.acquire(name), quick.acquire(name)])

    slow = original()
    slow.acquire.__globals__["client"] = Slow(slow.client, others_come)
    held.append(slow.acquire(name))
    assert None not in held and len(held) == 3, "three are in, and two are allowed"


def test_the_page_counts_its_lines() -> None:
    def lines(code: str) -> int:
        return sum(bool(line.strip()) for line in code.splitlines())

    row = re.search(r"^\| lines \| (\d+) \| (\d+) \|$", (PAGES / PAGE).read_text(), re.MULTILINE)
    assert row is not None
    assert [int(one) for one in row.groups()] == [lines(BEFORE), lines(AFTER)]
