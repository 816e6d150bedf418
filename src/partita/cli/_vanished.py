"""Waiting for a data folder that was removed while it was in use."""

from __future__ import annotations

import logging
import threading
from typing import Final

from partita.cli._data_folder import DataFolder

logger: Final = logging.getLogger("partita.worker")

LOOK_SECONDS: Final = 1.0
"""Interval of the checks whether the folder is back."""


def await_folder(data: DataFolder, stop: threading.Event) -> None:
    """Wait until a folder that was removed is back, or `stop` is set. Return at once if the folder exists."""
    if data.has_vanished:
        logger.error("The folder %s is gone. This process waits until it is back.", data.path)
        while data.has_vanished and not stop.wait(LOOK_SECONDS):
            pass
