"""Tallies: sums that are stored together with the items they sum up, created by their first addition.

class MonthTotal(Entity, table=TABLE):
    primary: ClassVar = Key("SHOP#{shop}", "MONTH#{month}")
    shop: str
    month: str
    sales: int = 0
    amount: int = 0

MONTHS = Tally(MonthTotal)
db.run(transact(insert(sale), MONTHS.add(MonthTotal(shop="s1", month="2026-11", sales=1, amount=250))))
"""

from __future__ import annotations

from typing import Final, Generic, TypeVar

from msgspec.structs import replace

from partita.errors import ConditionFailed, ModelError
from partita.expressions import AddAction, Path, SetAction, Value
from partita.model import Change, Entity, EntitySchema, schema_of, to_update
from partita.operations import Context, Operation, Requests
from partita.patterns import declare_operation
from partita.store import UpdateItem, WriteResponse

__all__ = ["Addition", "Tally"]

E = TypeVar("E", bound=Entity)

_ADD: Final = "add"


class Tally(Generic[E]):
    """Sums in an entity of the application: each field outside its key is an int that starts at 0."""

    def __init__(self, entity: type[E]) -> None:
        """Declare tallies.

        Args:
            entity: an entity with a table and a key; its other fields are ints with the default 0.

        Raises:
            ModelError: a field has another type or default, or the entity has indexes, a version or a TTL.
        """
        self._schema = schema_of(entity)
        self._sums = _sums(self._schema)
        declare_operation(self._schema, _ADD, "Add numbers to a tally.", UpdateItem)

    def add(self, numbers: E) -> Addition[E]:
        """Add numbers to the tally with this key, creating it if needed. This never conflicts."""
        return Addition(self._schema, numbers, self._sums)


class Addition(Operation[E], Generic[E], frozen=True):
    """Add numbers to a tally; the result is the tally after it."""

    sends = (UpdateItem,)

    schema: EntitySchema[E]
    numbers: E
    sums: tuple[str, ...]

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.schema.name}.{_ADD}"

    def action(self, context: Context) -> UpdateItem:  # noqa: ARG002 - one signature for all writes
        """The request to send, alone or in a transaction."""
        item = self.schema.item(self.numbers)
        key = self.schema.key(self.numbers)
        fields = [self.schema.attribute(field) for field in self.schema.primary.fields]
        changes: list[Change] = [SetAction(Path((n,)), Value(item[n])) for n in fields if n in item and n not in key]
        changes += [AddAction(Path((name,)), Value(item[name])) for name in self.sums]
        if self.schema.tag is not None:
            changes.append(SetAction(Path((self.schema.tag.attribute,)), Value(self.schema.tag.name)))
        return UpdateItem(self.schema.table.name, key, to_update(changes))

    def explain(self, error: ConditionFailed, context: Context) -> ConditionFailed:  # noqa: ARG002 - one signature
        """The error itself: there is no condition that could fail."""
        return error

    def requests(self, context: Context) -> Requests[E]:
        """Send the request."""
        response: WriteResponse = yield replace(self.action(context), returns="ALL_NEW")
        return self.schema.entity(response.attributes or {})


def _sums(schema: EntitySchema[E]) -> tuple[str, ...]:
    if schema.secondary or schema.version is not None or schema.expires is not None:
        raise ModelError(f"{schema.name} must have neither indexes nor a version nor a TTL.", owner=schema.cls)
    sums = [name for name in schema.attributes if name not in schema.primary.fields]
    fields = schema.cls.model_fields
    if wrong := [name for name in sums if fields[name].annotation is not int or fields[name].default != 0]:
        message = f"{schema.name}.{wrong[0]} is not an int with the default 0."
        raise ModelError(message, owner=schema.cls, hint="Declare it as `int = 0`.")
    if not sums:
        raise ModelError(f"{schema.name} has no field for a sum.", owner=schema.cls)
    return tuple(schema.attribute(name) for name in sums)
