"""Translates errors of SQLite, and of decoding the content of a file, into errors of the library."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import apsw
import msgspec

from partita.errors import StoreBusy, StoreClosed, StoreDamaged, StoreError, StoreFull, StoreMoved, StoreReadOnly

_DECODE_ERRORS: Final = (msgspec.DecodeError, UnicodeDecodeError)
"""Errors of decoding. Only the content of a file is decoded here, so they mean that the file is damaged."""

DATABASE_ERRORS: Final = (apsw.Error, *_DECODE_ERRORS)

_IOERR_DATA: Final = apsw.SQLITE_IOERR_DATA
"""The checksum of a page does not match."""
_NO_SPACE_FOR_INDEX: Final = apsw.SQLITE_IOERR_SHMSIZE
"""The index of the log cannot grow, which happens when a store is opened on a full disk."""
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
    (apsw.ThreadingViolationError, StoreClosed, "was closed"),  # only a close uses another thread's connection
)


def translated(error: Exception, path: str) -> StoreError:
    """Return the library's error for one of `DATABASE_ERRORS`."""
    if isinstance(error, _DECODE_ERRORS):
        return StoreDamaged(f"The store {path} is damaged: its content cannot be decoded ({error}).")
    if is_damage(error):
        return StoreDamaged(f"The store {path} is damaged: the checksum of a page does not match ({error}).")
    if getattr(error, "extendedresult", None) == _NO_SPACE_FOR_INDEX:
        return StoreFull(f"The store {path} cannot be opened: no space is left ({error}).")
    for kind, ours, meaning in _MEANINGS:
        if isinstance(error, kind):
            return ours(f"The store {path} {meaning} ({error}).")
    return StoreError(f"The store {path} failed: {error}.")


def is_damage(error: Exception) -> bool:
    """Whether this error, or the error during whose rollback it was raised, is a checksum mismatch of a page."""
    return _IOERR_DATA in (getattr(each, "extendedresult", None) for each in (error, error.__context__))


def not_utf8(path: str) -> StoreError:
    """The error for a path that SQLite cannot open."""
    return StoreError(f"The path {path!a} is not UTF-8.", hint="SQLite requires UTF-8: rename the folder or the file.")


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
    """Raise the library's errors instead of those of SQLite, the decoder and the operating system."""
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
