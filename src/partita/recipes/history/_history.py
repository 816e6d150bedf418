"""History: write-once versions of a thing, exactly one of which is open, and each of which can be queried by time.

class Price(Revision, table=TABLE):
    primary: ClassVar = Key("PRICE#{sku}", "VERSION#{created}")
    sku: str
    cents: int

@query(Price, Price.primary, newest_first=True, budget=Rcu(13))
def prices_of(sku: str) -> None: ...

PRICES = History(prices_of, claim_on)

first = db.run(PRICES.create(Price(sku="s1", cents=250)).run())
later = db.run(PRICES.revise(first, f(Price.cents).set(275)).run())      # closes `first` at the instant of `later`
db.run(PRICES.as_of(instant, "s1"))

Nothing is ever overwritten or removed: a version is closed once, by the transaction that adds the next version.

    created          expires = created      expires = created      no expires
    |--- version 1 ---|--- version 2 ---------|--- version 3 (deleted) ---...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Generic, ParamSpec, TypeVar

from msgspec.structs import replace

from partita.errors import ModelError, OperationError
from partita.expressions import KeyCondition
from partita.model import Change, EntitySchema, Span, fields_in
from partita.operations import First, Get, Query, Transaction, check_changes, transact
from partita.patterns import declare_operation, span_range
from partita.recipes.history._planning import Planning
from partita.recipes.history._revisions import OWN_FIELDS, UNWRITTEN, FieldDifference, Revision, differences
from partita.recipes.idempotency import Plan
from partita.recipes.unique import Unique
from partita.store import GetItem

__all__ = [
    "UNWRITTEN",
    "FieldDifference",
    "History",
    "Planning",
    "Revision",
    "as_of",
    "differences",
]

P = ParamSpec("P")
V = TypeVar("V", bound=Revision)


class History(Generic[P, V]):
    """All versions of each thing: one is open, and exactly one is valid at each instant since the first."""

    def __init__(
        self,
        versions: Callable[P, Query[V]],
        claim_on: Callable[[str, str], Get[Any]],
        *,
        unique: Sequence[Unique[V]] = (),
        write: Callable[[Plan[V]], Transaction] | None = None,
    ) -> None:
        """Declare a history.

        Args:
            versions: the declared `@query` of all versions of one thing, over its primary key.
            claim_on: the declared `@get` of a subclass of `Claim`. A claim on its key prevents that a thing is
                created twice.
            unique: the fields whose values no two things have at the same instant.
            write: a declared `@pattern` that builds the transaction of a plan, and gives it a name and a budget.

        Raises:
            ModelError: the pattern or the key does not fit.
        """
        self._schema: EntitySchema[V] = _checked(versions)
        self._versions = versions
        self._claim_on = claim_on
        self._unique = tuple(unique)
        self._write = write or (lambda plan: transact(*plan.actions))
        claims = claim_on("field", "value").schema
        declare_operation(self._schema, "plan", "Read the claims that a new version takes.", GetItem, on=claims)

    def versions(self, *key: P.args, **named: P.kwargs) -> Query[V]:
        """All versions of one thing, newest first."""
        return replace(self._versions(*key, **named), forward=False)

    def latest(self, *key: P.args, **named: P.kwargs) -> First[V]:
        """The newest version of one thing, whether deleted or not."""
        return self.versions(*key, **named).first()

    def as_of(self, instant: datetime, *key: P.args, **named: P.kwargs) -> First[V]:
        """The version of one thing that was valid at an instant, whether deleted or not; None before the first."""
        return as_of(self._versions(*key, **named), instant)

    def create(
        self, draft: V, *, at: datetime | None = None, by: str | None = None, why: str | None = None
    ) -> Planning[V]:
        """Plan the first version of a thing. Running it raises `AlreadyExists` if the thing has any version.

        Here as below, `at` is the instant from which the version is valid, by default now; `by` is its author, and
        `why` the reason.
        """
        return self._plan(None, draft, at, by, why)

    def revise(
        self, previous: V, *changes: Change, at: datetime | None = None, by: str | None = None, why: str | None = None
    ) -> Planning[V]:
        """Plan the next version; nothing is written if the changes have no effect.

        Raises:
            OperationError: the previous version is deleted, or a change sets a field that only the history may set.
        """
        if previous.deleted:
            raise OperationError(f"This {self._schema.name} is deleted.", hint="Restore it first.")
        return self._plan(previous, self._changed(previous, changes), at, by, why)

    def delete(
        self, previous: V, *, at: datetime | None = None, by: str | None = None, why: str | None = None
    ) -> Planning[V]:
        """Plan a version that marks the thing as deleted; nothing is written if it is already deleted."""
        return self._plan(previous, previous.model_copy(update={"deleted": True}), at, by, why)

    def restore(
        self, previous: V, *changes: Change, at: datetime | None = None, by: str | None = None, why: str | None = None
    ) -> Planning[V]:
        """Plan a version that is no longer deleted, with optional changes; nothing is written if it is not deleted."""
        changed = self._changed(previous, changes) if previous.deleted else previous
        return self._plan(previous, changed.model_copy(update={"deleted": False}), at, by, why)

    def _plan(
        self, previous: V | None, content: V, at: datetime | None, by: str | None, why: str | None
    ) -> Planning[V]:
        return Planning(self._schema, self._claim_on, self._unique, self._write, previous, content, at, by, why)

    def _changed(self, previous: V, changes: Sequence[Change]) -> V:
        if not changes:
            return previous
        check_changes(self._schema, changes)
        own = {self._schema.attribute(field) for field in OWN_FIELDS}
        for change in changes:
            if change.path.parts[0] in own:
                raise OperationError(f"{self._schema.name}.{change.path.parts[0]} can be set only by the history.")
        return previous.with_changes(*changes)


def as_of(versions: Query[V], instant: datetime) -> First[V]:
    """The newest version created no later than an instant, over any key whose sort key is `created`.

    Over a key that several things had in succession, such as a reassigned code, that version may no longer be valid at
    the instant: check its `holds_at`.
    """
    if fields_in(versions.key.range) != ("created",):
        raise OperationError(f"{versions.name} does not sort by `created`, so it cannot be queried by instant.")
    ((attribute, template),) = versions.key.range
    until = span_range(attribute.name, template, [Span.until(instant)])
    return replace(versions, key_condition=KeyCondition(versions.key_condition.equal, until), forward=False).first()


def _checked(versions: Callable[..., Query[V]]) -> EntitySchema[V]:
    pattern = getattr(versions, "pattern", None)
    if pattern is None or pattern.kind != "query" or pattern.index is not None:
        raise ModelError("A history needs a declared @query over the primary key of its versions.")
    schema: EntitySchema[V] = pattern.entity
    if not issubclass(schema.cls, Revision):
        raise ModelError(
            f"{schema.name} is not a Revision.", owner=schema.cls, hint="Write class X(Revision, table=…)."
        )
    if fields_in(schema.primary.range) != ("created",):
        hint = 'Write primary: ClassVar = Key("…", "VERSION#{created}").'
        raise ModelError(f"{schema.name}: the sort key must be `created` alone.", owner=schema.cls, hint=hint)
    asked = set(schema.primary.hash_fields)
    if "created" in asked or set(pattern.signature.parameters) != asked:
        raise ModelError(f"{pattern.name} must ask for all versions of one thing: no more, no less.")
    return schema
