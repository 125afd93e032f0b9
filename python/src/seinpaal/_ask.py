"""Asks that a holder hand over: what one says, and ways to wait for one."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _call, _native
from .errors import NotHeld

if TYPE_CHECKING:
    from ._permit import Permit

#: How long a thread waits for an ask before it lets Python look for signals.
_LOOK = 0.05


@dataclass(frozen=True)
class HandOverAsk:
    """Somebody asks a holder to hand over. It ends nothing."""

    #: Who.
    by: str
    #: Why.
    reason: str


def wait(call: _native.Call[bool], end: float | None) -> bool:
    """Waits until the call is done, and says whether it is; if not, it is cancelled."""
    try:
        while True:
            left = _LOOK if end is None else end - time.monotonic()
            if call.wait_for(max(0.0, min(left, _LOOK))):
                return True
            if left <= 0:
                call.cancel()
                return False
    except BaseException:
        call.cancel()
        raise


def hear(of: weakref.ref[Permit], callback: Callable[[HandOverAsk], None]) -> None:
    """Calls ``callback`` with each ask, for as long as anybody has the permit."""
    permit = of()
    if permit is None or permit._native.is_released:
        return
    try:
        call = permit._native.watch_asks()
    except NotHeld:
        return  # It was given back at this moment.

    def told(is_asked: bool) -> None:
        permit = of()
        ask = permit._native.take_ask() if permit is not None else None
        try:
            if ask is not None:
                callback(HandOverAsk(*ask))
        finally:
            # Also after a callback that raised. ``False``: the permit was lost, so nobody asks
            # again.
            if is_asked:
                hear(of, callback)

    _call.tell(call, told)
