"""Damage in the log: lost commits are distinguished from a transaction that was never finished."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.store.embedded.support import TABLE, note, read

from partita.errors import StoreDamaged
from partita.store._requests import CreateTable
from partita.store.embedded import EmbeddedStore

FRAME = 24 + 4096
COMMITS = 30


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """The path of a store with a log, as a killed process leaves them."""
    folder = tmp_path / "killed"
    folder.mkdir()
    with EmbeddedStore(tmp_path / "live.db") as store:
        store.execute(CreateTable(TABLE))
        store._writer.connection.pragma("wal_autocheckpoint", 0)
        store._writer.connection.pragma("wal_checkpoint", "TRUNCATE")
        for number in range(COMMITS):
            store.execute(note(number, text="x" * 100))
        for part in ("", "-wal"):
            shutil.copy(tmp_path / f"live.db{part}", folder / f"store.db{part}")
    return folder / "store.db"


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def frames(path: Path) -> int:
    return (log_of(path).stat().st_size - 32) // FRAME


def flip(path: Path, frame: int, offset: int) -> None:
    """Flip a bit of a frame; frames are counted from 0."""
    log = bytearray(log_of(path).read_bytes())
    log[32 + frame * FRAME + offset] ^= 1
    log_of(path).write_bytes(log)


def test_a_whole_log_is_read_to_its_end(killed: Path) -> None:
    with EmbeddedStore(killed) as store:
        assert read(store, COMMITS - 1) is not None


@pytest.mark.parametrize("offset", [0, 4, 7, 8, 16, 20, 24, 2_000, FRAME - 1])
@pytest.mark.parametrize("frame", [0, 1, 10, -5])
def test_a_damaged_frame_that_others_follow_is_told(killed: Path, frame: int, offset: int) -> None:
    flip(killed, frame % frames(killed), offset)
    before = (killed.read_bytes(), log_of(killed).read_bytes())
    with pytest.raises(StoreDamaged, match=r"The log of the store .* commits are lost"):
        EmbeddedStore(killed)
    assert (killed.read_bytes(), log_of(killed).read_bytes()) == before


@pytest.mark.parametrize("offset", [8, 16, 24, FRAME - 1])
def test_a_last_transaction_that_does_not_fit_was_never_finished(killed: Path, offset: int) -> None:
    flip(killed, frames(killed) - 1, offset)
    with EmbeddedStore(killed) as store:
        assert (read(store, COMMITS - 2) is not None, read(store, COMMITS - 1)) == (True, None)


@pytest.mark.parametrize("missing", [1, 100, FRAME, FRAME + 1])
def test_a_log_that_ends_early_was_never_finished(killed: Path, missing: int) -> None:
    log = log_of(killed).read_bytes()
    log_of(killed).write_bytes(log[:-missing])
    with EmbeddedStore(killed) as store:
        assert (read(store, 0) is not None, read(store, COMMITS - 1)) == (True, None)


def test_frames_of_an_earlier_round_of_the_log_are_not_its_own(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with EmbeddedStore(path) as store:
        store.execute(CreateTable(TABLE))
        for number in range(COMMITS):
            store.execute(note(number))
        store._writer.connection.pragma("wal_checkpoint", "RESTART")  # the log restarts and overwrites its frames
        store.execute(note(COMMITS))
        with EmbeddedStore(path) as another:
            assert read(another, COMMITS) is not None
