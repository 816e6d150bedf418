"""One process at a time fills a lake: two would both add the same changes to the log."""

from __future__ import annotations

import os
from pathlib import Path

from partita.errors import StoreBusy, StoreReadOnly
from partita.runtime import make_private_folder, open_private

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: nothing watches over it there
    fcntl = None  # type: ignore[assignment]


class FolderLock:
    """Holds a folder, which is made for its owner alone where there is none, until it is closed or the process ends.

    Those that share it keep out whoever wants it alone.

    Raises:
        StoreBusy: another holds it. StoreReadOnly: it cannot be written.
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
        """It is ours as long as it is open: the system sees to that."""

    def abandon(self) -> None:
        """Let go of the folder. The file stays: to remove a lock that another may have opened would make it two."""
        self.close()

    def close(self) -> None:
        """Let go of the folder."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
