"""Every known error of the emulator, with the rule of DynamoDB that it breaks.

All other requests must have the same outcome on both stores. The contract suite tests our store against the rules that
are not compared here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.differential.plays import CITIES

from partita.errors import Reason
from partita.expressions._ast import Path, Update
from partita.expressions._paths import MISSING, resolve
from partita.store import _requests as rq
from partita.values._attribute_values import Item, equal


def explanation(request: Any, item: Item | None, *, in_transaction: bool = False) -> str | None:
    """Return why a request cannot be compared, given the item that it applies to; None if it can."""
    if isinstance(request, rq.UpdateItem):
        return _update_explanation(request, item)
    if isinstance(request, rq.PutItem) and in_transaction and "" in (request.item.get("city"), request.item.get("age")):
        return "rule 37: the emulator takes an empty index key for an empty table key"
    if (
        isinstance(request, rq.QueryTable | rq.ScanTable)
        and request.index == CITIES.name
        and request.filter is not None
    ):
        return "rule 27: the emulator filters by attributes that the index does not project"
    return None


def _update_explanation(request: rq.UpdateItem, item: Item | None) -> str | None:
    update = request.update
    if item is None and (update.removes or update.deletes) and not (update.sets or update.adds):
        return "rule 20: the emulator creates an item that is only to lose something"
    if _reaches_below_nothing(update, item or {}):
        return "rule 19: the emulator passes over a path whose parent is missing"
    if request.returns.startswith("UPDATED") and any(type(path.parts[-1]) is int for path in _paths(update)):
        return "rule 21: the emulator returns the whole list"
    return None


def _paths(update: Update) -> list[Path]:
    return [
        *(action.path for action in update.sets),
        *update.removes,
        *(action.path for action in update.adds),
        *(action.path for action in update.deletes),
    ]


def _reaches_below_nothing(update: Update, item: Item) -> bool:
    taking = Update(removes=update.removes, adds=update.adds, deletes=update.deletes)
    return any(resolve(Path(path.parts[:-1]), item) is MISSING for path in _paths(taking) if len(path.parts) > 1)


def comparable_reasons(reasons: Sequence[Reason]) -> Sequence[tuple[str, Item | None]]:
    """Return the codes and items of the reasons, to compare.

    Rule 36: with a validation error no condition is evaluated. The emulator evaluates conditions nevertheless, so only
    the validation error is compared.
    """
    for place, reason in enumerate(reasons):
        if reason.code == "ValidationError":
            return [("None", None)] * place + [("ValidationError", None)]
    return [(reason.code, reason.item) for reason in reasons]


def comparable_capacity(request: Any, capacity: Any, *, idle: bool) -> Any:
    """Return the units that the emulator counts correctly, or the rules that it breaks; `idle`: no item changed."""
    if not isinstance(request, rq.PutItem | rq.UpdateItem | rq.DeleteItem):
        return "rules 32 and 34: the emulator charges reads without their size and transactions as singles"
    if idle:
        return (capacity.write, "rule 33: to the emulator a set in another order is a change of the index")
    return (capacity.write, sorted((name, write) for name, _, write in capacity.indexes if write))


def is_change(record: rq.StreamRecord) -> bool:
    """Whether the item changed: the emulator also records a set that is only in another order (rule 40)."""
    return not equal(record.old, record.new)
