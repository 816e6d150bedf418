"""Lets one process at a time fill a lake, because two would both add the same changes to the log."""

from __future__ import annotations

import os
from pathlib import Path

from partita.errors import StoreBusy, StoreReadOnly
from partita.runtime import make_private_folder, open_private

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: there is no lock there
    fcntl = None  # type: ignore[assignment]


class FolderLock:
    """Locks a folder until it is closed or the process ends. A new folder is accessible only to its owner.

    A shared lock keeps out processes that need the exclusive one.

    Raises:
        StoreBusy: another process holds the lock. StoreReadOnly: the folder cannot be written.
    """

    def __init__(self, folder: Path, *, shared: bool = False) -> None:
        try:
            make_private_folder(folder)
            self._file = open_private(folder / ".lock")
        except OSError as error:
            raise StoreReadOnly(f"The lake {folder} cannot be written ({error.strerror}).") from error
        if fcntl is None:  # pragma: no cover
            return
        try:
            fcntl.flock(self._file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._file)
            raise StoreBusy(
                f"Another process fills the lake {folder}.", hint="One is enough; stop it first."
            ) from error

    def check(self) -> None:
        """Do nothing: the operating system keeps the lock as long as the file is open."""

    def abandon(self) -> None:
        """Release the folder. The lock file stays: removing it while another process has it open makes two locks."""
        self.close()

    def close(self) -> None:
        """Release the folder."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
