"""What is read from buckets and written to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Protocol

from msgspec import Struct


class StoredObject(Struct, frozen=True):
    """An object of a bucket. `version` is another one when it was written again."""

    bucket: str
    key: str
    size: int
    version: str


class Encryption(Struct, frozen=True):
    """How objects that are written are to be encrypted by the bucket: as S3's own API calls it."""

    algorithm: str
    key: str | None = None


class Buckets(Protocol):
    """Buckets that can be read and written. Every method may be called again after a failure."""

    def check_key(self, bucket: str, key: str) -> None:
        """Refuse a name that no object here can have.

        Raises:
            OperationError: it leads out of the bucket.
        """
        ...

    def objects(self, bucket: str, prefix: str = "") -> Iterator[StoredObject]:
        """The objects whose keys begin with the prefix, in the order of their keys.

        Raises:
            BucketNotFound: there is no such bucket. AccessDenied: the credentials are refused.
            StoreUnavailable: it cannot be reached.
        """
        ...

    def open(self, stored: StoredObject) -> BinaryIO:
        """The bytes of an object, to be read once and closed.

        Raises:
            ObjectChanged: it is gone, or another one by now. AccessDenied, StoreUnavailable: as above.
        """
        ...

    def write(self, bucket: str, key: str, body: bytes, encryption: Encryption | None = None) -> None:
        """Write an object, whole or not at all, over the one that has the key.

        Raises:
            BucketNotFound, AccessDenied, StoreUnavailable: as above. OperationError: the key leads out of the bucket.
        """
        ...
