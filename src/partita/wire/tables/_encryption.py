"""Encryption at rest as a mere setting: the key that descriptions of a table report."""

from __future__ import annotations

import hashlib
import uuid
from typing import Final

from partita.errors import ValidationFailed
from partita.store import Json
from partita.wire._describe import ACCOUNT
from partita.wire._parameters import Parameters
from partita.wire.tables._definitions import INVALID

_TYPES: Final = ("AES256", "KMS")
_MANAGED: Final = "alias/aws/dynamodb"


def read_encryption(call: Parameters, before: str | None) -> str | None:
    """The ARN of the key after the call; None for the key that AWS owns."""
    given = call.fields("SSESpecification")
    if given is None:
        return before
    part = Parameters(given)
    enabled, kind, key = part.flag("Enabled"), part.choice("SSEType", _TYPES), part.text("KMSMasterKeyId")
    if enabled is False:
        for name, value in (("SSEType", kind), ("KMSMasterKeyId", key)):
            if value is not None:
                raise ValidationFailed(f"{INVALID}{name} can not be specified if Enabled is false")
    if kind == "AES256":
        raise ValidationFailed(f"{INVALID}SSEType AES256 is not supported")
    if key is not None and kind is None:
        raise ValidationFailed(f"{INVALID}SSEType KMS is required if KMSMasterKeyId is specified")
    return _key_arn(key or _MANAGED, call.region) if enabled or kind == "KMS" else None


def check_change(before: str | None, after: str | None, call: Parameters) -> None:
    """Refuse a change to the encryption that the table already has."""
    if after is None and before is None:
        raise ValidationFailed(f"{INVALID}Table is already encrypted by default")
    key = Parameters(call.fields("SSESpecification") or {}).text("KMSMasterKeyId")
    if key is not None and key == before:
        message = "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you want to"
        raise ValidationFailed(f"{INVALID}{message} change Master Key")


def _key_arn(key: str, region: str) -> str:
    """The ARN of a key by its id or alias; an alias gets a made-up key id that is always the same."""
    if key.startswith("arn:") and ":alias/" not in key:
        return key
    alias = key.rpartition(":")[2]
    if alias.startswith("alias/"):
        digest = hashlib.md5(f"{region}/{alias}".encode(), usedforsecurity=False).digest()
        key = str(uuid.UUID(bytes=digest, version=4))
    return f"arn:aws:kms:{region}:{ACCOUNT}:key/{key}"


def encryption_body(key: str | None) -> Json:
    """The encryption in descriptions; empty for the key that AWS owns."""
    if key is None:
        return {}
    return {"SSEDescription": {"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": key}}
