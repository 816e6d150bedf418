"""The parameters of StartBulkPutItems: the location of the input, and of the reports."""

from __future__ import annotations

import re
from typing import Final

from partita.errors import ValidationFailed
from partita.store import Json
from partita.wire._parameters import MAX_LONG, Parameters, member, refuse, violated

FORMATS: Final = ("ION", "DYNAMODB_JSON")
COMPRESSIONS: Final = ("GZIP", "ZSTD", "NONE")
TIERS: Final = ("STANDARD", "ACCELERATED")
KINDS: Final = ("ERROR", "CONDITION_CHECK_FAILURE")
ALGORITHMS: Final = ("AES256", "KMS")
MIN_UNITS: Final = 1_024
MAX_BUCKET: Final = 255
MAX_PREFIX: Final = 1_024
MAX_KMS_KEY: Final = 2_048
_BUCKET: Final = re.compile(r"[a-z0-9A-Z]+[.\-\w]*[a-z0-9A-Z]+", re.ASCII)
_OWNER: Final = re.compile(r"[0-9]{12}")
_TOKEN: Final = re.compile(r"[^$]+")


def read_input(call: Parameters) -> Json:
    """The location and format of the input, in the form that descriptions return."""
    inner = _structure(call, "InputS3Configuration")
    at = "inputS3Configuration."
    kind = _choice(inner, at, "InputFormat", FORMATS)
    if kind is None:
        refuse(violated(None, f"{at}inputFormat", "Member must not be null"))
    found: Json = {"S3Bucket": _bucket(inner, at), "InputFormat": kind}
    compression = _choice(inner, at, "InputCompressionType", COMPRESSIONS)
    return found | _common(inner, at) | ({} if compression is None else {"InputCompressionType": compression})


def read_output(call: Parameters) -> Json:
    """The location and kinds of the reports, in the form that descriptions return."""
    inner = _structure(call, "OutputS3Configuration")
    at = "outputS3Configuration."
    kinds = inner.texts("OutputType")
    if kinds is None:
        refuse(violated(None, f"{at}outputType", "Member must not be null"))
    wrong = [kind for kind in kinds if kind not in KINDS]
    if wrong:
        rule = f"Member must satisfy constraint: [Member must satisfy enum value set: [{', '.join(KINDS)}]]"
        refuse(violated(kinds, f"{at}outputType", rule))
    if not kinds:
        raise ValidationFailed("OutputType must have at least one value")
    found: Json = {"S3Bucket": _bucket(inner, at), "OutputType": list(dict.fromkeys(kinds))}
    return found | _common(inner, at) | _encryption(inner, at)


def _encryption(inner: Parameters, at: str) -> Json:
    algorithm = _choice(inner, at, "S3SseAlgorithm", ALGORITHMS)
    key = _text(inner, at, "S3SseKmsKeyId", MAX_KMS_KEY, shortest=1)
    if key is not None and algorithm != "KMS":
        raise ValidationFailed("S3SseKmsKeyId can only be specified when S3SseAlgorithm is KMS")
    found = {"S3SseAlgorithm": algorithm, "S3SseKmsKeyId": key}
    return {name: value for name, value in found.items() if value is not None}


def read_units(call: Parameters) -> int | None:
    """The maximum number of write units per second."""
    units = call.whole("MaxWriteRequestUnits", MAX_LONG)
    if units is not None and units < MIN_UNITS:
        rule = f"Member must have value greater than or equal to {MIN_UNITS}"
        refuse(violated(units, "maxWriteRequestUnits", rule))
    return units


def read_token(call: Parameters) -> str | None:
    """The client token, which makes repeated requests refer to one operation."""
    token = call.text("ClientToken")
    if token is not None and not _TOKEN.fullmatch(token):
        refuse(violated(token, "clientToken", r"Member must satisfy regular expression pattern: ^[^\$]+$"))
    return token


def _structure(call: Parameters, name: str) -> Parameters:
    given = call.fields(name)
    if given is None:
        refuse(violated(None, member(name), "Member must not be null"))
    return Parameters(given)


def _bucket(inner: Parameters, at: str) -> str:
    bucket = _text(inner, at, "S3Bucket", MAX_BUCKET)
    if bucket is None:
        refuse(violated(None, f"{at}s3Bucket", "Member must not be null"))
    if not _BUCKET.fullmatch(bucket):
        rule = r"Member must satisfy regular expression pattern: ^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$"
        refuse(violated(bucket, f"{at}s3Bucket", rule))
    return bucket


def _common(inner: Parameters, at: str) -> Json:
    owner, prefix = inner.text("S3BucketOwner"), _text(inner, at, "S3KeyPrefix", MAX_PREFIX)
    if owner is not None and not _OWNER.fullmatch(owner):
        refuse(violated(owner, f"{at}s3BucketOwner", "Member must satisfy regular expression pattern: [0-9]{12}"))
    found = {"S3BucketOwner": owner, "S3KeyPrefix": prefix}
    return {name: value for name, value in found.items() if value is not None}


def _text(inner: Parameters, at: str, name: str, longest: int, shortest: int = 0) -> str | None:
    given = inner.text(name)
    if given is not None and not shortest <= len(given) <= longest:
        bound = f"less than or equal to {longest}" if given else f"greater than or equal to {shortest}"
        refuse(violated(given, f"{at}{member(name)}", f"Member must have length {bound}"))
    return given


def _choice(inner: Parameters, at: str, name: str, options: tuple[str, ...]) -> str | None:
    given = inner.text(name)
    if given is not None and given not in options:
        rule = f"Member must satisfy enum value set: [{', '.join(options)}]"
        refuse(violated(given, f"{at}{member(name)}", rule))
    return given
