"""Checks: parts of a transaction that write nothing."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from partita.errors import ConditionFailed
from partita.expressions import Condition, both
from partita.model import EntitySchema
from partita.operations._get import Get
from partita.operations._operation import Context
from partita.operations.writes._stored import condition_false, live_entity, missing, present, vacant
from partita.operations.writes._write import ExplainFailure
from partita.store import ConditionCheck, TransactAction
from partita.values import Item


class Check(Struct, frozen=True):
    """Part of a transaction: an item must satisfy a condition."""

    schema: EntitySchema[Any]
    key: Item
    exists: bool
    condition: Condition | None = None
    failure: ExplainFailure | None = None

    def failing_as(self, failure: ExplainFailure) -> Check:
        """The same check; `failure` translates its failed condition into another error."""
        return replace(self, failure=failure)

    def action(self, context: Context) -> TransactAction:
        """The action to send."""
        guard = present(self.schema, context) if self.exists else vacant(self.schema, context)
        condition = both(guard, self.condition)
        return ConditionCheck(self.schema.table.name, self.key, condition, on_failure_item=True)

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The failed condition in terms of this check."""
        current = live_entity(self.schema, error.item, context)
        failed = condition_false(self.schema, error.item, current)
        explained = missing(self.schema, error.item) if current is None else failed
        return explained if self.failure is None else self.failure(explained)


def check(at: Get[Any], condition: Condition | None = None) -> Check:
    """Part of a transaction: the item must exist and satisfy the condition."""
    if condition is not None:
        at.schema.check_condition(condition)
    return Check(at.schema, at.key, exists=True, condition=condition)


def absent(at: Get[Any]) -> Check:
    """Part of a transaction: the item must not exist."""
    return Check(at.schema, at.key, exists=False)
