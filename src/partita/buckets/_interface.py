"""The interface of buckets, and the objects that are read from and written to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Protocol

from msgspec import Struct


class StoredObject(Struct, frozen=True):
    """An object of a bucket. `version` changes each time the object is written."""

    bucket: str
    key: str
    size: int
    version: str


class Encryption(Struct, frozen=True):
    """How the bucket encrypts objects that are written to it, in the terms of S3's API."""

    algorithm: str
    key: str | None = None


class Buckets(Protocol):
    """Buckets that can be read and written. Every method can be retried after a failure."""

    def check_key(self, bucket: str, key: str) -> None:
        """Reject a name that no object in these buckets can have.

        Raises:
            OperationError: the key points outside the bucket.
        """
        ...

    def objects(self, bucket: str, prefix: str = "") -> Iterator[StoredObject]:
        """The objects whose keys begin with the prefix, ordered by key.

        Raises:
            BucketNotFound: the bucket does not exist. AccessDenied: the credentials are rejected.
            StoreUnavailable: the bucket cannot be reached.
        """
        ...

    def open(self, stored: StoredObject) -> BinaryIO:
        """Return a stream of an object's bytes, which the caller reads once and closes.

        Raises:
            ObjectChanged: the object was deleted or replaced. AccessDenied, StoreUnavailable: as above.
        """
        ...

    def write(self, bucket: str, key: str, body: bytes, encryption: Encryption | None = None) -> None:
        """Write an object atomically, replacing any object that has the key.

        Raises:
            BucketNotFound, AccessDenied, StoreUnavailable: as above.
            OperationError: the key points outside the bucket.
        """
        ...
