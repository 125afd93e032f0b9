"""Blocks that hold permits: their ends, which give permits back and raise errors."""

from __future__ import annotations

from . import _call, _native
from ._grip import Cancellation, lost
from .errors import Error, Forked, Lost, NotHeld


class Block(_native.Block):
    """The common part of a permit and a set of permits: giving back, and the end of a block.

    ``__enter__``, ``__exit__`` and ``__aexit__`` are in the native half. The last two begin all
    releases, and only then call what is here, so nothing that interrupts it leaves a permit held.
    """

    _cancellation: Cancellation | None = None

    @property
    def _is_inherited(self) -> bool:
        return _call.is_other_process(self._process)

    def _names(self) -> str:
        return ", ".join(native.name for native in self._natives)

    def _forked(self) -> Forked:
        return Forked(
            f"the permit of {self._names()!r} belongs to process {self._process}, which this one was forked from: "
            "acquire another one here"
        )

    def _check(self) -> None:
        if self._is_inherited:
            raise self._forked()

    @property
    def lost(self) -> Lost | None:
        """The cause of the loss, if there was one: by the clock, and not by the last note."""
        if self._is_inherited:
            return lost(self._names(), str(self._forked()))
        for native in self._natives:
            if (how := native.lost) is not None:
                return lost(native.name, how)
        return None

    @property
    def is_held(self) -> bool:
        """Whether all permits are held at this moment, by the clock."""
        return not self._is_inherited and all(native.is_held for native in self._natives)

    def release(self) -> None:
        """Gives permits back, and waits for the store's confirmation, at most 5 s.

        A wait that is interrupted, and one that ends with :exc:`ReleaseUnknown`, goes on in the
        background.
        """
        self._releasing().wait()

    async def release_async(self) -> None:
        """As `release`, from asyncio."""
        await _call.run(self._releasing())

    def _releasing(self) -> _native.Call[None]:
        self._check()
        call = self._release()
        if call is None:
            raise NotHeld(f"{self._names()}: the permits had been given back before")
        return call

    def _left(
        self,
        loss: tuple[str, str] | None,
        releasing: _native.Call[None] | None,
        raised: BaseException | None,
    ) -> None:
        """The rest of a block's end. Its releases have begun."""
        trouble = self._trouble(loss)
        # A block that must raise does not wait for the store, because no answer changes what it
        # raises.
        if trouble is None and releasing is not None:
            try:
                releasing.wait()
            except Error as error:
                trouble = self._as_loss(error)
        if raised is None and trouble is not None:
            raise trouble

    def _enter_async(self) -> None:
        self._check()
        self._cancellation = Cancellation(self._natives)

    async def _left_async(
        self,
        loss: tuple[str, str] | None,
        releasing: _native.Call[None] | None,
        kind: type[BaseException] | None,
        raised: BaseException | None,
    ) -> None:
        """As `_left`, from asyncio."""
        cancellation, self._cancellation = self._cancellation, None
        is_ours = cancellation is not None and cancellation.end(kind)
        trouble = self._trouble(loss)
        if trouble is None and not is_ours and releasing is not None:
            try:
                await _call.run(releasing)
            except Error as error:
                trouble = self._as_loss(error)
        # The loss has cancelled the task. The program learns of the loss, and not of the
        # cancellation.
        if is_ours:
            raise trouble or Lost(f"{self._names()}: lost") from raised
        if raised is None and trouble is not None:
            raise trouble

    def _trouble(self, loss: tuple[str, str] | None) -> Error | None:
        """The error that the end of a block must raise for any answer of the store, if any."""
        if self._is_inherited:
            return self._forked()
        return lost(*loss) if loss is not None else None

    def _as_loss(self, error: Error) -> Error:
        return Lost(f"{self._names()}: {error}") if isinstance(error, NotHeld) else error
