"""The findings of a run: for each place that failed, the shortest input and the traceback."""

from __future__ import annotations

import re
import sys
import traceback
from pathlib import Path


class Findings:
    """Writes findings to a folder as soon as they occur, because the process may end at any time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shortest: dict[str, int] = {}

    def add(self, data: bytes, error: Exception) -> None:
        """Write the input, unless a shorter one failed at the same place."""
        name = _place(error)
        if len(data) < self._shortest.get(name, sys.maxsize):
            self._shortest[name] = len(data)
            (self._folder / f"{name}.bin").write_bytes(data)
            text = "".join(traceback.format_exception(error))
            (self._folder / f"{name}.txt").write_text(text, encoding="utf-8", errors="replace")


def _place(error: Exception) -> str:
    """A file name made of the type of the error and the place where it was raised."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return re.sub(r"\W+", "-", f"{type(error).__name__}-{Path(frame.filename).stem}-{frame.lineno}")
