"""Proving that a copy of a database is sound, before anything relies on it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from partita import _sqlite
from partita.errors import StoreDamaged
from partita.folder._files import Kind
from partita.store.embedded.upkeep import verify


def scrub(path: Path) -> None:
    """Write a database again, without a byte of what was deleted from it, and as one file."""
    with _sqlite.translating(str(path)), closing(_sqlite.open_database(str(path))) as connection:
        connection.pragma("journal_mode", "delete")
        connection.execute("VACUUM")


def prove(path: Path, kind: Kind, blamed: Path) -> None:
    """Check a database that nobody else uses.

    Raises:
        StoreDamaged: naming what it is a copy of, and what disagrees.
    """
    with _sqlite.translating(str(blamed)), closing(_sqlite.open_database(str(path))) as connection:
        if kind == "database":
            verify(connection, str(blamed))
            return
        findings = [row[0] for row in connection.execute("PRAGMA integrity_check").fetchall() if row[0] != "ok"]
        if findings:
            raise StoreDamaged(f"{blamed} is damaged: {'; '.join(map(str, findings))}.")
