"""Buckets of S3, or of a server with a compatible API."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, cast

from partita._aws import REFUSED_BY_S3, GivenCredentials, S3Access
from partita.buckets._interface import Encryption, StoredObject
from partita.errors import AccessDenied, BucketNotFound, ObjectChanged, StoreUnavailable
from partita.runtime import Clock, system_clock

__all__ = ["S3Buckets"]

_GONE: Final = ("NoSuchKey", "404", "PreconditionFailed", "412")
_READ_BYTES: Final = 1024 * 1024


class S3Buckets:
    """All buckets that the credentials have access to. Requires the extra `aws`."""

    def __init__(
        self,
        *,
        endpoint: str | None = None,
        region: str | None = None,
        profile: str | None = None,
        credentials: GivenCredentials | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self._access = S3Access(endpoint, region, profile, credentials, clock)

    def check_key(self, bucket: str, key: str) -> None:
        """Accept every name."""

    def objects(self, bucket: str, prefix: str = "") -> Iterator[StoredObject]:
        """The objects whose keys begin with the prefix, without folder markers.

        Raises:
            BucketNotFound, AccessDenied, StoreUnavailable: see `Buckets.objects`.
        """
        with _translating(bucket):
            pages = self._access.client().get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=bucket, Prefix=prefix):
                for each in page.get("Contents", ()):
                    if not each["Key"].endswith("/"):
                        yield StoredObject(bucket, each["Key"], each["Size"], each["ETag"])

    def open(self, stored: StoredObject) -> BinaryIO:
        """Open the object, if it has not changed since it was listed.

        Raises:
            ObjectChanged: it has changed. AccessDenied, StoreUnavailable: see `Buckets.open`.
        """
        with _translating(stored.bucket):
            found = self._access.client().get_object(Bucket=stored.bucket, Key=stored.key, IfMatch=stored.version)
        return cast("BinaryIO", io.BufferedReader(_Body(found["Body"], stored.bucket), _READ_BYTES))

    def write(self, bucket: str, key: str, body: bytes, encryption: Encryption | None = None) -> None:
        """Write an object.

        Raises:
            BucketNotFound, AccessDenied, StoreUnavailable: see `Buckets.write`.
        """
        options: dict[str, Any] = {}
        if encryption is not None:
            options["ServerSideEncryption"] = encryption.algorithm
            if encryption.key is not None:
                options["SSEKMSKeyId"] = encryption.key
        with _translating(bucket):
            self._access.client().put_object(Bucket=bucket, Key=key, Body=body, **options)


class _Body(io.RawIOBase):
    """The body of a response as a stream, whose read errors are translated like those of requests."""

    def __init__(self, body: Any, bucket: str) -> None:
        self._body = body
        self._bucket = bucket

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read bytes into the buffer and return their number."""
        with _translating(self._bucket):
            data = self._body.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Return the connection to the pool."""
        self._body.close()
        super().close()


@contextmanager
def _translating(bucket: str) -> Iterator[None]:
    """Translate botocore's errors into the library's."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - part of the extra `aws`

    try:
        yield
    except ClientError as error:
        raise _failure(bucket, str(error.response.get("Error", {}).get("Code", "")), error) from error
    except (BotoCoreError, OSError) as error:
        raise StoreUnavailable(f"The bucket {bucket!r} cannot be reached: {_one_line(error)}") from error


def _failure(bucket: str, code: str, error: Exception) -> Exception:
    if code == "NoSuchBucket":
        return BucketNotFound(f"There is no bucket {bucket!r}.", hint="Create it first, or correct the name.")
    if code in _GONE:
        return ObjectChanged(f"An object of the bucket {bucket!r} was changed or deleted after it was listed.")
    if code in REFUSED_BY_S3:
        return AccessDenied(f"The bucket {bucket!r} rejects the credentials ({code}).")
    return StoreUnavailable(f"The bucket {bucket!r} returned an unexpected error: {_one_line(error)}")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
