"""Relative changes of a versioned item, such as adding an amount to a number: these do not conflict with other writers.

`last_write` still rises strictly, and becomes the current time if that is later. Update expressions have no maximum
function, so there are two forms, and the stored value decides which is correct:

    last_write < now    SET last_write = now
    last_write >= now   SET last_write = last_write + 1

Once the second form is correct it stays correct, because `last_write` only rises. So a write fails at most once for
this reason, whatever other writers do.
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
    """Change fields of a stored item, regardless of who wrote it last."""

    sends = (UpdateItem,)

    form: VersionedForm[E]
    key: Item
    seen: int
    """The last write that was read: it selects the form, and may be outdated."""
    changes: tuple[Change, ...]
    since: int
    """The first data version in which the fields have the same meaning."""
    condition: Condition | None = None
    failure: ExplainFailure | None = None
    now: float | None = None
    """The time of the write; None for the session's clock when it runs."""

    def when(self, condition: Condition) -> Self:
        """The same write, but only if the stored item also satisfies the condition."""
        self.form.schema.check_condition(condition)
        return replace(self, condition=both(self.condition, condition))

    def failing_as(self, failure: ExplainFailure) -> Self:
        """The same write; `failure` translates its failed condition into another error."""
        return replace(self, failure=failure)

    def at(self, now: float) -> Self:
        """The same write at a given time, which is kept when the write is planned again."""
        return replace(self, now=now)

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.form.schema.name}.adjust"

    def action(self, context: Context) -> UpdateItem:
        """The request to send, alone or in a transaction."""
        rises = SetAction(Path((LAST_WRITE,)), self._next(context))
        known = both(self.form.known(), Compare(">=", Path((DATA_VERSION,)), Value(self.since)))
        condition = both(both(self._order(context), known), self.form.schema.unexpired(context.clock()))
        update = to_update((*self.changes, rises))
        table = self.form.schema.table.name
        return UpdateItem(table, self.key, update, both(condition, self.condition), on_failure_item=True)

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:
        """The failed condition in terms of this write: a conflict if only the form was wrong."""
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
        """Send the request, and if the other form is the correct one, send that."""
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
