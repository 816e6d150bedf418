"""A lake in a bucket of S3, or of a server with the same protocol.

Credentials come from the same chain as those of the remote store, and Delta gets those that are valid now. A commit is
a conditional put, which the bucket refuses if another writer was faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from partita._aws import REFUSED_BY_S3, GivenCredentials, S3Access
from partita.change.lake._object_lease import LEASE_SECONDS, LeasedObject, ObjectLease
from partita.errors import AccessDenied, BucketNotFound, OperationError, StoreUnavailable
from partita.runtime import Clock, system_clock

_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_OPTIONS: Final = frozenset(("endpoint", "profile", "region"))
_HINT: Final = "Write s3://BUCKET/PREFIX; ?endpoint=URL, ?region=NAME and ?profile=NAME may follow."
_PRECONDITION: Final = ("PreconditionFailed", "ConditionalRequestConflict", "412", "409")
_MISSING: Final = ("NoSuchKey", "404")


class S3Location:
    """A prefix in a bucket."""

    def __init__(
        self,
        bucket: str,
        prefix: str = "",
        *,
        endpoint: str | None = None,
        region: str | None = None,
        profile: str | None = None,
        credentials: GivenCredentials | None = None,
        lease_seconds: float = LEASE_SECONDS,
        clock: Clock = system_clock,
    ) -> None:
        """Create a location; no request is sent yet.

        Args:
            bucket: the name of the bucket.
            prefix: the prefix of the names of all objects of the lake.
            endpoint: the URL of a compatible server; by default that of the environment or profile, or else of S3.
            region: the region of the bucket; by default that of the environment or profile.
            profile: a profile of the AWS configuration files.
            credentials: the same values as `RemoteStore` accepts.
            lease_seconds: the time without a renewal after which another writer may take the lake.
            clock: returns the time by which credentials are renewed.

        Raises:
            OperationError: the bucket's name is invalid, or the extra `aws` is missing.
        """
        if not _BUCKET.fullmatch(bucket):
            raise OperationError(f"{bucket!r} is not the name of a bucket.", hint=_HINT)
        self.bucket = bucket
        self.prefix = prefix.strip("/")
        self.lease_seconds = lease_seconds
        self._access = S3Access(endpoint, region, profile, credentials, clock)

    @classmethod
    def parse(cls, url: str, *, profile: str | None = None, credentials: GivenCredentials | None = None) -> S3Location:
        """Return the location at a URL, such as `s3://bucket/prefix?endpoint=http://127.0.0.1:9000`.

        Raises:
            OperationError: the URL is not valid.
        """
        parts = urlsplit(url)
        if parts.scheme != "s3":
            raise OperationError(
                f"{url!r} is not the location of a lake.", hint=f"Name a folder. Or {_HINT[0].lower()}{_HINT[1:]}"
            )
        options = parse_qs(parts.query, keep_blank_values=True)
        twice = [name for name, values in options.items() if len(values) > 1]
        if options.keys() - _OPTIONS or twice or parts.fragment or parts.path != re.sub("//+", "/", parts.path):
            raise OperationError(f"{url!r} is not a valid URL of a lake.", hint=_HINT)
        given = {name: values[0] for name, values in options.items()}
        if given.get("profile") and profile not in (None, given["profile"]):
            raise OperationError(f"The URL names the profile {given['profile']!r}, but {profile!r} is given.")
        return cls(
            parts.netloc,
            parts.path,
            endpoint=given.get("endpoint") or None,
            region=given.get("region") or None,
            profile=given.get("profile") or profile,
            credentials=credentials,
        )

    def __str__(self) -> str:
        return self.uri

    @property
    def uri(self) -> str:
        """The URI for Delta."""
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.prefix.rpartition("/")[2] or self.bucket

    @property
    def endpoint(self) -> str:
        """The URL of the server."""
        url: str = self._client().meta.endpoint_url
        return url

    def child(self, *names: str) -> S3Location:
        """Return a location with a longer prefix and the same access."""
        child = object.__new__(S3Location)
        child.bucket, child.lease_seconds, child._access = self.bucket, self.lease_seconds, self._access
        child.prefix = "/".join((self.prefix, *names)).strip("/")
        return child

    def options(self) -> dict[str, str]:
        """Return Delta's options for access, with credentials that are valid now."""
        return self._access.options()

    def children(self) -> list[str]:
        """Return the names directly below the prefix.

        Raises:
            BucketNotFound: there is no such bucket. AccessDenied: the credentials are refused.
        """
        prefix = f"{self.prefix}/" if self.prefix else ""
        found: list[str] = []
        with self._translating():
            pages = self._client().get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self.bucket, Prefix=prefix, Delimiter="/"):
                found += [each["Prefix"][len(prefix) : -1] for each in page.get("CommonPrefixes", ())]
        return found

    def hold(self, owner: str | None = None) -> ObjectLease:
        """Take the lease, which is an object next to the tables.

        Raises:
            StoreBusy: another writer has it. BucketNotFound: no such bucket. AccessDenied: the credentials are refused.
        """
        return ObjectLease(self, str(self), owner, self.lease_seconds)

    # The interface LeaseObject

    def read(self) -> LeasedObject | None:
        """Return the object of the lease, with its age by the bucket's own clock; None if it does not exist."""
        with self._translating():
            try:
                found = self._client().get_object(Bucket=self.bucket, Key=self._lease_key)
            except self._access.client_error() as error:
                if _code(error) in _MISSING:
                    return None
                raise
            headers = found["ResponseMetadata"]["HTTPHeaders"]
            return LeasedObject.of(found["Body"].read(), found["ETag"], headers)

    def write(self, body: bytes, match: str | None) -> str | None:
        """Write the object if its tag is `match`, or if it is missing and `match` is None; return its tag, or None."""
        condition = {"IfNoneMatch": "*"} if match is None else {"IfMatch": match}
        with self._translating():
            try:
                written = self._client().put_object(Bucket=self.bucket, Key=self._lease_key, Body=body, **condition)
            except self._access.client_error() as error:
                if _code(error) in (*_PRECONDITION, *_MISSING):
                    return None
                raise
            return str(written["ETag"])

    def remove(self) -> None:
        """Delete the object of the lease."""
        with self._translating():
            self._client().delete_object(Bucket=self.bucket, Key=self._lease_key)

    @property
    def _lease_key(self) -> str:
        return f"{self.prefix}/_lease.json".lstrip("/")

    def _client(self) -> Any:
        return self._access.client()

    @contextmanager
    def _translating(self) -> Iterator[None]:
        """Raise the library's errors instead of botocore's."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - of the extra `aws`

        try:
            yield
        except ClientError as error:
            raise _failure(self, _code(error), error) from error
        except BotoCoreError as error:
            raise StoreUnavailable(f"The lake {self} cannot be reached: {_one_line(error)}") from error


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _failure(location: S3Location, code: str, error: Exception) -> Exception:
    if code in ("NoSuchBucket", "404"):
        hint = "Create it first, or correct the URL; nothing was written."
        return BucketNotFound(f"There is no bucket {location.bucket!r} for the lake {location}.", hint=hint)
    if code in REFUSED_BY_S3:
        return AccessDenied(f"The bucket {location.bucket!r} refuses the credentials of the lake ({code}).")
    return StoreUnavailable(f"The lake {location} returned an unexpected response: {_one_line(error)}")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
