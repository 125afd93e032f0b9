"""What a forked child does with what it inherited.

It has the memory of its parent and none of its threads. Nothing of the parent's is dropped, closed or asked: the native
half leaves it alone. The child closes the one thing that would keep its parent's permits alive, and connects anew when it
first asks for something.
"""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING

from . import _call
from .errors import Forked

if TYPE_CHECKING:
    from ._connection import Seinpaal

#: Every connection of this process and, in a child, what it inherited.
connections: weakref.WeakSet[Seinpaal] = weakref.WeakSet()

#: The process that imported this.
_born_in = os.getpid()

#: The process that opened an embedded store in this memory first.
_opened_by: int | None = None


def note_embedded() -> None:
    """An embedded store has been opened here."""
    global _opened_by
    if _opened_by is None:
        _opened_by = os.getpid()


def check_embedded() -> None:
    """Refuses to open an embedded store where SQLite's memory of who locks what is another process's.

    A child inherits that memory but none of the locks, so its database would be removed from under it when others
    leave.
    """
    if _opened_by is not None and _opened_by != os.getpid():
        raise Forked(
            f"an embedded store (file:) was opened by process {_opened_by}, which this one was forked from, and SQLite "
            "does not survive a fork: use it first in the children (connect with lazy=True), or start children with "
            'multiprocessing.get_context("spawn") or "forkserver", or use a Redis store'
        )


def url_here(url: str) -> str:
    """The URL in this process. A store in memory is one process only, so a child has stores of its own."""
    if url.startswith("memory:") and os.getpid() != _born_in:
        return f"{url}-{os.getpid()}"
    return url


def _in_child() -> None:
    _call.after_fork()
    for connection in list(connections):
        connection._after_fork()


os.register_at_fork(after_in_child=_in_child)
