"""The lock between processes."""

from __future__ import annotations

from pathlib import Path

from partita._sqlite import ProcessLock


def test_a_lock_can_be_tried(tmp_path: Path) -> None:
    ours, theirs = ProcessLock(tmp_path / "store.db"), ProcessLock(tmp_path / "store.db")
    assert ours.acquire(blocking=False)
    assert not theirs.acquire(blocking=False)
    ours.release()
    with theirs:
        assert not ours.acquire(blocking=False)
    assert ours.acquire(blocking=False)
    ours.close()
    theirs.close()
