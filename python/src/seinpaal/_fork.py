"""Connections, permits and items in forked children.

It has the memory of its parent and none of its threads. Nothing of the parent's is dropped, closed
or asked: the native half leaves it alone. The child closes the one thing that would keep its
parent's permits alive, and connects anew when it first asks for something.
"""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING

from . import _call
from .errors import Forked

if TYPE_CHECKING:
    from ._connection import Seinpaal

#: Every `Seinpaal` of this process, connected or not, and inherited ones, too.
_connections: weakref.WeakKeyDictionary[Seinpaal, None] = weakref.WeakKeyDictionary()

#: The process that imported this module.
_born_in = os.getpid()

#: The stores that do not work in a forked child, by the scheme of the URL: the store, and the part
#: that breaks.
_BROKEN_BY_FORK = {
    # A child inherits SQLite's memory of its file locks, but not the locks, so other processes
    # would remove the database under the child when they leave.
    "file": ("an embedded store (file:)", "SQLite"),
    # A thread, which a child lacks, watches the client's sockets, through a descriptor that parent
    # and child would share.
    "zookeeper": ("a ZooKeeper store", "its client"),
}

#: The process that first opened a store of each scheme in this memory.
_opened_by: dict[str, int] = {}


def note(connection: Seinpaal) -> None:
    """Notes a connection before it is used, so that a forked child can find it."""
    _connections[connection] = None


def connections() -> list[Seinpaal]:
    """All that are noted, read in one step: other threads may make more meanwhile."""
    noted = (reference() for reference in _connections.keyrefs())
    return [connection for connection in noted if connection is not None]


def open_here(url: str) -> None:
    """Notes that a store is opened here. Refuses it if the parent has used what the store needs."""
    scheme = url.partition(":")[0]
    if scheme not in _BROKEN_BY_FORK:
        return
    opened_by = _opened_by.setdefault(scheme, os.getpid())
    if opened_by != os.getpid():
        store, broken = _BROKEN_BY_FORK[scheme]
        raise Forked(
            f"{store} was opened by process {opened_by}, which this one was forked from, and {broken} "
            "does not survive a fork: use it first in the children (connect with lazy=True), or start children with "
            'multiprocessing.get_context("spawn") or "forkserver", or use a Redis store'
        )


def url_here(url: str) -> str:
    """The URL in this process. A store in memory belongs to one process, so a child has its own."""
    if url.startswith("memory:") and os.getpid() != _born_in:
        return f"{url}-{os.getpid()}"
    return url


def _in_child() -> None:
    _call.after_fork()
    for connection in connections():
        connection._after_fork()


os.register_at_fork(after_in_child=_in_child)
