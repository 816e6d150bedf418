"""Files that only their owner may access, whatever the umask and the existing files."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from partita.runtime import close_to_others, create_private, make_private_folder, open_private, protecting_command

pytestmark = pytest.mark.skipif(os.name != "posix", reason="has no modes")


@pytest.fixture(params=[0o000, 0o022, 0o077], autouse=True)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    """Umasks from the most permissive to the most restrictive."""
    before = os.umask(request.param)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_its_owners_alone(tmp_path: Path) -> None:
    create_private(tmp_path / "file")
    assert mode(tmp_path / "file") == 0o600


def test_what_is_there_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "file").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        create_private(tmp_path / "file")
    assert not (tmp_path / "elsewhere").exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "file").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        open_private(tmp_path / "file")
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_that_is_opened_or_made_keeps_what_it_has(tmp_path: Path) -> None:
    for text in (b"a", b"b"):
        handle = open_private(tmp_path / "file")
        os.lseek(handle, 0, os.SEEK_END)
        os.write(handle, text)
        os.close(handle)
    assert ((tmp_path / "file").read_bytes(), mode(tmp_path / "file")) == (b"ab", 0o600)


def test_each_folder_that_is_made_is_its_owners_alone(tmp_path: Path) -> None:
    make_private_folder(tmp_path / "a" / "b")
    assert (mode(tmp_path / "a"), mode(tmp_path / "a" / "b")) == (0o700, 0o700)


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private_folder(tmp_path)
    assert mode(tmp_path) == 0o755


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    create_private(tmp_path / "file")
    with pytest.raises(FileExistsError):
        make_private_folder(tmp_path / "file")


@pytest.mark.parametrize(("before", "after"), [(0o644, 0o600), (0o466, 0o400), (0o600, 0o600)])
def test_what_others_may_do_is_taken_from_them(before: int, after: int, tmp_path: Path) -> None:
    create_private(tmp_path / "file")
    (tmp_path / "file").chmod(before)
    close_to_others([tmp_path / "file", tmp_path / "missing"])
    assert mode(tmp_path / "file") == after


def test_one_line_of_the_log_names_all_that_was_closed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("a", "b", "c"):
        create_private(tmp_path / name)
    (tmp_path / "a").chmod(0o644)
    (tmp_path / "b").chmod(0o640)
    with caplog.at_level(logging.WARNING, "partita.files"):
        for _ in range(2):
            close_to_others(tmp_path / name for name in ("a", "b", "c"))
    assert caplog.messages == [
        f"Other users could read or write these files; their access was removed: {tmp_path / 'a'}, {tmp_path / 'b'}."
    ]


def test_the_files_of_another_user_are_named_and_left(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_private(tmp_path / "file")
    (tmp_path / "file").chmod(0o644)
    monkeypatch.setattr(os, "geteuid", lambda: (tmp_path / "file").stat().st_uid + 1)
    close_to_others([tmp_path / "file"])
    said = f"Other users have access, which only the owner can revoke: {tmp_path / 'file'}."
    assert (mode(tmp_path / "file"), caplog.messages) == (0o644, [said])


@pytest.mark.parametrize(
    ("file", "folder", "remedy"),
    [
        (0o600, 0o700, None),
        (0o600, 0o755, None),
        (0o600, 0o1777, None),
        (0o640, 0o700, "chmod 600 {file}"),
        (0o602, 0o700, "chmod 600 {file}"),
        (0o600, 0o777, "chmod o-w {folder}"),
    ],
)
def test_what_to_do_about_a_file_that_others_can_read_or_replace(
    file: int, folder: int, remedy: str | None, tmp_path: Path
) -> None:
    create_private(tmp_path / "file")
    (tmp_path / "file").chmod(file)
    tmp_path.chmod(folder)
    expected = remedy and remedy.format(file=tmp_path / "file", folder=tmp_path)
    assert protecting_command(tmp_path / "file") == expected
    tmp_path.chmod(0o700)
