"""Encryption parameters for buckets, and the failure codes of operations that use buckets."""

from __future__ import annotations

from typing import Final

from partita.buckets import Encryption
from partita.errors import AccessDenied, BucketNotFound, ObjectChanged, OperationError, PartitaError, TableNotFound
from partita.store import Json

_ALGORITHMS: Final = {"AES256": "AES256", "KMS": "aws:kms"}
UNEXPECTED: Final = "InternalServerError"
SEE_LOG: Final = "An unexpected error occurred. The log of the server describes it."
_CODES: Final[tuple[tuple[type[PartitaError], str], ...]] = (
    (BucketNotFound, "S3NoSuchBucket"),
    (AccessDenied, "S3AccessDenied"),
    (ObjectChanged, "S3ObjectModified"),
    (OperationError, "ValidationException"),
    (TableNotFound, "ResourceNotFoundException"),
)


def failure_code(error: PartitaError) -> str:
    """The `FailureCode` of an operation that failed with this error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), UNEXPECTED)


def bucket_encryption(asked: Json) -> Encryption | None:
    """The encryption of objects, from the parameters of a call; None if it sets none."""
    algorithm = asked.get("S3SseAlgorithm")
    return None if algorithm is None else Encryption(_ALGORITHMS[algorithm], asked.get("S3SseKmsKeyId"))
