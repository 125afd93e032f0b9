"""Requests, as the native half reads them."""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, TypeVar, Union, cast, get_args

from . import _native
from .errors import BadSetting

_F = TypeVar("_F", bound=Callable[..., Any])

#: A number of seconds, or a timedelta.
Seconds = Union[float, timedelta]


#: The rule for another limit than that which others have stated.
OnMismatch = Literal["refuse", "adopt", "set", "exact"]


@dataclass(frozen=True)
class Want:
    """A request for permits."""

    kind: str
    name: str
    limit: int | None = None
    on_mismatch: OnMismatch = "refuse"
    permits: int = 1
    priority: int = 0
    ttl: float | None = None
    timeout: float | None = None
    max_waiting: int | None = None
    labels: tuple[tuple[str, str], ...] = ()
    slot_names: tuple[str, ...] = ()

    def described(
        self,
        timeout: Seconds | None = None,
        permits: int = 1,
        priority: int = 0,
        ttl: Seconds | None = None,
        max_waiting: int | None = None,
        labels: Mapping[str, str] | None = None,
        slot_names: str | Sequence[str] = (),
    ) -> Want:
        """This request with these options."""
        return Want(
            self.kind,
            self.name,
            self.limit,
            self.on_mismatch,
            whole("permits", permits),
            whole("priority", priority),
            in_seconds(ttl),
            in_seconds(timeout),
            None if max_waiting is None else whole("max_waiting", max_waiting),
            _labels(labels),
            names_in(slot_names),
        )


def want(
    kind: str, name: str, limit: int | None = None, on_mismatch: OnMismatch = "refuse"
) -> Want:
    """A request for one permit of a name, with the name and the limit checked."""
    if limit is not None:
        whole("limit", limit)
    if on_mismatch not in get_args(OnMismatch):
        raise BadSetting(f"on_mismatch is one of {get_args(OnMismatch)}, not {on_mismatch!r}")
    _native.check(text("a name", name), limit)
    return Want(kind, name, limit, on_mismatch)


def whole(what: str, number: int) -> int:
    """A whole number, or a :exc:`TypeError` that says which argument is none."""
    try:
        return operator.index(number)
    except TypeError:
        raise TypeError(f"{what} is a whole number, not {number!r}") from None


def text(what: str, value: str) -> str:
    """A text, or a :exc:`TypeError` that says which argument is none."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is a str, not {value!r}")
    return value


def _labels(labels: Mapping[str, str] | None) -> tuple[tuple[str, str], ...]:
    return tuple(
        (text("the key of a label", key), text("a label", value))
        for key, value in (labels or {}).items()
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
    """A list of names, from one name or several."""
    names = (names,) if isinstance(names, str) else tuple(names)
    return tuple(text("the name of a slot", name) for name in names)


def in_seconds(length: Seconds | None) -> float | None:
    """Seconds as a number."""
    if length is None:
        return None
    if isinstance(length, timedelta):
        return length.total_seconds()
    if not isinstance(length, (int, float)):
        raise TypeError(f"a time is a number of seconds or a timedelta, not {length!r}")
    try:
        # A whole number of Python may be too large for a float.
        return float(length)
    except OverflowError:
        raise BadSetting("a time is a number of seconds, not a number that long") from None


def delay_in_seconds(delay: Seconds) -> float:
    """A delay as a number of seconds. A moment that has passed is no delay."""
    seconds = in_seconds(delay) or 0.0
    if not math.isfinite(seconds):
        raise BadSetting(f"a delay is a number of seconds, not {seconds}")
    return max(0.0, seconds)


#: What to use here instead of arguments of other locks.
_INSTEAD = {
    "blocking": "try_acquire() does not wait, and acquire() does",
    "block": "try_acquire() does not wait, and acquire() does",
    "blocking_timeout": "use timeout=",
    "wait": "use timeout=",
    "expire": "use ttl=, which is renewed",
    "lease": "use ttl=, which is renewed",
    "auto_renewal": "permits are renewed anyway",
    "sleep": "nobody polls here",
    "poll_interval": "nobody polls here",
    "thread_local": "a permit belongs to no thread",
    "n": "use permits=",
    "count": "use permits=",
}


def hinting(function: _F) -> _F:
    """Says what to use instead when a function gets an argument that it does not have."""
    known = list(inspect.signature(function).parameters)[1:]
    takes_more = "wanted" in known

    @functools.wraps(function)
    def hinted(self: Any, *args: Any, **options: Any) -> Any:
        if args and not takes_more and known[0] != "ticket":
            hint = _INSTEAD["blocking"] if isinstance(args[0], bool) else "use timeout= for a time"
            raise TypeError(f"{function.__name__}() takes keywords only: {hint}")
        for option in options:
            if option not in known:
                raise TypeError(_unexpected(function.__name__, option, known))
        return function(self, *args, **options)

    return cast("_F", hinted)


def _unexpected(function: str, option: str, known: list[str]) -> str:
    said = f"{function}() got an unexpected keyword argument {option!r}"
    if option in _INSTEAD:
        return f"{said}: {_INSTEAD[option]}"
    near = difflib.get_close_matches(option, known, 1)
    return f"{said}: did you mean {near[0]}=?" if near else f"{said}: there are {', '.join(known)}"
