"""Archives: consistent at one instant, verified before any file is replaced, and restored all or nothing."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import os
import stat
import tarfile
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.folder.test_branches import cannot, folder, items  # noqa: F401 - a fixture

from partita import EmbeddedStore
from partita._sqlite import open_database
from partita.errors import StoreDamaged, StoreError, StoreFull, StoreNewer, StoreReadOnly
from partita.folder import _copies, finish_replacement, is_archive, replace_files, unpacked, write_archive
from partita.folder._archive import Manifest
from partita.folder._copies import copy_databases
from partita.queue import Acknowledge, Receive, Send
from partita.queue.embedded import EmbeddedQueue
from partita.store import DeleteItem, PutItem

# ruff: noqa: F811 - fixtures are imported by their names


def test_an_archive_has_databases_and_queues_and_secrets_only_if_asked(folder: Path, tmp_path: Path) -> None:
    (folder / "todo-projection.db").touch()
    plain = write_archive(folder, tmp_path / "plain", 1.0)
    assert [(file.name, file.kind) for file in plain.files] == [("partita.db", "database"), ("queue-work.db", "queue")]
    assert plain.left_out == ("secret.key", "todo-projection.db")
    whole = write_archive(folder, tmp_path / "whole", 1.0, with_secrets=True)
    assert (plain.has_secrets, whole.has_secrets) == (False, True)
    assert is_archive(tmp_path / "plain")
    assert not is_archive(folder / "partita.db")


def test_an_archive_says_how_far_each_of_its_steps_is(folder: Path, tmp_path: Path) -> None:
    seen: dict[str, list[float]] = {}
    write_archive(
        folder, tmp_path / "a", 1.0, progress=lambda step, done, of: seen.setdefault(step, []).append(done / max(of, 1))
    )
    of_each = [f"{what} partita.db" for what in ("Compacting", "Checking", "Packing")]
    assert [step for step in seen if step in of_each] == of_each
    assert all(parts == sorted(parts) and parts[-1] == 1 for parts in seen.values())


def test_unpacking_says_how_far_each_of_its_steps_is(folder: Path, tmp_path: Path) -> None:
    seen: dict[str, list[float]] = {}
    write_archive(folder, tmp_path / "a", 1.0)
    with unpacked(tmp_path / "a", tmp_path, lambda step, done, of: seen.setdefault(step, []).append(done / max(of, 1))):
        assert list(seen)[:2] == ["Unpacking partita.db", "Unpacking queue-work.db"]
        assert "Checking partita.db" in seen
        assert {fractions[-1] for fractions in seen.values()} == {1.0}


@pytest.mark.parametrize("pages", [1, 1_000])
def test_a_copy_says_how_far_it_is(folder: Path, tmp_path: Path, pages: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_copies, "_PAGES", pages)
    seen: list[tuple[int, int]] = []
    source = folder / "partita.db"
    copy_databases(
        {source: tmp_path / "copy.db"}, clone=cannot, progress=lambda _, done, total: seen.append((done, total))
    )
    total = seen[-1][1]
    assert seen == [(min(done, total), total) for done in range(pages, total + pages, pages)]


def test_an_archive_gives_back_what_was_there(folder: Path, tmp_path: Path) -> None:
    write_archive(folder, tmp_path / "archive", 1.0, with_secrets=True)
    with unpacked(tmp_path / "archive", tmp_path) as (manifest, found):
        assert items(found) == ["a"]
        with closing(EmbeddedQueue(found / "queue-work.db", "work")) as queue:
            assert [message.body for message in queue.execute(Receive())] == ["body"]
        assert (found / "secret.key").read_bytes() == b"k" * 32
        assert {stat.S_IMODE(path.stat().st_mode) for path in found.iterdir()} == {0o600}
        assert manifest.made_at == 1.0
    assert not found.exists()


def test_an_archive_is_its_owners_alone_and_replaces_nothing(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "archive"
    write_archive(folder, target, 1.0)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with pytest.raises(StoreError, match="exists; a backup never replaces a file"):
        write_archive(folder, target, 1.0)
    planted = tmp_path / "planted"
    planted.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="is a link"):
        write_archive(folder, planted, 1.0)
    assert not (tmp_path / "elsewhere").exists()
    with pytest.raises(StoreReadOnly, match="does not exist"):
        write_archive(folder, tmp_path / "no" / "archive", 1.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive", "data", "planted"]


def test_an_archive_has_nothing_of_what_was_deleted(folder: Path, tmp_path: Path) -> None:
    with EmbeddedStore(folder / "partita.db") as store:
        store.execute(PutItem("things", {"id": "b", "text": "swordfish " * 50}))
        store.execute(DeleteItem("things", {"id": "b"}))
        write_archive(folder, tmp_path / "archive", 1.0)
    with closing(EmbeddedQueue(folder / "queue-work.db", "work")) as queue:
        (message,) = queue.execute(Receive())
        queue.execute(Acknowledge((message.receipt,)))
    with unpacked(tmp_path / "archive", tmp_path) as (_, found):
        assert b"swordfish" not in (found / "partita.db").read_bytes()


def test_a_damaged_database_is_not_archived(folder: Path, tmp_path: Path) -> None:
    with closing(open_database(str(folder / "partita.db"))) as connection:
        (name,) = (
            connection.execute("SELECT name FROM sqlite_schema WHERE name GLOB 'items_[0-9]*' AND type = 'table'").get,
        )
        connection.execute(f"UPDATE {name} SET size = size + 1")  # noqa: S608 - a name from the schema
    with pytest.raises(StoreDamaged, match="column size"):
        write_archive(folder, tmp_path / "archive", 1.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


Change = Callable[[dict[str, Any], dict[str, bytes]], None]


def altered(archive: Path, change: Change) -> None:
    """Rewrite an archive with a changed manifest or changed content."""
    with tarfile.open(archive) as members:
        content = {member.name: members.extractfile(member).read() for member in members}  # type: ignore[union-attr]
    manifest = msgspec.json.decode(content.pop("manifest.json"))
    change(manifest, content)
    archive.unlink()
    with tarfile.open(archive, "w:gz") as members:
        for name, data in {"manifest.json": msgspec.json.encode(manifest), **content}.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            members.addfile(member, io.BytesIO(data))


def _flip(manifest: dict[str, Any], content: dict[str, bytes]) -> None:
    content["partita.db"] = content["partita.db"][:-1] + bytes([content["partita.db"][-1] ^ 1])


def _drop(manifest: dict[str, Any], content: dict[str, bytes]) -> None:
    del content["queue-work.db"]


def _add(manifest: dict[str, Any], content: dict[str, bytes]) -> None:
    content["extra.db"] = b"x"


def _rename(manifest: dict[str, Any], content: dict[str, bytes]) -> None:
    manifest["files"][0]["name"] = "../partita.db"
    content["../partita.db"] = content.pop("partita.db")


def _other_kind(manifest: dict[str, Any], content: dict[str, bytes]) -> None:
    manifest["files"][0]["kind"] = "queue"


def _twice(manifest: dict[str, Any], content: dict[str, bytes]) -> None:
    manifest["files"].append(manifest["files"][0])


def _foreign(manifest: dict[str, Any], content: dict[str, bytes]) -> None:
    manifest["format"] = "zip"


def _nonsense(manifest: dict[str, Any], content: dict[str, bytes]) -> None:
    manifest["files"][0]["sha256"] = "none"


def _unsound(manifest: dict[str, Any], content: dict[str, bytes]) -> None:
    """Damage the database, and set the checksum that fits."""
    data = content["partita.db"]
    content["partita.db"] = data[:4096] + b"\xff" * 64 + data[4096 + 64 :]  # the head of the second page
    manifest["files"][0]["sha256"] = hashlib.sha256(content["partita.db"]).hexdigest()


@pytest.mark.parametrize(
    "change",
    [_flip, _drop, _add, _rename, _other_kind, _twice, _foreign, _nonsense, _unsound],
    ids=lambda c: c.__name__,
)
def test_an_archive_that_is_not_what_was_written_is_refused(folder: Path, tmp_path: Path, change: Change) -> None:
    archive = tmp_path / "archive"
    write_archive(folder, archive, 1.0)
    altered(archive, change)
    with pytest.raises(StoreDamaged), unpacked(archive, tmp_path):
        pytest.fail("it was taken")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive", "data"]


@pytest.mark.parametrize("cut", [1, 100, 1_000])
def test_an_archive_that_was_cut_off_is_refused(folder: Path, tmp_path: Path, cut: int) -> None:
    archive = tmp_path / "archive"
    write_archive(folder, archive, 1.0)
    archive.write_bytes(archive.read_bytes()[:-cut])
    with pytest.raises(StoreDamaged), unpacked(archive, tmp_path):
        pytest.fail("it was taken")


def test_an_archive_whose_compressed_data_is_overwritten_is_refused(folder: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    write_archive(folder, archive, 1.0)
    content, packing = gzip.decompress(archive.read_bytes()), zlib.compressobj(wbits=31)
    begin = packing.compress(content[: len(content) // 2]) + packing.flush(zlib.Z_FULL_FLUSH)
    archive.write_bytes(begin + b"\xff" * 1_000)  # where a block begins, this is not one
    with pytest.raises(StoreDamaged, match=r"archive is damaged: .*nothing was changed"), unpacked(archive, tmp_path):
        pytest.fail("it was unpacked")


@pytest.mark.parametrize(
    ("number", "kind", "message"),
    [
        (errno.ENOSPC, StoreFull, "No space left on device.*Free disk space"),
        (errno.EROFS, StoreReadOnly, "Read-only file system.*Choose a folder"),
    ],
)
def test_an_archive_is_not_damaged_because_it_cannot_be_unpacked(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[StoreError], message: str
) -> None:
    def failing(_: int) -> None:
        raise OSError(number, os.strerror(number))

    write_archive(folder, tmp_path / "archive", 1.0)
    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(kind, match=f"cannot be unpacked in .*{message}"), unpacked(tmp_path / "archive", tmp_path):
        pytest.fail("it was unpacked")


def test_an_archive_for_which_no_space_is_left_says_so(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("partita.folder._archive._add", full)
    with pytest.raises(StoreFull, match=r"archive cannot be written \(No space left on device\)\. Free disk space"):
        write_archive(folder, tmp_path / "archive", 1.0)
    assert [each.name for each in tmp_path.iterdir() if each != folder] == []


def test_what_is_packed_but_not_an_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"hello"))
    with pytest.raises(StoreDamaged), unpacked(tmp_path / "x.gz", tmp_path):
        pytest.fail("it was taken")


def pax(*records: tuple[str, object]) -> bytes:
    """An extended header of the next file."""
    content = b""
    for name, value in records:
        text = f" {name}={value}\n".encode()
        size = next(size for size in range(len(text), len(text) + 9) if len(str(size)) + len(text) == size)
        content += str(size).encode() + text
    return entry("pax", content, tarfile.XHDTYPE)


def entry(name: str, content: bytes, kind: bytes = tarfile.REGTYPE) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.type = len(content), kind
    return member.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % tarfile.BLOCKSIZE)


SPARSE = (("GNU.sparse.major", 1), ("GNU.sparse.minor", 0), ("GNU.sparse.name", "partita.db"))


@pytest.mark.req("X04")
@pytest.mark.parametrize(
    ("member", "reason"),
    [
        (pax(("comment", "x" * 200_000)) + entry("partita.db", b""), "a header is too long"),
        (entry("long", b"x" * 200_000, tarfile.GNUTYPE_LONGNAME) + entry("partita.db", b""), "a header is too long"),
        (pax(*SPARSE, ("GNU.sparse.realsize", 1 << 50)) + entry("x", b"1\n0\n0\n"), "is not a file"),
        (
            pax(*SPARSE, ("GNU.sparse.realsize", 1 << 50)) + entry("x", b"999999\n" + b"0\n" * 200_000),
            "a header is too long",
        ),
    ],
    ids=["long header", "long name", "sparse file", "long map"],
)
def test_an_archive_cannot_grow_beyond_its_data(tmp_path: Path, member: bytes, reason: str) -> None:
    file = {"name": "partita.db", "kind": "database", "size": 1 << 50, "sha256": "0" * 64}
    manifest = {"format": "partita-archive", "format_version": 1, "made_at": 1.0, "partita": "1", "files": [file]}
    packed = entry("manifest.json", msgspec.json.encode(manifest)) + member + bytes(tarfile.RECORDSIZE)
    (tmp_path / "archive").write_bytes(gzip.compress(packed))
    with pytest.raises(StoreDamaged, match=reason), unpacked(tmp_path / "archive", tmp_path):
        pass
    assert [each.name for each in tmp_path.iterdir()] == ["archive"]


def test_an_archive_of_a_newer_version_is_refused(folder: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    write_archive(folder, archive, 1.0)
    altered(archive, lambda manifest, _: manifest.update(format_version=2))
    with pytest.raises(StoreNewer, match="format 2"), unpacked(archive, tmp_path):
        pytest.fail("it was taken")


class Killed(BaseException):
    """The process was killed."""


def staged(tmp_path: Path) -> Path:
    place = tmp_path / "new"
    place.mkdir()
    for name in ("partita.db", "queue-work.db", "secret.key"):
        (place / name).write_text(f"new {name}")
    return place


def contents(folder: Path) -> dict[str, str]:
    names = ("partita.db", "queue-work.db", "secret.key", "todo-projection.db")
    return {name: (folder / name).read_text() for name in names if (folder / name).exists()}


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A data folder with text files in place of databases."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("partita.db", "queue-work.db", "todo-projection.db"):
        (folder / name).write_text(f"old {name}")
    (folder / "partita.db-wal").write_text("old log")
    return folder


NEW = {name: f"new {name}" for name in ("partita.db", "queue-work.db", "secret.key")}
OLD = {name: f"old {name}" for name in ("partita.db", "queue-work.db", "todo-projection.db")}


def test_files_are_replaced_and_what_was_there_is_kept(plain: Path, tmp_path: Path) -> None:
    kept = replace_files(plain, staged(tmp_path), ["todo-projection.db"], 0.0)
    assert contents(plain) == NEW
    assert [path.read_text() for path in kept] == ["old partita.db", "old queue-work.db"]
    assert (plain / f"{kept[0].name}-wal").read_text() == "old log"
    assert not (plain / "partita.db-wal").exists()
    assert sorted(path.name for path in plain.iterdir() if not path.name.startswith("partita.db.")) == [
        "partita.db",
        "queue-work.db",
        kept[1].name,
        "secret.key",
    ]


@pytest.mark.parametrize("step", range(12))
def test_files_are_replaced_all_or_none_whenever_the_process_is_killed(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Kill the process at each call that changes the folder: the next open finds either all old or all new files."""
    left, original = [step], os.replace

    def counted(source: Any, target: Any, **more: Any) -> None:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        original(source, target, **more)

    links = os.link

    def link(source: Any, target: Any, **more: Any) -> None:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        links(source, target, **more)

    new = staged(tmp_path)
    monkeypatch.setattr(Path, "replace", counted)
    monkeypatch.setattr(os, "link", link)
    killed = False
    try:
        replace_files(plain, new, ["todo-projection.db"], 0.0)
    except Killed:
        killed = True
    monkeypatch.undo()
    finish_replacement(plain)
    assert contents(plain) == (OLD if killed and step == 0 else NEW)
    finish_replacement(plain)
    assert not (plain / "restore.json").exists()


@pytest.mark.parametrize(
    "plan",
    [
        b"{",
        b'{"names": ["../x.db"], "kept": ".before-1", "removed": []}',
        b'{"names": [], "kept": "/../x", "removed": []}',
        b'{"names": ["shell.sh"], "kept": ".before-1", "removed": []}',
    ],
)
def test_a_plan_that_leads_elsewhere_is_not_followed(plain: Path, plan: bytes) -> None:
    (plain / "restore.json").write_bytes(plan)
    with pytest.raises(StoreDamaged):
        finish_replacement(plain)
    assert contents(plain) == OLD


def test_the_manifest_is_read_by_name(folder: Path, tmp_path: Path) -> None:
    made = write_archive(folder, tmp_path / "archive", 1.0)
    with tarfile.open(tmp_path / "archive") as members:
        first = members.next()
        assert first is not None
        content = members.extractfile(first)
        assert content is not None
        assert msgspec.json.decode(content.read(), type=Manifest) == made


def test_queues_send_on_after_an_archive(folder: Path, tmp_path: Path) -> None:
    with closing(EmbeddedQueue(folder / "queue-work.db", "work")) as queue:
        write_archive(folder, tmp_path / "archive", 1.0)
        queue.execute(Send("more", "group", "2"))


def test_every_page_of_a_large_copy_has_its_checksum(tmp_path: Path) -> None:
    """SQLite writes pages of a large copy before the header that says that pages have checksums."""
    source, target = tmp_path / "source.db", tmp_path / "target.db"
    with EmbeddedStore(source, durable=False) as store:
        store._writer.connection.execute("CREATE TABLE filling (content)")
        store._writer.connection.executemany("INSERT INTO filling VALUES (zeroblob(?))", [(4_000,)] * 1_500)
        copy_databases({source: target}, clone=cannot)
    with EmbeddedStore(target) as copy:
        copy.verify()
