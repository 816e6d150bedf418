"""Trying whether a disk accepts data."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita.runtime import try_disk


def test_a_disk_is_tried_without_a_trace(tmp_path: Path) -> None:
    try_disk(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        try_disk(tmp_path / "missing")
