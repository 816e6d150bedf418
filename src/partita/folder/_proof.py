"""Verifying a copy of a database before it is used."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from partita import _sqlite
from partita.errors import StoreDamaged
from partita.folder._files import Kind
from partita.store.embedded.upkeep import Progress, copy_pages, verify


def scrub(path: Path, progress: Progress | None = None) -> None:
    """Rewrite a database that nobody else uses as one file, without any remains of deleted data."""
    fresh = path.with_name(f"{path.name}.scrubbed")
    with _sqlite.translating(str(path)), closing(_sqlite.open_database(str(path))) as connection:
        connection.pragma("journal_mode", "delete")
        copy_pages(connection, fresh, progress)
    fresh.replace(path)


def prove(path: Path, kind: Kind, blamed: Path, progress: Progress | None = None) -> None:
    """Check a database that nobody else uses; for a store, `progress` receives the rows done and their total.

    Raises:
        StoreDamaged: the database is damaged; the message names `blamed` as the damaged file.
    """
    with _sqlite.translating(str(blamed)), closing(_sqlite.open_database(str(path))) as connection:
        if kind == "database":
            verify(connection, str(blamed), progress)
            return
        findings = [row[0] for row in connection.execute("PRAGMA integrity_check").fetchall() if row[0] != "ok"]
        if findings:
            raise StoreDamaged(f"{blamed} is damaged: {'; '.join(map(str, findings))}.")
