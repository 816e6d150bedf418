"""Temporary folders: deleted when their block ends, or by the next process after a kill."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from partita.folder._temporary import temporary_folder


def children(place: Path) -> set[Path]:
    return set(place.iterdir())


def test_a_folder_is_its_owners_and_is_deleted(tmp_path: Path) -> None:
    with temporary_folder(tmp_path) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "file").write_text("x")
    assert children(tmp_path) == set()


def test_it_is_deleted_whatever_ends_the_block(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), temporary_folder(tmp_path):
        raise KeyboardInterrupt
    assert children(tmp_path) == set()


def killed_in(place: Path) -> None:
    """Create a temporary folder with a file in a process that then kills itself."""
    process = os.fork()
    if process == 0:
        with temporary_folder(place) as folder:
            (folder / "file").write_text("x")
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(process, 0)[1])


def test_what_a_killed_process_left_is_deleted_by_the_next(tmp_path: Path) -> None:
    killed_in(tmp_path)
    (left,) = children(tmp_path)
    with temporary_folder(tmp_path) as folder:
        assert children(tmp_path) == {folder}
        assert folder != left


def test_the_folder_of_a_living_process_stays(tmp_path: Path) -> None:
    with temporary_folder(tmp_path) as first:
        with temporary_folder(tmp_path) as second:
            assert children(tmp_path) == {first, second}
        assert children(tmp_path) == {first}


@pytest.mark.parametrize("name", [".partita-x", "partita-x"])
def test_a_folder_without_a_lock_stays(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "lock.new").touch()
    with temporary_folder(tmp_path):
        pass
    assert children(tmp_path) == {tmp_path / name}


def test_a_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    killed_in(tmp_path)
    (left,) = children(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    left.rename(elsewhere)
    left.symlink_to(elsewhere)
    with temporary_folder(tmp_path):
        pass
    assert (elsewhere / "file").exists()
