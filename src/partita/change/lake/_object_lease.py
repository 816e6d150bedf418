"""A lease that is an object: one writer, or several that name the same owner, have a table of a lake in a bucket.

    take    put, if there is no object, or if it is still the one whose time has run out
    renew   put, if it is still ours; a thread does so three times while the lease lasts
    end     put with no owner, if it is still ours

Its age is the difference of two dates that the bucket itself gave, so no clock of a writer matters. The lease saves two
writers from working against each other. That nothing is written twice does not rest on it: every commit names the
version that it builds on, so that of a writer who slept past the end of its lease is refused.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Final, Protocol

import msgspec
from msgspec import Struct

from partita.errors import LeaseLost, PartitaError, StoreBusy
from partita.runtime import new_ulid

LEASE_SECONDS: Final = 30.0
_RENEWALS: Final = 3
_TRIES: Final = 5


class LeaseText(Struct, frozen=True):
    """What the object says."""

    owner: str | None
    """None when it was given back."""
    fence: int
    """One more whenever the owner changes."""
    seconds: float


class LeasedObject(Struct, frozen=True):
    """The object as it was read."""

    text: LeaseText
    tag: str
    age: float

    @classmethod
    def of(cls, body: bytes, tag: str, headers: Mapping[str, str]) -> LeasedObject:
        """Read a response. What nobody can read is nobody's lease."""
        try:
            text = msgspec.json.decode(body, type=LeaseText)
        except msgspec.MsgspecError:
            text = LeaseText(None, 0, 0.0)
        dates = [parsedate_to_datetime(headers[name]).timestamp() for name in ("date", "last-modified")]
        return cls(text, tag, dates[0] - dates[1])

    @property
    def is_free(self) -> bool:
        """Whether anybody may have it."""
        return self.text.owner is None or self.age > self.text.seconds


class LeaseObject(Protocol):
    """Where the object is."""

    def read(self) -> LeasedObject | None:
        """The object; None where there is none."""
        ...

    def write(self, body: bytes, match: str | None) -> str | None:
        """Write it where it is still the one that is named, or missing where None is; gives its tag, or None."""
        ...

    def remove(self) -> None:
        """Delete it."""
        ...


class ObjectLease:
    """Holds the lease, and renews it in a thread, until it is closed.

    Raises:
        StoreBusy: another has it.
    """

    def __init__(self, place: LeaseObject, what: str, owner: str | None, seconds: float) -> None:
        self._place = place
        self._what = what
        self._is_shared = owner is not None
        self._owner = owner or new_ulid()
        self._seconds = seconds
        self._is_new = False
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._lost = False
        self._tag, self._fence = self._take()
        self._valid_until = time.monotonic() + seconds
        self._thread = threading.Thread(target=self._renew_until_closed, name="lake lease", daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Make sure that the lease is still ours.

        Raises:
            LeaseLost: another has it. StoreError: the bucket does not respond.
        """
        with self._lock:
            if not self._lost and time.monotonic() > self._valid_until:
                self._renew()
            if self._lost:
                raise LeaseLost(f"Another writer has taken the lake {self._what}.")

    def abandon(self) -> None:
        """Give it back; where there was no object before, there is none again."""
        self._stop()
        if not self._lost:
            if self._is_new:
                self._place.remove()
            else:
                self._give_back()

    def close(self) -> None:
        """Give it back. Closing twice does nothing."""
        if self._closing.is_set():
            return
        self._stop()
        if not self._lost:
            self._give_back()

    def _stop(self) -> None:
        self._closing.set()
        self._thread.join()

    def _give_back(self) -> None:
        self._place.write(_body(LeaseText(None, self._fence, 0.0)), self._tag)

    def _take(self) -> tuple[str, int]:
        for _ in range(_TRIES):
            found = self._place.read()
            if found is not None and not found.is_free and found.text.owner != self._owner:
                left = max(0, round(found.text.seconds - found.age))
                hint = f"One is enough; stop it first. If it was killed, its lease ends in about {left} s."
                raise StoreBusy(f"Another process fills the lake {self._what}.", hint=hint)
            fence = _fence_after(found, self._owner)
            tag = self._place.write(self._text(fence), None if found is None else found.tag)
            if tag is not None:
                self._is_new = found is None
                return tag, fence
        raise StoreBusy(f"Several processes want the lake {self._what} at once.", hint="Try again.")

    def _text(self, fence: int) -> bytes:
        return _body(LeaseText(self._owner, fence, self._seconds))

    def _renew_until_closed(self) -> None:
        while not self._closing.wait(self._seconds / _RENEWALS):
            with self._lock:
                try:
                    self._renew()
                except PartitaError:
                    continue  # until it has run out: `check` says so to whoever writes
            if self._lost:
                return

    def _renew(self) -> None:
        began = time.monotonic()
        for _ in range(_TRIES):
            tag = self._place.write(self._text(self._fence), self._tag)
            if tag is not None:
                self._tag, self._valid_until = tag, began + self._seconds
                return
            found = self._place.read()
            if found is None or not self._is_ours(found):
                self._lost = True
                return
            self._tag, self._fence = found.tag, found.text.fence  # another of the same owner wrote it

    def _is_ours(self, found: LeasedObject) -> bool:
        # Who shares it gives it back for all when it ends; whoever goes on takes it again.
        return found.text.owner == self._owner or (self._is_shared and found.text.owner is None)


def _fence_after(found: LeasedObject | None, owner: str) -> int:
    if found is None:
        return 1
    return found.text.fence + (found.text.owner != owner)


def _body(text: LeaseText) -> bytes:
    return msgspec.json.encode(text)
