"""The files of a data folder: databases, secrets, and projections that can be rebuilt from the databases."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal, TypeAlias

from msgspec import Struct

Kind: TypeAlias = Literal["database", "queue", "projection", "secret", "other"]

BRANCHES: Final = "branches"
_KINDS: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("database", re.compile(r"partita(-[A-Za-z0-9_-]+)?\.db")),
    ("queue", re.compile(r"queue-[A-Za-z0-9_.-]+\.db")),
    ("projection", re.compile(r"[A-Za-z0-9_.-]+-projection\.db")),
    ("secret", re.compile(r"secret\.key|tokens\.json")),
)
_PASSING: Final = re.compile(
    r".*(-wal|-shm|-journal|\.lock|\.turn|\.partial|\.restoring|\.before-[0-9TZ.]+)|\..*|tmp.*|sign-in-links\.json"
)
"""Logs, locks and one-time codes, which belong to a running process, and files that a restore has kept."""


class DataFile(Struct, frozen=True, order=True):
    """One file of a data folder."""

    name: str
    kind: Kind

    @property
    def is_database(self) -> bool:
        """Whether it is an SQLite database."""
        return self.kind in ("database", "queue", "projection")


def kind_of_file(name: str) -> Kind:
    """The kind of a file with this name."""
    for kind, pattern in _KINDS:
        if pattern.fullmatch(name):
            return kind
    return "other"


def data_files(folder: Path) -> list[DataFile]:
    """The files of a folder that remain when no process runs, sorted by name."""
    found = [path.name for path in folder.iterdir() if path.is_file() and not path.is_symlink()]
    return sorted(DataFile(name, kind_of_file(name)) for name in found if not _PASSING.fullmatch(name))
