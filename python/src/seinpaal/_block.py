"""The ends of blocks: what is given back, and what is raised."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from . import _call, _native
from ._grip import Cancellation
from .errors import Error, Lost, NotHeld

if TYPE_CHECKING:
    from ._permit import Permit


class Block:
    """The common part of a permit and a set of permits: giving back, and the end of a block."""

    _cancellation: Cancellation | None = None

    def _all(self) -> tuple[Permit, ...]:
        raise NotImplementedError

    def _trouble(self) -> Error | None:
        """Why the end of a block must raise, whatever the store says."""
        for permit in self._all():
            if permit._is_inherited:
                return permit._forked()
        return self.lost

    @property
    def lost(self) -> Lost | None:
        """How it was lost, if it was; by the clock, and not by what was last noted."""
        return next((one.lost for one in self._all() if one.lost is not None), None)

    @property
    def is_held(self) -> bool:
        """Whether all permits are held at this moment."""
        return all(permit.is_held for permit in self._all())

    def _release_all(self) -> list[_native.Call[None]]:
        """Calls that give back what was not given back inside the block."""
        begun = (_released(one) for one in self._all() if not one._is_inherited)
        return [call for call in begun if call is not None]

    def release(self) -> None:
        """Gives back, and waits until the store has confirmed it, for at most 5 s for each name.

        A wait that is interrupted, and one that ends with :exc:`ReleaseUnknown`, goes on in the
        background.
        """
        _first_error([_outcome(call) for call in self._released()])

    async def release_async(self) -> None:
        """As `release`, from asyncio."""
        _first_error([await _outcome_async(call) for call in self._released()])

    def _released(self) -> list[_native.Call[None]]:
        for permit in self._all():
            permit._check()
        calls = self._release_all()
        if not calls:
            raise NotHeld("the permits had been given back before")
        return calls

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        trouble = self._trouble()
        calls = self._release_all()
        # A block that must raise already knows its answer, so it does not wait for the store.
        if trouble is not None:
            _drop(calls)
        else:
            trouble = _as_loss(_first([_outcome(call) for call in calls]))
        if raised is None:
            raise_it(trouble)

    async def _enter_async(self) -> None:
        for permit in self._all():
            permit._check()
        self._cancellation = Cancellation([permit._native for permit in self._all()])

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        cancellation, self._cancellation = self._cancellation, None
        is_ours = cancellation is not None and cancellation.end(kind)
        trouble = self._trouble()
        calls = self._release_all()
        if trouble is not None or is_ours:
            _drop(calls)
        else:
            trouble = _as_loss(_first([await _outcome_async(call) for call in calls]))
        # The loss has cancelled the task. The program learns of the loss, and not of that.
        if is_ours:
            raise trouble or Lost("lost") from raised
        if raised is None:
            raise_it(trouble)


def _released(permit: Permit) -> _native.Call[None] | None:
    """A call that gives the permit back; ``None``: it was given back before, or is just now."""
    try:
        return permit._native.release()
    except NotHeld:
        return None


def _drop(calls: list[_native.Call[None]]) -> None:
    """Gives back in the background."""
    for call in calls:
        call.cancel()


def _outcome(call: _native.Call[None]) -> Error | None:
    try:
        call.wait()
    except Error as error:
        return error
    return None


async def _outcome_async(call: _native.Call[None]) -> Error | None:
    try:
        await _call.run(call)
    except Error as error:
        return error
    return None


def _as_loss(error: Error | None) -> Error | None:
    return Lost(str(error)) if isinstance(error, NotHeld) else error


def _first(outcomes: list[Error | None]) -> Error | None:
    return next((bad for bad in outcomes if bad is not None), None)


def _first_error(outcomes: list[Error | None]) -> None:
    raise_it(_first(outcomes))


def raise_it(trouble: Error | None) -> None:
    if trouble is not None:
        raise trouble
