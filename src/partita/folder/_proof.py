"""Proving that a copy of a database is sound, before anything relies on it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from partita import _sqlite
from partita.errors import StoreDamaged
from partita.folder._files import Kind
from partita.store.embedded.upkeep import Progress, copy_pages, verify


def scrub(path: Path, progress: Progress | None = None) -> None:
    """Write a database that nobody else uses again, without a byte of what was deleted from it, and as one file."""
    fresh = path.with_name(f"{path.name}.scrubbed")
    with _sqlite.translating(str(path)), closing(_sqlite.open_database(str(path))) as connection:
        connection.pragma("journal_mode", "delete")
        copy_pages(connection, fresh, progress)
    fresh.replace(path)


def prove(path: Path, kind: Kind, blamed: Path, progress: Progress | None = None) -> None:
    """Check a database that nobody else uses; `progress` gets rows done and all, of a store.

    Raises:
        StoreDamaged: naming what it is a copy of, and what disagrees.
    """
    with _sqlite.translating(str(blamed)), closing(_sqlite.open_database(str(path))) as connection:
        if kind == "database":
            verify(connection, str(blamed), progress)
            return
        findings = [row[0] for row in connection.execute("PRAGMA integrity_check").fetchall() if row[0] != "ok"]
        if findings:
            raise StoreDamaged(f"{blamed} is damaged: {'; '.join(map(str, findings))}.")
