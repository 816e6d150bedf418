"""Trying whether a disk accepts data, and the error if it does not."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from partita.errors import StoreError, StoreFull, StoreReadOnly
from partita.runtime import disk_error, try_disk


def test_a_disk_is_tried_without_a_trace(tmp_path: Path) -> None:
    try_disk(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        try_disk(tmp_path / "missing")


@pytest.mark.parametrize(
    ("number", "kind", "hint"),
    [
        (errno.ENOSPC, StoreFull, "Delete something."),
        (errno.EDQUOT, StoreFull, "Delete something."),
        (errno.EROFS, StoreReadOnly, StoreReadOnly.hint),
    ],
)
def test_a_full_disk_is_told_apart_from_one_that_is_read_only(number: int, kind: type[StoreError], hint: str) -> None:
    error = disk_error(OSError(number, "reason"), "The file x cannot be written", if_full="Delete something.")
    assert (type(error), error.message, error.hint) == (kind, "The file x cannot be written (reason).", hint)
