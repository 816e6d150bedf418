"""A lease stored as an object: one writer, or several with the same owner, hold a table of a lake in a bucket.

    take    put, if there is no object, or if it is still the one that has expired
    renew   put, if it is still ours; a thread does so three times per lease duration
    end     put without an owner, if it is still ours

The age of the lease is the difference of two dates from the bucket, so the clocks of writers do not matter. The lease
prevents two writers from working against each other. It is not needed to avoid duplicate writes: every commit names the
version that it builds on, so the commit of a writer that was suspended past the end of its lease is refused.
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
    """The content of the object."""

    owner: str | None
    """None after the lease was released."""
    fence: int
    """Increases by one whenever the owner changes."""
    seconds: float


class LeasedObject(Struct, frozen=True):
    """The object as it was read."""

    text: LeaseText
    tag: str
    age: float

    @classmethod
    def of(cls, body: bytes, tag: str, headers: Mapping[str, str]) -> LeasedObject:
        """Parse a response. An unreadable object counts as a lease without an owner."""
        try:
            text = msgspec.json.decode(body, type=LeaseText)
        except msgspec.MsgspecError:
            text = LeaseText(None, 0, 0.0)
        dates = [parsedate_to_datetime(headers[name]).timestamp() for name in ("date", "last-modified")]
        return cls(text, tag, dates[0] - dates[1])

    @property
    def is_free(self) -> bool:
        """Whether any writer may take the lease."""
        return self.text.owner is None or self.age > self.text.seconds


class LeaseObject(Protocol):
    """Access to the object of a lease."""

    def read(self) -> LeasedObject | None:
        """Return the object; None if it does not exist."""
        ...

    def write(self, body: bytes, match: str | None) -> str | None:
        """Write the object if its tag is `match`, or if it is missing and `match` is None; return its tag, or None."""
        ...

    def remove(self) -> None:
        """Delete the object."""
        ...


class ObjectLease:
    """Holds the lease, and renews it in a thread, until it is closed.

    Raises:
        StoreBusy: another writer holds it.
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
        """Check that this writer still holds the lease.

        Raises:
            LeaseLost: another writer holds it. StoreError: the bucket does not respond.
        """
        with self._lock:
            if not self._lost and time.monotonic() > self._valid_until:
                self._renew()
            if self._lost:
                raise LeaseLost(f"Another writer has taken over the lake {self._what}.")

    def abandon(self) -> None:
        """Release the lease; remove its object if there was none before."""
        self._stop()
        if not self._lost:
            if self._is_new:
                self._place.remove()
            else:
                self._give_back()

    def close(self) -> None:
        """Release the lease. Closing twice does nothing."""
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
        raise StoreBusy(f"Several processes tried to open the lake {self._what} at once.", hint="Try again.")

    def _text(self, fence: int) -> bytes:
        return _body(LeaseText(self._owner, fence, self._seconds))

    def _renew_until_closed(self) -> None:
        while not self._closing.wait(self._seconds / _RENEWALS):
            with self._lock:
                try:
                    self._renew()
                except PartitaError:
                    continue  # try again until the lease has expired; then `check` raises LeaseLost for the writer
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
            self._tag, self._fence = found.tag, found.text.fence  # another writer with the same owner wrote it

    def _is_ours(self, found: LeasedObject) -> bool:
        # A writer that shares the lease releases it for all when it stops; those that continue take it again.
        return found.text.owner == self._owner or (self._is_shared and found.text.owner is None)


def _fence_after(found: LeasedObject | None, owner: str) -> int:
    if found is None:
        return 1
    return found.text.fence + (found.text.owner != owner)


def _body(text: LeaseText) -> bytes:
    return msgspec.json.encode(text)
