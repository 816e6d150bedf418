"""The content of the files of a lake."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq


def text_of(folder: Path) -> str:
    """Return the content of all files of a lake: the rows of every version, and the log of Delta."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    plain = [path.read_text(encoding="utf-8") for path in paths if path.suffix == ".json"]
    rows = [str(pq.ParquetFile(path).read().to_pylist()) for path in paths if path.suffix == ".parquet"]
    return "\n".join([*plain, *rows])
