"""Checks resource policies, and writes them in the canonical form that DynamoDB returns."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from partita.errors import ValidationFailed
from partita.store import Json
from partita.wire._describe import ACCOUNT
from partita.wire.tables._definitions import INVALID

MAX_POLICY: Final = 20_480
_DOCUMENT: Final = ("Version", "Id", "Statement")
_STATEMENT: Final = (
    "Sid",
    "Effect",
    "Principal",
    "NotPrincipal",
    "Action",
    "NotAction",
    "Resource",
    "NotResource",
    "Condition",
)
_REQUIRED: Final = (("Effect",), ("Principal", "NotPrincipal"), ("Action", "NotAction"), ("Resource", "NotResource"))
_OLDEST: Final = "2008-10-17"
_UNBOUNDED: Final = (
    "Resource-based policy grants unbounded access in one or more elements. Please revise the policy to ensure "
    "least-privilege form of access"
)


def canonical_policy(text: str) -> str:
    """The policy without white space, with its parts in a fixed order and without brackets around single elements.

    Raises:
        ValidationFailed: the text is too long, or not a policy.
    """
    if len(text.encode()) > MAX_POLICY:
        raise ValidationFailed(f"{INVALID}Maximum policy size of {MAX_POLICY} bytes exceeded")
    document = _read(text)
    statements = document.get("Statement")
    if isinstance(statements, dict):
        statements = [statements]
    if not isinstance(statements, list) or not statements:
        raise _invalid("Could not parse the policy: Statement is empty!")
    written = [_canonical_statement(statement) for statement in statements]
    names = [statement["Sid"] for statement in written if "Sid" in statement]
    if len(set(names)) < len(names):
        raise _invalid("The Statement Ids in the policy are not unique")
    parts = {**document, "Version": document.get("Version", _OLDEST), "Statement": written}
    return msgspec.json.encode(_ordered(parts, _DOCUMENT)).decode()


def _read(text: str) -> Json:
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        raise _invalid("This policy contains invalid Json") from None
    if not isinstance(document, dict):
        raise _invalid("This policy contains invalid Json")
    return document


def _invalid(reason: str) -> ValidationFailed:
    return ValidationFailed(f"{INVALID}Invalid policy document: {reason}")


def _ordered(parts: Json, order: tuple[str, ...]) -> Json:
    unknown = parts.keys() - set(order)
    if unknown:
        raise _invalid(f"Syntax error at {min(unknown)}")
    return {name: parts[name] for name in order if name in parts}


def _canonical_statement(statement: Any) -> Json:
    if not isinstance(statement, dict):
        raise _invalid("This policy contains invalid Json")
    for alternatives in _REQUIRED:
        if not any(name in statement for name in alternatives):
            raise _invalid(f"Missing required field {alternatives[0]}")
    effect = str(statement["Effect"]).capitalize()
    if effect not in ("Allow", "Deny"):
        raise _invalid(f"Invalid Effect: {statement['Effect']}")
    written = {**statement, "Effect": effect}
    for name in ("Action", "NotAction", "Resource", "NotResource"):
        if name in written:
            written[name] = _single(_texts(written[name]))
    for name in ("Principal", "NotPrincipal"):
        if name in written:
            written[name] = _canonical_principal(written[name])
    if effect == "Allow" and written.get("Principal") in ("*", {"AWS": "*"}) and not written.get("Condition"):
        raise ValidationFailed(_UNBOUNDED)
    return _ordered(written, _STATEMENT)


def _texts(value: Any) -> list[str]:
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise _invalid("This policy contains invalid Json")
    return texts


def _single(texts: list[str]) -> str | list[str]:
    return texts[0] if len(texts) == 1 else texts


def _canonical_principal(principal: Any) -> Any:
    if principal == "*":
        return principal
    if not isinstance(principal, dict):
        raise ValidationFailed("Invalid principal in policy document.")
    return {kind: _single(list(dict.fromkeys(map(_arn, _texts(names))))) for kind, names in principal.items()}


def _arn(principal: str) -> str:
    """The ARN of a principal; an account number means the root of the account."""
    return f"arn:aws:iam::{principal}:root" if principal.isdecimal() and len(principal) == len(ACCOUNT) else principal
