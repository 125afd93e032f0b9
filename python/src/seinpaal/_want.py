"""Requests, as the native half reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypedDict, Union

from .errors import BadSetting

#: A number of seconds, or a timedelta.
Seconds = Union[float, timedelta]


class Options(TypedDict, total=False):
    """How permits are asked for."""

    #: Stop waiting after this long. Default: never.
    timeout: Seconds | None
    #: How many permits, all or nothing. Default 1.
    permits: int
    #: The rank among waiters, -100 to 100, higher first. Default 0.
    priority: int
    #: How long the lease lasts without renewal, 100 ms to 24 h. Default: the connection's.
    ttl: Seconds | None
    #: Refuse the request if this many wait already. Default: however many wait.
    max_waiting: int | None
    #: Shown to people who look at holders and waiters.
    labels: Mapping[str, str]
    #: Wait for the slots that are called so: one name, or at most as many as there are permits.
    #: Default: any.
    slot_names: str | Sequence[str]


@dataclass(frozen=True)
class Want:
    """A request for permits."""

    kind: str
    name: str
    limit: int | None = None
    exactly: bool = False
    permits: int = 1
    priority: int = 0
    ttl: float | None = None
    timeout: float | None = None
    max_waiting: int | None = None
    labels: tuple[tuple[str, str], ...] = ()
    slot_names: tuple[str, ...] = ()

    def described(self, options: Options) -> Want:
        """This request with these options."""
        return Want(
            self.kind,
            self.name,
            self.limit,
            self.exactly,
            options.get("permits", self.permits),
            options.get("priority", self.priority),
            in_seconds(options.get("ttl")),
            in_seconds(options.get("timeout")),
            options.get("max_waiting"),
            tuple(options.get("labels", {}).items()),
            names_in(options.get("slot_names", ())),
        )


@dataclass(frozen=True)
class NewItem:
    """An item to push."""

    payload: bytes
    priority: int = 0
    delay: float | None = None
    group: str | None = None
    dedup: tuple[str, float] | None = None
    deliveries: int | None = None
    labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ItemWant:
    """A request for an item."""

    ttl: float | None = None
    timeout: float | None = None


def names_in(names: str | Sequence[str]) -> tuple[str, ...]:
    """The names: one that stands alone, or several."""
    return (names,) if isinstance(names, str) else tuple(names)


def in_seconds(length: Seconds | None) -> float | None:
    """Seconds as a number."""
    if isinstance(length, timedelta):
        return length.total_seconds()
    try:
        # Python's whole numbers are of any size.
        return float(length) if isinstance(length, int) else length
    except OverflowError:
        raise BadSetting("a time is a number of seconds, not a number that long") from None


def delay_in_seconds(delay: Seconds) -> float:
    """A delay as a number of seconds. A moment that has passed is no delay."""
    seconds = in_seconds(delay) or 0.0
    if not math.isfinite(seconds):
        raise BadSetting(f"a delay is a number of seconds, not {seconds}")
    return max(0.0, seconds)
