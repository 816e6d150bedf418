"""The assertions of probes; each message says what the endpoint did."""

from __future__ import annotations

import re
from typing import Any

from tests.fidelity._client import Api, Refused

_SHOWN = 300


class Different(Exception):
    """The endpoint behaves differently from AWS."""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def same(actual: Any, expected: Any) -> None:
    """Check that both are equal.

    Raises:
        Different: they are not equal.
    """
    if actual != expected:
        raise Different(f"expected {_short(expected)}, found {_short(actual)}")


def holds(fact: object, otherwise: str) -> None:
    """Check that the fact is true.

    Raises:
        Different: it is false; `otherwise` is the message.
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
    """Check that the call fails with this error type and, if given, this message or pattern; return the error.

    Raises:
        Different: it succeeds, or fails with something else.
        Refused: the endpoint does not know the operation.
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
