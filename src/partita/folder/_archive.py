"""Archives: the files of a data folder that cannot be rebuilt, in one file with a manifest and checksums.

    archive.tar.gz
      manifest.json      the format, the creation time, and each file with its kind, size and SHA-256
      partita.db         …

An archive is written in a temporary folder and then linked to its final name; an existing file is never replaced. It
is read in one pass, into a folder that only its owner can access, and is used only after all of it was verified.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import math
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import IO, Annotated, Final, Protocol, Self, TypeAlias, cast

import msgspec
from msgspec import Meta, Struct

from partita.errors import StoreDamaged, StoreError, StoreNewer, StoreReadOnly
from partita.folder._copies import copy_databases, copy_file
from partita.folder._files import DataFile, Kind, data_files, kind_of_file
from partita.folder._proof import prove, scrub
from partita.folder._temporary import temporary_folder
from partita.runtime import create_private, disk_error, open_private, sync

FORMAT: Final = "partita-archive"
FORMAT_VERSION: Final = 1
MANIFEST: Final = "manifest.json"
_UNFINISHED: Final = "unfinished.tar.gz"
_GZIP: Final = b"\x1f\x8b"
_LEVEL: Final = 1
_CHUNK: Final = 1 << 20
_MAX_MANIFEST: Final = 1 << 20
_DAMAGE: Final = (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, msgspec.MsgspecError, ValueError)
"""Errors of reading the contents of an archive. Other errors of the system do not mean that it is damaged."""
_MAX_HEADER: Final = 1 << 16
"""More than `tarfile` reads ahead, and than the header of a file of any size has."""

StepProgress: TypeAlias = Callable[[str, int, int], None]
"""Receives a description of the current step, the amount done and the total amount."""


class SupportsRead(Protocol):
    """A source of bytes."""

    def read(self, size: int = ..., /) -> bytes:
        """Read some bytes."""
        ...


class ArchivedFile(Struct, frozen=True, forbid_unknown_fields=True):
    """One file of an archive."""

    name: str
    kind: Kind
    size: Annotated[int, Meta(ge=0)]
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]


class Manifest(Struct, frozen=True):
    """The manifest of an archive."""

    format: str
    format_version: int
    made_at: float
    partita: str
    """The version of Partita that wrote it."""
    files: tuple[ArchivedFile, ...]
    left_out: tuple[str, ...] = ()
    """Files of the folder that it does not contain: they can be rebuilt, or were not requested."""

    @property
    def has_secrets(self) -> bool:
        """Whether it contains the key that signs tokens and encrypts cursors."""
        return any(file.kind == "secret" for file in self.files)


def write_archive(
    folder: Path,
    target: Path,
    now: float,
    *,
    with_secrets: bool = False,
    progress: StepProgress = lambda _step, _done, _total: None,
) -> Manifest:
    """Archive a data folder as of one instant, while it is in use. `progress` is called during each step.

    Raises:
        StoreError: the target exists or cannot be written. StoreDamaged: a database is damaged; no archive is written.
    """
    _refuse_existing(target)
    if not target.parent.is_dir():
        raise StoreReadOnly(f"The folder {target.parent} does not exist.", hint="Create it first.")
    with (
        _blaming(f"The file {target}", "Free disk space, or choose another folder."),
        temporary_folder(target.parent) as place,
    ):
        manifest = _staged(folder, place, now, progress, with_secrets=with_secrets)
        with os.fdopen(open_private(place / _UNFINISHED), "wb") as file:
            _write(file, manifest, place, progress)
        sync(place / _UNFINISHED)
        try:
            os.link(place / _UNFINISHED, target)  # unlike a rename, this fails if the target was created meanwhile
        except FileExistsError:
            _refuse_existing(target)
            raise
        sync(target.parent)
    return manifest


def stream_archive(
    folder: Path,
    output: IO[bytes],
    now: float,
    *,
    with_secrets: bool = False,
    progress: StepProgress = lambda _step, _done, _total: None,
) -> Manifest:
    """Write an archive to a stream, such as a pipe. The copies of the databases are made in the data folder.

    Raises:
        OSError: the stream cannot be written. StoreError: no copies can be made. StoreDamaged: a database is damaged.
    """
    with ExitStack() as opened:
        with _blaming(f"A copy in {folder}", "Free disk space, or write the backup to a file."):
            place = opened.enter_context(temporary_folder(folder))
            manifest = _staged(folder, place, now, progress, with_secrets=with_secrets)
        _write(output, manifest, place, progress)
        output.flush()
    return manifest


def _staged(folder: Path, place: Path, now: float, progress: StepProgress, *, with_secrets: bool) -> Manifest:
    """Copy the files of an archive to a temporary folder, and return their manifest."""
    wanted = [file for file in data_files(folder) if _is_wanted(file, with_secrets=with_secrets)]
    left_out = tuple(file.name for file in data_files(folder) if file not in wanted)
    _stage(folder, wanted, place, progress)
    files = tuple(_described(place / file.name, file.kind) for file in wanted)
    return Manifest(FORMAT, FORMAT_VERSION, now, version("partita"), files, left_out)


def _is_wanted(file: DataFile, *, with_secrets: bool) -> bool:
    return file.kind in ("database", "queue") or (with_secrets and file.kind == "secret")


def _refuse_existing(target: Path) -> None:
    if os.path.lexists(target):
        what = "is a link" if target.is_symlink() else "exists"
        raise StoreError(f"The file {target} {what}; a backup never replaces a file.", hint="Choose another name.")


@contextmanager
def _blaming(what: str, remedy: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise disk_error(error, f"{what} cannot be written", if_full=remedy) from error


def _stage(folder: Path, files: Sequence[DataFile], staged: Path, progress: StepProgress) -> None:
    databases = [file for file in files if file.is_database]
    copies = {folder / file.name: staged / file.name for file in databases}
    copy_databases(copies, progress=lambda path, done, total: progress(f"Copying {path.name}", done, total))
    for file in databases:
        scrub(staged / file.name, partial(progress, f"Compacting {file.name}"))
        prove(staged / file.name, file.kind, folder / file.name, partial(progress, f"Checking {file.name}"))
    for file in files:
        if not file.is_database:
            copy_file(folder / file.name, staged / file.name)


def _described(path: Path, kind: Kind) -> ArchivedFile:
    with path.open("rb") as content:
        return ArchivedFile(path.name, kind, path.stat().st_size, hashlib.file_digest(content, "sha256").hexdigest())


def _write(output: IO[bytes], manifest: Manifest, staged: Path, progress: StepProgress) -> None:
    with (
        gzip.GzipFile(fileobj=output, mode="wb", compresslevel=_LEVEL, filename="", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        text = msgspec.json.format(msgspec.json.encode(manifest))
        _add(archive, MANIFEST, io.BytesIO(text), len(text), manifest.made_at)
        for each in manifest.files:
            with (staged / each.name).open("rb") as content:
                reader = _CountingReader(content, partial(progress, f"Packing {each.name}"), each.size)
                _add(archive, each.name, reader, each.size, manifest.made_at)


class _CountingReader:
    """Reads a file and reports its progress."""

    def __init__(self, content: IO[bytes], progress: Callable[[int, int], None], size: int) -> None:
        self._content = content
        self._progress = progress
        self._size = size
        self._reported = 0

    def read(self, size: int = -1) -> bytes:
        """Read some bytes."""
        found = self._content.read(size)
        if self._content.tell() - self._reported >= _CHUNK or self._content.tell() == self._size:
            self._reported = self._content.tell()
            self._progress(self._reported, self._size)
        return found


def _add(archive: tarfile.TarFile, name: str, content: SupportsRead, size: int, at: float) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = size, int(at), 0o600
    archive.addfile(member, content)


def is_archive(path: Path) -> bool:
    """Whether a file is compressed like an archive (gzip)."""
    with path.open("rb") as file:
        return file.read(len(_GZIP)) == _GZIP


@contextmanager
def unpacked(
    archive: Path, place: Path, progress: StepProgress = lambda _step, _done, _total: None
) -> Iterator[tuple[Manifest, Path]]:
    """Unpack and verify an archive, in a temporary folder that is deleted when the block ends.

    Args:
        archive: a file that `write_archive` wrote.
        place: the folder in which the temporary folder is created.
        progress: called during each step.

    Raises:
        StoreDamaged: the archive is damaged. StoreNewer: a newer version wrote it. StoreFull: no space is left.
        StoreReadOnly: the place cannot be written.
    """
    with ExitStack() as opened:
        try:
            folder = opened.enter_context(temporary_folder(place))
            manifest = _unpack(archive, folder, progress)
        except _DAMAGE as error:
            raise _damaged(archive, str(error)) from error
        except OSError as error:
            remedy = "Free disk space, and restore it again; nothing was changed."
            raise disk_error(error, f"The archive {archive} cannot be unpacked in {place}", if_full=remedy) from error
        for file in manifest.files:
            if kind_of_file(file.name) in ("database", "queue"):
                prove(folder / file.name, file.kind, archive, partial(progress, f"Checking {file.name}"))
        yield manifest, folder


def _unpack(archive: Path, folder: Path, progress: StepProgress) -> Manifest:
    with gzip.open(archive, "rb") as packed, _Members(cast("IO[bytes]", packed)) as members:
        first = members.next()
        if first is None or first.name != MANIFEST or not first.isreg() or first.size > _MAX_MANIFEST:
            raise _damaged(archive, "it does not begin with a manifest")
        manifest = _manifest(archive, members.content(first).read(_MAX_MANIFEST))
        for file in manifest.files:
            _extract(archive, members, file, folder, partial(progress, f"Unpacking {file.name}"))
        if members.next() is not None:
            raise _damaged(archive, "it contains files that are not in its manifest")
        while packed.read(_CHUNK):  # read to the end, where gzip verifies its checksum
            pass
    return manifest


class _Members:
    """The files of an archive, in their order. `tarfile` keeps headers in memory, so each has a bounded size."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed = packed
        self._header_bytes: float = _MAX_HEADER
        """How much may be read before the header of the next file is complete."""
        self._tar = tarfile.open(fileobj=cast("IO[bytes]", self), mode="r|")  # noqa: SIM115 - closed by `__exit__`

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._tar.close()

    def read(self, size: int = -1) -> bytes:
        """Read some bytes of the archive."""
        found = self._packed.read(size)
        self._header_bytes -= len(found)
        if self._header_bytes < 0:
            raise tarfile.ReadError("a header is too long")
        return found

    def next(self) -> tarfile.TarInfo | None:
        """The next file."""
        self._header_bytes = _MAX_HEADER
        member = self._tar.next()
        self._header_bytes = math.inf
        return member

    def content(self, member: tarfile.TarInfo) -> IO[bytes]:
        """The content of the file that `next` has returned."""
        content = self._tar.extractfile(member)
        if content is None or member.issparse():  # a sparse file expands to any size, without data
            raise ValueError(f"{member.name!r} is not a file")
        return content


def _manifest(archive: Path, text: bytes) -> Manifest:
    manifest = msgspec.json.decode(text, type=Manifest)
    if manifest.format != FORMAT:
        raise _damaged(archive, f"its format is {manifest.format!r}")
    if manifest.format_version > FORMAT_VERSION:
        message = f"The archive {archive} has format {manifest.format_version}, which only newer versions can read."
        raise StoreNewer(message, hint="Restore it with a newer version; nothing was changed.")
    names = [file.name for file in manifest.files]
    if len(set(names)) < len(names):
        raise _damaged(archive, "it contains a file twice")
    for file in manifest.files:
        # So no name points outside the folder, and no file of a kind that programs would execute is created.
        if kind_of_file(file.name) != file.kind or file.kind in ("projection", "other"):
            raise _damaged(archive, f"{file.name!r} is not a file of a data folder")
    return manifest


def _extract(
    archive: Path, members: _Members, file: ArchivedFile, folder: Path, progress: Callable[[int, int], None]
) -> None:
    member = members.next()
    if member is None or member.name != file.name or not member.isreg() or member.size != file.size:
        raise _damaged(archive, f"{file.name} is missing or has another size")
    digest = hashlib.sha256()
    create_private(folder / file.name)
    with os.fdopen(open_private(folder / file.name), "wb") as target:
        content = members.content(member)
        while chunk := content.read(_CHUNK):
            digest.update(chunk)
            target.write(chunk)
            progress(target.tell(), file.size)
        target.flush()
        os.fsync(target.fileno())
    if digest.hexdigest() != file.sha256:
        raise _damaged(archive, f"the checksum of {file.name} does not match")


def _damaged(archive: Path, reason: str) -> StoreDamaged:
    hint = "Choose another backup; nothing was changed."
    return StoreDamaged(f"The archive {archive} is damaged: {reason}.", hint=hint)
