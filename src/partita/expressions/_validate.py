"""Validation of expressions by the rules that need no item, with DynamoDB's messages.

| Rule | Limit |
| --- | --- |
| operators and functions of one expression | 300 |
| parts of one path | 32 |
| functions inside functions | 32 |
| options of one IN | 100 |
"""

from __future__ import annotations

from typing import Final

from partita.expressions._ast import Condition, Projection, Update
from partita.expressions._condition_rules import check_condition
from partita.expressions._invalid import Within
from partita.expressions._path_rules import check_projection
from partita.expressions._update_rules import check_update

_MAX_VALID: Final = 16
_VALID: Final[dict[int, Condition]] = {}
"""Some conditions that were found valid, by identity."""


def validate_condition(condition: Condition, *, what: str | None = "ConditionExpression") -> None:
    """Check a condition or filter; `what` names it in the message, None omits the name.

    Raises:
        ValidationFailed: it breaks one of DynamoDB's rules.
    """
    # Writes within the same second share the identical condition object, which is frozen.
    if _VALID.get(id(condition)) is condition:
        return
    with Within(what):
        check_condition(condition)
    if len(_VALID) >= _MAX_VALID:
        _VALID.clear()
    _VALID[id(condition)] = condition


def validate_update(update: Update, *, what: str | None = "UpdateExpression") -> None:
    """Check an update; one that changes nothing is valid. `what` names it in the message, None omits the name.

    Raises:
        ValidationFailed: it breaks one of DynamoDB's rules.
    """
    with Within(what):
        check_update(update)


def validate_projection(projection: Projection) -> None:
    """Check a projection.

    Raises:
        ValidationFailed: it breaks one of DynamoDB's rules.
    """
    with Within("ProjectionExpression"):
        check_projection(projection)
