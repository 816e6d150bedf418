"""A data folder that was taken away while it was in use."""

from __future__ import annotations

import logging
import threading
from typing import Final

from partita.cli._data_folder import DataFolder

logger: Final = logging.getLogger("partita.worker")

LOOK_SECONDS: Final = 1.0
"""How often it is looked whether it is back."""


def await_folder(data: DataFolder, stop: threading.Event) -> None:
    """Wait for a folder that was taken away to come back, or for the end; one that is there is not waited for."""
    if data.has_vanished:
        logger.error("The folder %s is gone: this process waits until it is back.", data.path)
        while data.has_vanished and not stop.wait(LOOK_SECONDS):
            pass
