"""A local folder instead of S3: each subfolder is a bucket, each file below it an object. No path leaves the folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from partita.buckets._interface import Encryption, StoredObject
from partita.errors import BucketNotFound, ObjectChanged, OperationError, StoreUnavailable
from partita.runtime import create_private, make_private_folder, new_ulid

_UNSAFE: Final = ("", ".", "..")


class FolderBuckets:
    """The buckets of a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def __str__(self) -> str:
        return str(self._root)

    def check_key(self, bucket: str, key: str) -> None:
        """Reject a name that no file below the bucket can have.

        Raises:
            OperationError: the key points outside the bucket.
        """
        parts = [bucket, *key.split("/")]
        if any(part in _UNSAFE or "\\" in part or "\0" in part for part in parts) or "/" in bucket:
            raise OperationError(
                f"{bucket}/{key} is not a valid object name in a folder.", hint="Remove .. and // from it."
            )

    def objects(self, bucket: str, prefix: str = "") -> Iterator[StoredObject]:
        """The files whose paths begin with the prefix, without links that point outside the folder.

        Raises:
            BucketNotFound: the bucket's folder does not exist.
        """
        folder = self._bucket(bucket)
        found = (path for path in folder.rglob("*") if path.is_file() and self._is_inside(path, folder))
        for key, path in sorted((path.relative_to(folder).as_posix(), path) for path in found):
            if key.startswith(prefix) and not PurePosixPath(key).name.startswith(".partita-"):
                yield _stored(bucket, key, path)

    def open(self, stored: StoredObject) -> BinaryIO:
        """Open the file for reading.

        Raises:
            ObjectChanged: it was deleted or written since it was listed.
        """
        self.check_key(stored.bucket, stored.key)
        folder = self._bucket(stored.bucket)
        path = folder / stored.key
        try:
            if self._is_inside(path, folder) and _stored(stored.bucket, stored.key, path) == stored:
                return path.open("rb")
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                raise StoreUnavailable(f"{path} cannot be read: {error.strerror}.") from error
        raise ObjectChanged(f"{stored.bucket}/{stored.key} was changed or deleted after it was listed.")

    def write(self, bucket: str, key: str, body: bytes, encryption: Encryption | None = None) -> None:  # noqa: ARG002
        """Write a temporary file and rename it to its final name. `encryption` is ignored.

        Raises:
            BucketNotFound: the bucket's folder does not exist. OperationError: the key points outside of it.
        """
        self.check_key(bucket, key)
        folder = self._bucket(bucket)
        path = folder / key
        if not self._is_inside(path, folder):
            raise OperationError(f"{bucket}/{key} points outside the bucket's folder.")
        try:
            make_private_folder(path.parent)
            beside = path.with_name(f".partita-{new_ulid()}")
            create_private(beside)
            with beside.open("wb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        except OSError as error:
            raise StoreUnavailable(f"{path} cannot be written: {error.strerror}.") from error

    def _bucket(self, name: str) -> Path:
        self.check_key(name, "object")
        folder = self._root / name
        if not folder.is_dir() or not self._is_inside(folder, self._root):
            raise BucketNotFound(f"There is no bucket {name!r} in {self._root}.", hint="A bucket is a subfolder of it.")
        return folder

    def _is_inside(self, path: Path, folder: Path) -> bool:
        """Whether a path, with its links resolved, is inside a folder that itself is inside the root."""
        return path.resolve().is_relative_to(folder) and folder.resolve().is_relative_to(self._root)


def _stored(bucket: str, key: str, path: Path) -> StoredObject:
    found = path.stat()
    return StoredObject(bucket, key, found.st_size, f"{found.st_ino}-{found.st_mtime_ns}-{found.st_size}")
