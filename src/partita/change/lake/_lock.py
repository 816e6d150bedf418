"""One process at a time fills a lake: two would both add the same changes to the log."""

from __future__ import annotations

import os
from pathlib import Path

from partita.errors import StoreBusy, StoreReadOnly

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: nothing watches over it there
    fcntl = None  # type: ignore[assignment]


class FolderLock:
    """Holds a folder, which is made where there is none, until it is closed or the process ends.

    Raises:
        StoreBusy: another holds it. StoreReadOnly: it cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StoreReadOnly(f"The lake {folder} cannot be written ({error.strerror}).") from error
        if fcntl is None:  # pragma: no cover
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._file)
            raise StoreBusy(
                f"Another process fills the lake {folder}.", hint="One is enough; stop it first."
            ) from error

    def close(self) -> None:
        """Let go of the folder."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
