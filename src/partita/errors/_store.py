"""Errors of the store itself."""

from __future__ import annotations

from partita.errors._root import PartitaError


class StoreError(PartitaError, code="store"):
    """The store itself has failed."""


class StoreDamaged(StoreError, code="store_damaged"):
    """The file is not a Partita database, or is corrupt; it was not changed."""

    hint = "Restore it from a backup (`partita restore`); the damaged file was not touched."


class StoreNewer(StoreError, code="store_newer"):
    """The file was written by a newer version; it was not changed."""

    hint = "Upgrade Partita to open this file."


class StoreFull(StoreError, code="store_full"):
    """No space is left; the write did not happen."""

    hint = "Free disk space and write again; all acknowledged writes are safe."


class StoreReadOnly(StoreError, code="store_read_only"):
    """The file or its folder cannot be written."""

    hint = "Choose a folder that this user can write to."


class StoreBusy(StoreError, code="store_busy"):
    """Another program holds the file, or this thread is in the middle of another call to the store."""


class SecretExposed(StoreError, code="secret_exposed"):
    """Other users of the machine can read or replace the key that signs tokens and cursors."""


class StoreMoved(StoreError, code="store_moved"):
    """The file was moved or deleted while it was open; the write did not happen."""

    hint = "Stop the process, put the file back or restore a backup, and start again."


class StoreClosed(StoreError, code="store_closed"):
    """The store was closed."""

    hint = "Open it again, or close it after its last use."


class StoreUnavailable(StoreError, code="store_unavailable"):
    """The store did not respond; whether a write happened is unknown."""
