"""Python may switch threads whenever an object is made. The native half holds no lock then.

Each case runs in a program of its own, because a thread that waits for such a lock may keep the
GIL, and with it everything. An exception of the package is replaced by one whose making lets
another thread go on.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, sys, threading
import seinpaal
from seinpaal import errors, _native
from seinpaal._want import ItemWant, Want

def beside(raised, work):
    '''Whenever this exception is made, another thread works, and is waited for.'''
    class Watched(raised):
        def __init__(self, *words, **details):
            other = threading.Thread(target=work, daemon=True)
            other.start()
            other.join(20)
            if other.is_alive():
                os._exit(3)
            super().__init__(*words, **details)
    setattr(errors, raised.__name__, Watched)

store = seinpaal.connect("memory:")
connection = store._here()
"""

CASES = {
    "the answer of a call that another thread cancels": """
held = store.mutex("a").acquire()
call = connection.acquire(Want("mutex", "a", timeout=0.01))
beside(errors.TimedOut, call.cancel)
try:
    call.wait()
except errors.TimedOut:
    os._exit(0)
""",
    "the answer of a call that another thread looks at": """
held = store.mutex("a").acquire()
call = connection.acquire(Want("mutex", "a", timeout=0.01))
beside(errors.TimedOut, lambda: call.wait_for(0))
try:
    call.wait()
except errors.TimedOut:
    os._exit(0)
""",
    "the watch of a permit that was given back": """
permit = connection.acquire(Want("mutex", "a")).wait()
_native.Block(store, [permit])._release().wait()
beside(errors.NotHeld, lambda: (permit.is_held, permit.lost, permit.remaining))
try:
    permit.watch()
except errors.NotHeld:
    os._exit(0)
""",
    "the watch of an item that was acknowledged": """
store.queue("q").push(b"x")
item = connection.pop("q", ItemWant()).wait()
item.acknowledge().wait()
beside(errors.Lost, lambda: (item.is_held, item.is_ended, item.lost))
try:
    item.watch()
except errors.Lost:
    os._exit(0)
""",
}


@pytest.mark.parametrize("case", CASES)
def test_another_thread_goes_on_beside(case: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + CASES[case]], timeout=60, env=dict(os.environ)
    )
    assert done.returncode == 0
