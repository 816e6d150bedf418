"""Changing a versioned item by what it says, such as a number by an amount: other writers are not in the way.

`last_write` still rises strictly, and is the present time where that is later. No update expression has a maximum, so
there are two forms, and which is right depends on what is stored:

    last_write < now    SET last_write = now
    last_write >= now   SET last_write = last_write + 1

The second stays right once it is: `last_write` only rises. So a write fails at most once for it, whatever others do.
"""

from __future__ import annotations

from typing import Final, Generic, Self, TypeVar

from msgspec.structs import replace

from partita.errors import ConditionFailed, VersionConflict
from partita.expressions import Arithmetic, Compare, Condition, Path, SetAction, Value, both, evaluate
from partita.model import Change, Entity, to_update
from partita.operations import Context, ExplainFailure, Operation, Requests, conflict, missing
from partita.recipes.versioned._form import DATA_VERSION, LAST_WRITE, Versioned, VersionedForm, milliseconds
from partita.store import UpdateItem, WriteResponse
from partita.values import Item

E = TypeVar("E", bound=Entity)


_FORMS: Final = 2


class VersionedAdjust(Operation[Versioned[E]], Generic[E], frozen=True):
    """Change fields of a stored item, whoever wrote it last."""

    sends = (UpdateItem,)

    form: VersionedForm[E]
    key: Item
    seen: int
    """The last write that was read: it says which form is right, and need not be the last one any more."""
    changes: tuple[Change, ...]
    since: int
    """The first data version whose fields mean the same."""
    condition: Condition | None = None
    failure: ExplainFailure | None = None
    now: float | None = None
    """The time to write under; None for the session's clock when it runs."""

    def when(self, condition: Condition) -> Self:
        """The same write, only when the stored item satisfies the condition too."""
        self.form.schema.check_condition(condition)
        return replace(self, condition=both(self.condition, condition))

    def failing_as(self, failure: ExplainFailure) -> Self:
        """The same write, whose failed condition is explained in other terms."""
        return replace(self, failure=failure)

    def at(self, now: float) -> Self:
        """The same write under a given time, which a write that is planned again keeps."""
        return replace(self, now=now)

    def default_name(self) -> str:
        """The name where no access pattern was declared."""
        return f"{self.form.schema.name}.adjust"

    def action(self, context: Context) -> UpdateItem:
        """The request that is sent, alone or in a transaction."""
        rises = SetAction(Path((LAST_WRITE,)), self._next(context))
        known = both(self.form.known(), Compare(">=", Path((DATA_VERSION,)), Value(self.since)))
        condition = both(both(self._order(context), known), self.form.schema.unexpired(context.clock()))
        update = to_update((*self.changes, rises))
        table = self.form.schema.table.name
        return UpdateItem(table, self.key, update, both(condition, self.condition), on_failure_item=True)

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """A failed condition in the terms of the write: a conflict where only the form was wrong."""
        schema = self.form.schema
        current = self.form.live(error.item, context)
        if current is None or error.item is None:
            return missing(schema, error.item)
        if not evaluate(self._order(context), error.item):
            return conflict(schema, error.item, current)
        if self.form.stored_version(error.item) < self.since:
            message = f"This {schema.name} is stored in a data version before {self.since}."
            hint = "Write it with update() first, or run `partita migrate backfill`."
            return ConditionFailed(message, item=error.item, current=current, hint=hint)
        failed = ConditionFailed(f"The condition on this {schema.name} is false.", item=error.item, current=current)
        return failed if self.failure is None else self.failure(failed)

    def requests(self, context: Context) -> Requests[Versioned[E]]:
        """Send the request, and once more in the other form where that is right."""
        write = self.at(context.clock() if self.now is None else self.now)
        for _ in range(_FORMS - 1):
            try:
                return (yield from _sent(write, context))
            except VersionConflict as error:
                write = replace(write, seen=error.current.last_write)
        return (yield from _sent(write, context))

    def _time(self, context: Context) -> int:
        return milliseconds(context.clock() if self.now is None else self.now)

    def _is_later(self, context: Context) -> bool:
        return self.seen < self._time(context)

    def _order(self, context: Context) -> Condition:
        return Compare("<" if self._is_later(context) else ">=", Path((LAST_WRITE,)), Value(self._time(context)))

    def _next(self, context: Context) -> Value | Arithmetic:
        if self._is_later(context):
            return Value(self._time(context))
        return Arithmetic("+", Path((LAST_WRITE,)), Value(1))


def _sent(write: VersionedAdjust[E], context: Context) -> Requests[Versioned[E]]:
    try:
        response: WriteResponse = yield replace(write.action(context), returns="ALL_NEW")
    except ConditionFailed as error:
        raise write.explain(error, context) from error
    return write.form.versioned(response.attributes or {})
