"""Checks of what callers pass to a queue, so that every queue refuses the same mistakes with the same errors."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from partita.errors import OperationError, ValidationFailed
from partita.queue._interface import (
    Acknowledge,
    Create,
    Discard,
    GetStats,
    Postpone,
    QueuePolicy,
    ReadDead,
    Receive,
    Redrive,
    Send,
)

_NAME: Final = re.compile(r"[^/\\\x00-\x1f]+")


def check_request(request: object) -> None:
    """Refuse what is not a request to a queue, and a request with a value that no queue accepts.

    Raises:
        OperationError: it is not a request. ValidationFailed: a value has a wrong type or is out of range.
    """
    check = _CHECKS.get(type(request))
    if check is None:
        hint = "Pass an object such as Send(…) or Receive() from partita.queue."
        raise OperationError(f"{request!r:.80} is not a request to a queue.", hint=hint)
    check(request)


def check_name(name: object) -> None:
    """Refuse what cannot be the name of a queue, nor part of the name of a file.

    Raises:
        OperationError: it is not a name.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        hint = "Use letters, digits, hyphens and underscores, as SQS does."
        raise OperationError(f"{name!r:.80} is not the name of a queue.", hint=hint)


def check_queue(queue: object) -> None:
    """Refuse what is not a queue.

    Raises:
        OperationError: it is not a queue.
    """
    if isinstance(queue, type) or not hasattr(queue, "execute"):
        raise OperationError(f"{queue!r:.80} is not a queue.", hint="Pass a queue, as open_queue returns it.")


def checked_policy(policy: QueuePolicy | None) -> QueuePolicy:
    """The policy, or the default one.

    Raises:
        OperationError: it is not a policy.
    """
    if policy is not None and not isinstance(policy, QueuePolicy):
        raise OperationError(f"{policy!r:.80} is not a policy.", hint="Pass QueuePolicy(max_receives=5).")
    return policy or QueuePolicy()


def _check_send(request: Send) -> None:
    if not isinstance(request.body, str):
        hint = "Encode a Body with encode_body(…), and anything else as JSON text."
        raise _wrong_type("The body of Send", request.body, "str", hint=hint)
    for field in ("body", "group", "deduplication_id"):
        _check_text(getattr(request, field), f"The {field} of Send")


def _check_receive(request: Receive) -> None:
    _check_count(request.limit, "The limit of Receive", minimum=1)
    _check_seconds(request.wait, "The wait of Receive")
    _check_seconds(request.visibility, "The visibility of Receive")


def _check_receipts(request: Acknowledge | Postpone) -> None:
    name = type(request).__name__
    _check_texts(request.receipts, f"The receipts of {name}", hint="Pass the receipts of messages: (message.receipt,).")
    if isinstance(request, Postpone):
        _check_seconds(request.seconds, "The seconds of Postpone")


def _check_read_dead(request: ReadDead) -> None:
    _check_count(request.limit, "The limit of ReadDead", minimum=0)


def _check_ids(request: Redrive | Discard) -> None:
    if request.ids is not None:
        name = type(request).__name__
        _check_texts(request.ids, f"The ids of {name}", hint="Pass the ids of dead letters: (letter.id,).")


def _check_nothing(request: Create | GetStats) -> None:
    """Such a request has no fields."""


_CHECKS: Final[Mapping[type, Callable[[Any], None]]] = {
    Create: _check_nothing,
    Send: _check_send,
    Receive: _check_receive,
    Acknowledge: _check_receipts,
    Postpone: _check_receipts,
    GetStats: _check_nothing,
    ReadDead: _check_read_dead,
    Redrive: _check_ids,
    Discard: _check_ids,
}


def _check_text(value: object, what: str) -> None:
    if not isinstance(value, str):
        raise _wrong_type(what, value, "str", hint="Pass a str.")
    try:
        value.encode()
    except UnicodeEncodeError:
        hint = "Replace unpaired surrogates, which are not characters."
        raise ValidationFailed(f"{what} is not valid Unicode.", hint=hint) from None


def _check_texts(values: object, what: str, *, hint: str) -> None:
    if not isinstance(values, tuple | list):
        raise _wrong_type(what, values, "tuple", hint=hint)
    for value in values:
        if not isinstance(value, str):
            raise _wrong_type(f"Each of {what[:1].lower()}{what[1:]}", value, "str", hint=hint)


def _check_count(value: object, what: str, *, minimum: int) -> None:
    if type(value) is not int:
        raise _wrong_type(what, value, "int", hint="Pass an int.")
    if not minimum <= value <= sys.maxsize:
        raise ValidationFailed(
            f"{what} is out of range.", hint=f"Pass {minimum} or more, and not more than sys.maxsize."
        )


def _check_seconds(value: object, what: str) -> None:
    if type(value) is not int and type(value) is not float:
        raise _wrong_type(what, value, "float", hint="Pass a number of seconds.")
    if not 0 <= value <= sys.float_info.max:
        raise ValidationFailed(f"{what} is out of range.", hint="Pass a number of seconds that is not negative.")


def _wrong_type(what: str, value: object, expected: str, *, hint: str) -> ValidationFailed:
    """An error without the value, which may be personal."""
    return ValidationFailed(f"{what} must have the type {expected}, not {type(value).__name__}.", hint=hint)
