"""What a probe asserts; the message says what the endpoint did."""

from __future__ import annotations

import re
from typing import Any

from tests.fidelity._client import Api, Refused

_SHOWN = 300


class Different(Exception):
    """The endpoint does otherwise than AWS."""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def same(actual: Any, expected: Any) -> None:
    """Fail unless both are equal.

    Raises:
        Different: they are not.
    """
    if actual != expected:
        raise Different(f"expected {_short(expected)}, found {_short(actual)}")


def holds(fact: object, otherwise: str) -> None:
    """Fail, with these words, unless the fact holds.

    Raises:
        Different: it does not.
    """
    if not fact:
        raise Different(otherwise)


def refused(
    api: Api,
    operation: str,
    *,
    kind: str = "ValidationException",
    message: str | None = None,
    pattern: str | None = None,
    **parameters: Any,
) -> Refused:
    """Fail unless the call is refused with this type, and where given with this message or pattern in the message.

    Raises:
        Different: it is accepted, or refused otherwise.
    """
    try:
        response = api(operation, **parameters)
    except Refused as refusal:
        if refusal.is_absent or refusal.kind == "UnknownOperationException":
            raise
        if refusal.kind != kind:
            raise Different(f"expected {kind}, refused with {_short(refusal)}") from None
        if message is not None and refusal.message != message:
            raise Different(f"expected the message {_short(message)}, found {_short(refusal.message)}") from None
        if pattern is not None and not re.search(pattern, refusal.message, re.DOTALL):
            raise Different(f"expected a message like {_short(pattern)}, found {_short(refusal.message)}") from None
        return refusal
    raise Different(f"expected {kind}, accepted with {_short(response)}")
