"""Tags of tables."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from partita.errors import TableNotFound, ValidationFailed
from partita.store import DescribeTable, Json
from partita.wire._describe import ACCOUNT
from partita.wire._faults import Fault, not_found
from partita.wire._parameters import Parameters, Requests, refuse, violated
from partita.wire.tables._definitions import INVALID
from partita.wire.tables._settings import Settings, keep_settings, read_settings

MAX_TAGS: Final = 50
_MAX_KEY: Final = 128
_MAX_VALUE: Final = 256
_SIGNS: Final = "+-=._:/@"
_ARN: Final = re.compile(r"arn:aws:dynamodb:[^:]*:([^:]*):table/([a-zA-Z0-9_.-]{3,255})")


def tag_resource(call: Parameters) -> Requests[Json | None]:
    """Add tags to a table."""
    name, settings = yield from _tagged(call, "TagResource")
    given = read_tags(call)
    if not given:
        raise ValidationFailed("Atleast one Tag needs to be provided as Input.")
    tags = settings.tags | given
    check_tag_count(tags)
    yield from keep_settings(name, msgspec.structs.replace(settings, tags=tags))
    return None


def untag_resource(call: Parameters) -> Requests[Json | None]:
    """Remove tags from a table."""
    name, settings = yield from _tagged(call, "UntagResource")
    keys = call.texts("TagKeys")
    if not keys:
        raise ValidationFailed("Atleast one Tag Key needs to be provided as Input.")
    left = {key: value for key, value in settings.tags.items() if key not in keys}
    yield from keep_settings(name, msgspec.structs.replace(settings, tags=left))
    return None


def list_tags(call: Parameters) -> Requests[Json]:
    """List the tags of a table."""
    _, settings = yield from _tagged(call, "ListTagsOfResource")
    return {"Tags": [{"Key": key, "Value": value} for key, value in settings.tags.items()]}


def _tagged(call: Parameters, operation: str) -> Requests[tuple[str, Settings]]:
    """The table of the ARN and its settings; tables of other accounts are not accessible."""
    arn = call.text("ResourceArn")
    if arn is None:
        refuse(violated(None, "resourceArn", "Member must not be null"))
    if not arn.startswith("arn:"):
        raise ValidationFailed(f"{INVALID}ARNs must start with 'arn:': {arn}")
    match = _ARN.fullmatch(arn)
    if match is None:
        raise ValidationFailed(f"Invalid TableArn: Invalid ResourceArn provided as input {arn}")
    account, name = match.groups()
    if account != ACCOUNT:
        raise Fault("AccessDeniedException", f"User is not authorized to perform: dynamodb:{operation} on {arn}")
    try:
        yield DescribeTable(name)
    except TableNotFound:
        raise not_found(f"ResourceArn: {arn}") from None
    settings = yield from read_settings(name)
    return name, settings


def read_tags(call: Parameters) -> dict[str, str]:
    """Read the tags of a call, by key."""
    tags: dict[str, str] = {}
    for position, given in enumerate(call.structures("Tags"), 1):
        tag, at = Parameters(given), f"tags.{position}.member"
        key, value = tag.required("Key", f"{at}.key"), tag.required("Value", f"{at}.value")
        if not key or not _is_valid(key, _MAX_KEY):
            raise ValidationFailed(f"The Tag Key provided is invalid, Key: {key}")
        if not _is_valid(value, _MAX_VALUE):
            raise ValidationFailed(f"The Tag Value provided is invalid, Value: {value}")
        if key.startswith("aws:"):
            raise ValidationFailed(f"Tag Key cannot be prefixed with aws:, Key: {key}")
        if key in tags:
            raise ValidationFailed(f"Duplicate Tag Keys provided as input: Duplicate Tag Key found {key}")
        tags[key] = value
    return tags


def _is_valid(text: str, limit: int) -> bool:
    return len(text) <= limit and all(sign.isalnum() or sign.isspace() or sign in _SIGNS for sign in text)


def check_tag_count(tags: dict[str, str]) -> None:
    """Refuse more tags than a table may have."""
    if len(tags) > MAX_TAGS:
        raise ValidationFailed("Number of Tags exceed the current limit for the provided ResourceArn")
