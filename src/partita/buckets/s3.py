"""Buckets of S3, or of a server that speaks its protocol."""

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
    """All buckets that the credentials may use. Needs the extra `aws`."""

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
        """Every name may be one."""

    def objects(self, bucket: str, prefix: str = "") -> Iterator[StoredObject]:
        """The objects whose keys begin with the prefix; the markers of folders are left out.

        Raises:
            BucketNotFound, AccessDenied, StoreUnavailable: as the interface says.
        """
        with _translating(bucket):
            pages = self._access.client().get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=bucket, Prefix=prefix):
                for each in page.get("Contents", ()):
                    if not each["Key"].endswith("/"):
                        yield StoredObject(bucket, each["Key"], each["Size"], each["ETag"])

    def open(self, stored: StoredObject) -> BinaryIO:
        """The object, if it is still the one that was listed.

        Raises:
            ObjectChanged: it is not. AccessDenied, StoreUnavailable: as the interface says.
        """
        with _translating(stored.bucket):
            found = self._access.client().get_object(Bucket=stored.bucket, Key=stored.key, IfMatch=stored.version)
        return cast("BinaryIO", io.BufferedReader(_Body(found["Body"], stored.bucket), _READ_BYTES))

    def write(self, bucket: str, key: str, body: bytes, encryption: Encryption | None = None) -> None:
        """Write an object.

        Raises:
            BucketNotFound, AccessDenied, StoreUnavailable: as the interface says.
        """
        options: dict[str, Any] = {}
        if encryption is not None:
            options["ServerSideEncryption"] = encryption.algorithm
            if encryption.key is not None:
                options["SSEKMSKeyId"] = encryption.key
        with _translating(bucket):
            self._access.client().put_object(Bucket=bucket, Key=key, Body=body, **options)


class _Body(io.RawIOBase):
    """The stream of a response; what breaks in the middle is said as every other failure is."""

    def __init__(self, body: Any, bucket: str) -> None:
        self._body = body
        self._bucket = bucket

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer."""
        with _translating(self._bucket):
            data = self._body.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Give the connection back."""
        self._body.close()
        super().close()


@contextmanager
def _translating(bucket: str) -> Iterator[None]:
    """The library's errors in place of botocore's."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - of the extra `aws`

    try:
        yield
    except ClientError as error:
        raise _failure(bucket, str(error.response.get("Error", {}).get("Code", "")), error) from error
    except (BotoCoreError, OSError) as error:
        raise StoreUnavailable(f"The bucket {bucket!r} cannot be reached: {_one_line(error)}") from error


def _failure(bucket: str, code: str, error: Exception) -> Exception:
    if code == "NoSuchBucket":
        return BucketNotFound(f"There is no bucket {bucket!r}.", hint="Make it first, or correct the name.")
    if code in _GONE:
        return ObjectChanged(f"An object of {bucket!r} is not the one that it was.")
    if code in REFUSED_BY_S3:
        return AccessDenied(f"The bucket {bucket!r} refuses the credentials ({code}).")
    return StoreUnavailable(f"The bucket {bucket!r} did not respond as it should: {_one_line(error)}")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
