"""Closes, in a forked child, everything that its parent has open, without changing any file.

Closing a handle in the child must neither checkpoint the parent's log nor drop a lock of the parent.
"""

from __future__ import annotations

import os
import weakref
from typing import Final, Protocol

import apsw

from partita.errors import StoreError


class ForkAware(Protocol):
    """A store, a queue or a lock that this process has opened."""

    def leave_to_parent(self) -> None:
        """Refuse all use in this forked child, and close the parent's handles without changing any file."""
        ...


_opened: Final[weakref.WeakSet[ForkAware]] = weakref.WeakSet()
_connections: Final[weakref.WeakKeyDictionary[apsw.Connection, str]] = weakref.WeakKeyDictionary()
_in_use_at_fork: Final[set[str]] = set()


def leave_to_parent_at_fork(opened: ForkAware) -> None:
    """Call `leave_to_parent` in each child that is forked from now on."""
    _opened.add(opened)


def close_untouched_at_fork(connection: apsw.Connection, path: str) -> None:
    """Close the connection in each child that is forked from now on."""
    _connections[connection] = os.path.realpath(path)


def refuse_if_in_use_at_fork(path: str) -> None:
    """Refuse to open a file whose connection could not be closed after a fork.

    Raises:
        StoreError: another thread was using the file when this process was forked.
    """
    if os.path.realpath(path) in _in_use_at_fork:
        message = f"The store {path} was in use by another thread when this process was forked."
        raise StoreError(message, hint="Start processes with the method spawn.")


def close_untouched(connection: apsw.Connection) -> None:
    """Close a connection without a checkpoint, so that a damaged file stays as it was found."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.close()


def _after_fork() -> None:
    # First the connections: an object that holds one could drop it, and its finalizer would checkpoint the log.
    for connection, path in list(_connections.items()):
        _close_in_child(connection, path)
    for opened in list(_opened):
        opened.leave_to_parent()


def _close_in_child(connection: apsw.Connection, path: str) -> None:
    """Close a connection of the parent, or record that its file cannot be opened in this process.

    While the connection is open, SQLite in this process believes that it holds the parent's locks. It would open the
    file again without acquiring any.
    """
    try:
        if connection.txn_state() != apsw.SQLITE_TXN_WRITE:  # its rollback would write to the shared memory of the log
            close_untouched(connection)
            return
    except apsw.ConnectionClosedError:
        return
    except apsw.ThreadingViolationError:  # in use at the fork by a thread that does not exist in this process
        pass
    _in_use_at_fork.add(path)


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)
