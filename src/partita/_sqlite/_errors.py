"""SQLite's errors, and those of decoding what a file holds, as errors of the library."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import apsw
import msgspec

from partita.errors import StoreBusy, StoreClosed, StoreDamaged, StoreError, StoreFull, StoreMoved, StoreReadOnly

_DECODE_ERRORS: Final = (msgspec.DecodeError, UnicodeDecodeError)
"""What decoding raises. Only what a file holds is decoded here, so the file is damaged."""

DATABASE_ERRORS: Final = (apsw.Error, *_DECODE_ERRORS)

_IOERR_DATA: Final = apsw.SQLITE_IOERR_DATA
"""The checksum of a page does not fit."""
_READ_ONLY: Final = (errno.EACCES, errno.EPERM, errno.EROFS)

_MEANINGS: Final[tuple[tuple[type[apsw.Error], type[StoreError], str], ...]] = (
    (apsw.NotADBError, StoreDamaged, "is not a database"),
    (apsw.CorruptError, StoreDamaged, "is damaged"),
    (apsw.FullError, StoreFull, "cannot grow: no space is left"),
    (apsw.ReadOnlyError, StoreReadOnly, "cannot be written"),
    (apsw.PermissionsError, StoreReadOnly, "cannot be written"),
    (apsw.CantOpenError, StoreReadOnly, "cannot be opened"),
    (apsw.BusyError, StoreBusy, "is held by another program"),
    (apsw.LockedError, StoreBusy, "is held by another program"),
    (apsw.ConnectionClosedError, StoreClosed, "was closed"),
    (apsw.CursorClosedError, StoreClosed, "was closed"),
    (apsw.ThreadingViolationError, StoreClosed, "was closed"),  # only closing reaches into another thread
)


def translated(error: Exception, path: str) -> StoreError:
    """The library's error for one of `DATABASE_ERRORS`."""
    if isinstance(error, _DECODE_ERRORS):
        return StoreDamaged(f"The store {path} is damaged: what it holds cannot be read ({error}).")
    if is_damage(error):
        return StoreDamaged(f"The store {path} is damaged: a page of it is not what was written ({error}).")
    for kind, ours, meaning in _MEANINGS:
        if isinstance(error, kind):
            return ours(f"The store {path} {meaning} ({error}).")
    return StoreError(f"The store {path} failed: {error}.")


def is_damage(error: Exception) -> bool:
    """Whether the checksum of a page did not fit; or that came first, and ended the transaction that is rolled back."""
    return _IOERR_DATA in (getattr(each, "extendedresult", None) for each in (error, error.__context__))


def not_utf8(path: str) -> StoreError:
    """The error for a path that SQLite cannot open."""
    return StoreError(f"The path {path!a} is not UTF-8.", hint="SQLite opens no other: rename the folder or the file.")


def closed(path: str) -> StoreError:
    """The error for using a store after it was closed."""
    return StoreClosed(f"The store {path} was closed.")


def moved(path: str) -> StoreError:
    """The error for using a store whose file is not at its path any more."""
    return StoreMoved(f"The file {path} was moved or deleted while it was open.")


def opened_before_fork(path: str) -> StoreError:
    """The error for using a store in a child of the process that opened it."""
    return StoreError(f"The store {path} was opened before a fork.", hint="Open it in each process.")


@contextmanager
def translating(path: str, errors: tuple[type[Exception], ...] = DATABASE_ERRORS) -> Iterator[None]:
    """Raise the library's errors in place of SQLite's, the decoder's and the operating system's."""
    try:
        yield
    except errors as error:
        raise translated(error, path) from error
    except UnicodeEncodeError as error:
        raise not_utf8(path) from error
    except OSError as error:
        if error.errno in _READ_ONLY:
            raise StoreReadOnly(f"The store {path} cannot be written ({error.strerror}).") from error
        raise StoreError(f"The store {path} failed: {error}.") from error
