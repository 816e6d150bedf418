"""Branches of a data folder: created during writes, independent of each other, and dropped only if they are unused."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from partita import EmbeddedStore
from partita.errors import OperationError, StoreBusy, StoreDamaged
from partita.folder import Branches, current_folder, reflink
from partita.folder._copies import copy_databases
from partita.queue import Receive, Send
from partita.queue.embedded import EmbeddedQueue
from partita.store import CreateTable, GetItem, KeyAttribute, PutItem, TableSchema

SCHEMA = TableSchema("things", KeyAttribute("id", "S"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with all kinds of files."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    with EmbeddedStore(folder / "partita.db") as store:
        store.execute(CreateTable(SCHEMA))
        store.execute(PutItem("things", {"id": "a", "n": 1}))
    with closing(EmbeddedQueue(folder / "queue-work.db", "work")) as queue:
        queue.execute(Send("body", "group", "1"))
    (folder / "secret.key").write_bytes(b"k" * 32)
    (folder / "secret.key").chmod(0o600)
    return folder


def cannot(files: Sequence[tuple[Path, Path]]) -> None:
    raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))


def as_reflink(files: Sequence[tuple[Path, Path]]) -> None:
    """Copy files with the result of a reflink, on a disk that has none."""
    for source, target in files:
        shutil.copyfile(source, target)


@pytest.fixture(params=["reflink", "copy"])
def branches(request: pytest.FixtureRequest, folder: Path) -> Branches:
    return Branches(folder, clone=as_reflink if request.param == "reflink" else cannot, clock=lambda: 1_000.0)


def items(path: Path) -> list[str]:
    with EmbeddedStore(path / "partita.db") as store:
        return [each for each in "abcdefgh" if store.execute(GetItem("things", {"id": each})).item]


def test_a_branch_has_all_and_what_is_written_there_stays_there(branches: Branches, folder: Path) -> None:
    made = branches.create("trial")
    assert (made.path, made.source, made.made_at) == (folder / "branches" / "trial", "main", 1_000.0)
    with EmbeddedStore(made.path / "partita.db") as store:
        store.execute(PutItem("things", {"id": "b"}))
    assert (items(made.path), items(folder)) == (["a", "b"], ["a"])
    with closing(EmbeddedQueue(made.path / "queue-work.db", "work")) as queue:
        assert [message.body for message in queue.execute(Receive())] == ["body"]
    assert (made.path / "secret.key").read_bytes() == b"k" * 32


def test_a_branch_is_its_owners_alone(branches: Branches) -> None:
    made = branches.create("trial")
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in made.path.iterdir()}.keys() >= {"partita.db"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made.path.iterdir()} == {0o600}
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o700


def test_a_branch_of_a_store_that_is_open_has_what_was_written_last(branches: Branches, folder: Path) -> None:
    with EmbeddedStore(folder / "partita.db") as store:
        store.execute(PutItem("things", {"id": "b"}))  # in the log, and not in the file yet
        made = branches.create("trial")
        store.execute(PutItem("things", {"id": "c"}))
        assert items(made.path) == ["a", "b"]
        assert store.execute(GetItem("things", {"id": "c"})).item is not None


def test_databases_are_copied_as_they_are_at_one_instant(branches: Branches, folder: Path) -> None:
    """A writer puts each number into the store and then into the queue, so the queue is never ahead of the store."""
    stop = threading.Event()

    def write() -> None:
        with (
            EmbeddedStore(folder / "partita.db", durable=False) as store,
            closing(EmbeddedQueue(folder / "queue-work.db", "work", durable=False)) as queue,
        ):
            number = 0
            while not stop.is_set():
                number += 1
                store.execute(PutItem("things", {"id": "last", "n": number}))
                queue.execute(Send(str(number), "numbers", str(number)))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        made = [branches.create(f"b{n}") for n in range(5)]
    finally:
        stop.set()
        writer.join()
    for branch in made:
        with EmbeddedStore(branch.path / "partita.db") as store:
            store.verify()
            item = store.execute(GetItem("things", {"id": "last"})).item
        with closing(EmbeddedQueue(branch.path / "queue-work.db", "work")) as queue:
            sent = [message.body for message in queue.execute(Receive(100_000)) if message.group == "numbers"]
        assert int(item["n"] if item else 0) - len(sent) in (0, 1)


def test_a_branch_of_a_branch(branches: Branches, folder: Path) -> None:
    branches.create("one")
    branches.switch("one")
    assert branches.create("two").source == "one"
    assert [(each.name, each.is_current) for each in branches] == [("main", False), ("one", True), ("two", False)]
    assert not (folder / "branches" / "two" / "branches").exists()


def test_switching_changes_what_commands_use(branches: Branches, folder: Path) -> None:
    branches.create("trial")
    assert current_folder(folder) == folder
    branches.switch("trial")
    assert current_folder(folder) == folder / "branches" / "trial"
    branches.switch("main")
    assert current_folder(folder) == folder


def test_a_branch_that_is_gone_is_missed(branches: Branches, folder: Path) -> None:
    branches.create("trial")
    branches.switch("trial")
    shutil.rmtree(folder / "branches" / "trial")
    with pytest.raises(OperationError, match="There is no branch 'trial'"):
        current_folder(folder)


def test_what_is_not_a_name_is_not_followed(branches: Branches, folder: Path) -> None:
    branches.create("trial")
    (folder / "branches" / "current").write_text("../../elsewhere")
    with pytest.raises(StoreDamaged, match="does not name a branch"):
        current_folder(folder)


@pytest.mark.parametrize("name", ["", "main", "current", "../up", "a/b", ".hidden", "-x", "x" * 65])
def test_a_name_is_plain(branches: Branches, name: str) -> None:
    with pytest.raises(OperationError, match="cannot be the name of a branch"):
        branches.create(name)


def test_a_branch_is_not_made_twice(branches: Branches) -> None:
    branches.create("trial")
    with pytest.raises(OperationError, match="The branch 'trial' already exists"):
        branches.create("trial")


def test_a_branch_is_not_made_by_two_at_once(folder: Path) -> None:
    def clock() -> float:
        """Called after the name was checked, and before the branch is in its place."""
        Branches(folder, clone=cannot).create("trial")
        return 1_000.0

    with pytest.raises(OperationError, match="The branch 'trial' already exists"):
        Branches(folder, clone=cannot, clock=clock).create("trial")
    assert [each.name for each in (folder / "branches").iterdir()] == ["trial"]


def test_nothing_is_left_of_a_branch_that_could_not_be_made(folder: Path) -> None:
    def full(files: Sequence[tuple[Path, Path]]) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(Exception, match="No space left"):
        Branches(folder, clone=full).create("trial")
    assert list((folder / "branches").iterdir()) == []


def test_a_branch_that_is_used_is_not_dropped(branches: Branches) -> None:
    made = branches.create("trial")
    with EmbeddedStore(made.path / "partita.db"), pytest.raises(StoreBusy):
        branches.drop("trial")
    assert items(made.path) == ["a"]
    branches.drop("trial")
    assert [each.name for each in branches] == ["main"]
    assert not made.path.exists()


@pytest.mark.parametrize(("name", "hint"), [("main", "delete the folder"), ("trial", "switch main"), ("missing", None)])
def test_main_and_the_current_branch_are_not_dropped(branches: Branches, name: str, hint: str | None) -> None:
    branches.create("trial")
    branches.switch("trial")
    with pytest.raises(OperationError) as refused:
        branches.drop(name)
    assert hint is None or hint in str(refused.value.hint)


def test_an_empty_folder_has_no_branches(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match="nothing in"):
        Branches(tmp_path / "none").create("trial")


def test_a_copy_never_overwrites(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    target.write_text("precious")
    with pytest.raises(FileExistsError):
        copy_databases({folder / "partita.db": target})
    assert target.read_text() == "precious"


def test_the_disk_decides_how_files_are_cloned(folder: Path, tmp_path: Path) -> None:
    """If the disk can clone files, clones have the same bytes; if not, an error is raised, and nothing is changed."""
    source, target = folder / "partita.db", tmp_path / "clone.db"
    target.touch()
    try:
        reflink([(source, target)])
    except OSError as error:
        assert error.errno in (errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL, errno.EXDEV, errno.ENOSYS)  # noqa: PT017
        assert target.stat().st_size == 0
    else:
        assert target.read_bytes() == source.read_bytes()
