"""Personal data: one declaration of what a service stores about each user, for complete export and erasure.

class Erased(ErasureRecord, table=TABLE):
    primary: ClassVar = Key("ERASED#{user_id}", "METADATA")

PERSONAL = PersonalData(
    PersonalItems("orders", orders_of, delete=delete_orders),
    PersonalItems("profile", profile_of, erase=forget_profile),
    PersonalItems("invoices", invoices_of, stays="Invoices are kept for ten years, as the law requires."),
    record=Erased,
)

SERVICE = Service(…, personal=PERSONAL)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final, TypeAlias

from msgspec import Struct

from partita.errors import ModelError
from partita.model import Entity, EntitySchema, schema_of
from partita.operations import BatchWrite, Context, Delete, Get, Operation, Procedure, Put, Query, Requests
from partita.patterns import declare_operation
from partita.recipes.records import check_complete, check_expires
from partita.recipes.removal import Removal, remove_some
from partita.store import MAX_RECOVERY_DAYS, PutItem

__all__ = [
    "MAX_ERASED",
    "Erasure",
    "ErasureRecord",
    "PersonalData",
    "PersonalItems",
]

PAGE: Final = 100
MAX_ERASED: Final = 1_000
"""The approximate number of items that one call erases, so that a request ends in time."""
REMEMBERED: Final = timedelta(days=30)
"""How long the record of an erasure is kept: within this time, every lake must have read it."""

STREAM_SECONDS: Final = 24 * 60 * 60
"""How long a change stream keeps its records."""

Read: TypeAlias = Callable[[str], Get[Any] | Query[Any]]
DeleteBatch: TypeAlias = Callable[[Sequence[Delete[Any]]], BatchWrite]
Erase: TypeAlias = Callable[[str], Procedure[int] | Procedure[Removal]]


class ErasureRecord(Entity):
    """The record that a user was erased. Subclass it with a table that has a TTL, and a key of `user_id`.

    A lake that follows the table reads the record, erases the data of the user, and then this record too.
    """

    in_lake: ClassVar = True

    user_id: str
    erased_at: int
    """In seconds since the epoch."""
    ttl: int


class PersonalItems(Struct, frozen=True):
    """One kind of items that a service stores about a user.

    Declare how they are erased, or why they are kept: exactly one of `delete`, `erase` and `stays`.
    """

    name: str
    """The name in the export, such as `orders`."""
    read: Read
    """The declared pattern that reads the items of a user: a `@get` or a `@query`."""
    owner: str = "user_id"
    """The field of the entity that identifies its user, by which a lake finds the items."""
    fields: tuple[str, ...] = ()
    """The fields with personal data, here and in `also`; samples for development mask them."""
    delete: DeleteBatch | None = None
    """The pattern that deletes up to 25 items."""
    erase: Erase | None = None
    """Erases all items of a user if deleting them is not enough, and returns their number. It may run more than once.

    If it stops early, it returns a `Removal` with `more`, and is called again.
    """
    stays: str = ""
    """The reason why the items are not erased."""
    parts: Mapping[str, Callable[[Any], Query[Any]]] = {}
    """Queries of items to export and erase with each item, by name: `{"log": lambda order: log_of(order.id)}`."""
    also: tuple[type[Entity], ...] = ()
    """Other entities that `erase` also removes, such as claims; each needs a field `owner` or `user_id`."""

    @property
    def schema(self) -> EntitySchema[Any]:
        """The schema of the entity."""
        return self.read("user").schema

    @property
    def owners(self) -> dict[str, str]:
        """The fields that identify a user, by the names of the entities to erase."""
        if self.stays:
            return {}
        others = {schema_of(each).name: _owner_in(each) for each in self.also}
        return {self.schema.name: self.owner, **others}


class Erasure(Struct, frozen=True):
    """The number of erased items by kind, and whether there may be more, so that another call is needed."""

    erased: Mapping[str, int]
    more: bool


class PersonalData:
    """The declaration of all data that a service stores about each user."""

    def __init__(
        self,
        *items: PersonalItems,
        record: type[ErasureRecord] | None = None,
        mentions: Mapping[type[Entity], tuple[str, ...]] | None = None,
        queues: bool = True,
    ) -> None:
        """Declare the personal data of a service.

        Args:
            items: all kinds of items, in the order of erasure: items through which others are found come last.
            record: the entity that records that a user was erased, for lakes that follow the table. Without it,
                nothing is recorded, and lakes keep their data.
            mentions: fields of other entities with personal data, such as the name of an author; samples for
                development mask them.
            queues: whether messages in queues may name users.

        Raises:
            ModelError: items declare neither how they are erased nor why they are kept, an entity has no field for its
                user, a named field does not exist, or the record would not expire.
        """
        self.items = items
        self.mentions = dict(mentions or {})
        self.queues = queues
        _check_mentions(self.mentions)
        self._record = None if record is None else _checked_record(record)
        for each in items:
            _check(each)
        if len({each.name for each in items}) < len(items):
            raise ModelError("Two kinds of personal items have the same name.", owner=items)

    @property
    def record(self) -> EntitySchema[Any] | None:
        """The entity that records that a user was erased."""
        return self._record

    @property
    def owners(self) -> dict[str, str]:
        """The fields that identify a user, by the names of the entities to erase."""
        return {name: owner for each in self.items for name, owner in each.owners.items()}

    @property
    def stays(self) -> dict[str, str]:
        """The kinds of items that are not erased, each with the reason."""
        return {each.name: each.stays for each in self.items if each.stays}

    def remains(self, now: float) -> dict[str, str]:
        """The places that still hold data of a user whose items were erased, and until when."""
        found: dict[str, str] = {}
        if any(each.schema.table.schema.stream is not None for each in self.items if not each.stays):
            found["change stream"] = f"old images, until {_instant(now + STREAM_SECONDS)}"
            latest = f"until they read the erasure, which must be before {_instant(now + REMEMBERED.total_seconds())}"
            found["lakes"] = latest if self._record is not None else "forever, because no record notifies them"
        if self.queues:
            found["queues"] = "messages until they are delivered, dead letters until they are discarded"
        latest = _instant(now + timedelta(days=MAX_RECOVERY_DAYS).total_seconds())
        found["continuous backups"] = f"if they are on: earlier items, until {latest} at the latest"
        found["backups"] = f"those made before {_instant(now)}, until they are deleted; after a restore, erase again"
        return found

    def page(
        self, items: PersonalItems, user_id: str, cursor: str | None
    ) -> Procedure[tuple[list[dict[str, Any]], str | None]]:
        """One page of one kind of a user's items, in the form of the export, and the cursor of the next page."""
        read = items.read(user_id)
        if isinstance(read, Get):
            one = yield from read
            found, cursor = () if one is None else (one,), None
        else:
            page = yield from read.page(PAGE, after=cursor)
            found, cursor = tuple(page), page.next_cursor
        exported = []
        for each in found:
            parts = yield from _parts(items, each)
            exported.append(_said(each) | parts)
        return exported, cursor

    def erase(self, user_id: str, limit: int = MAX_ERASED) -> Procedure[Erasure]:
        """Erase the data of a user, up to about `limit` items.

        After an interruption, another call continues. When nothing is left, the erasure is recorded. Items that the
        user writes in the meantime may remain.
        """
        erased: dict[str, int] = {}
        for each in self.items:
            if each.stays:
                continue
            removal = yield from _removal(each, user_id, limit - sum(erased.values()))
            erased[each.name] = removal.removed
            if removal.more or sum(erased.values()) >= limit:
                return Erasure(erased, more=True)
        if self._record is not None:
            yield from _Remember(self._record, user_id)
        return Erasure(erased, more=False)


class _Remember(Operation[None], frozen=True):
    """Record that a user was erased."""

    schema: EntitySchema[Any]
    user_id: str

    def default_name(self) -> str:
        """The name if no access pattern was declared."""
        return f"{self.schema.name}.remember"

    def requests(self, context: Context) -> Requests[None]:
        """Send one put, which replaces the record of an earlier erasure."""
        now = int(context.clock())
        ttl = now + int(REMEMBERED.total_seconds())
        record = self.schema.cls(user_id=self.user_id, erased_at=now, ttl=ttl)
        yield Put(self.schema, record).action(context)


def _parts(items: PersonalItems, item: Entity) -> Procedure[dict[str, list[dict[str, Any]]]]:
    parts: dict[str, list[dict[str, Any]]] = {}
    for name, query_of in items.parts.items():
        page = yield from query_of(item).page(PAGE)
        parts[name] = [_said(part) for part in page]
        while page.next_cursor is not None:
            page = yield from query_of(item).page(PAGE, after=page.next_cursor)
            parts[name] += [_said(part) for part in page]
    return parts


def _said(item: Entity) -> dict[str, Any]:
    return item.model_dump(mode="json", by_alias=True)


def _removal(items: PersonalItems, user_id: str, limit: int) -> Procedure[Removal]:
    if items.erase is not None:
        erased: int | Removal = yield from items.erase(user_id)
        return erased if isinstance(erased, Removal) else Removal(erased, more=False)
    read = items.read(user_id)
    if not isinstance(read, Query) or items.delete is None:
        raise ModelError(f"{items.name}: an item read with a @get is erased by a procedure.", owner=items.name)
    return (yield from remove_some(read, items.delete, limit=limit))


def _instant(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _check_mentions(mentions: Mapping[type[Entity], tuple[str, ...]]) -> None:
    for entity, fields in mentions.items():
        unknown = sorted(set(fields) - entity.model_fields.keys())
        if unknown:
            raise ModelError(f"{entity.__name__} has no field {unknown[0]!r}.", owner=entity)


def _check(items: PersonalItems) -> None:
    if sum((items.delete is not None, items.erase is not None, bool(items.stays))) != 1:
        hint = "Give exactly one of delete, erase and stays."
        raise ModelError(f"{items.name}: are they erased, or why are they kept?", owner=items.name, hint=hint)
    schema = items.schema
    if items.owner not in schema.cls.model_fields:
        hint = "Name the field that identifies their user: owner=…"
        raise ModelError(f"{items.name}: {schema.name} has no field {items.owner!r}.", owner=schema.cls, hint=hint)
    if items.delete is not None and items.parts:
        hint = "Give erase=…, a procedure that deletes them with their parts."
        raise ModelError(f"{items.name}: a batch delete would leave their parts behind.", owner=schema.cls, hint=hint)
    if items.delete is not None and not isinstance(items.read("user"), Query):
        hint = "Give erase=…, a procedure that deletes it."
        raise ModelError(f"{items.name}: delete=… cannot erase an item read by a @get.", owner=schema.cls, hint=hint)


def _checked_record(record: type[ErasureRecord]) -> EntitySchema[Any]:
    schema: EntitySchema[Any] = schema_of(record)
    check_complete(schema, ErasureRecord)
    check_expires(schema)
    if schema.primary.fields != ("user_id",):
        raise ModelError(f"{schema.name}: its key must be the user's id alone.", owner=record)
    declare_operation(schema, "remember", "Record that a user was erased.", PutItem)
    return schema


def _owner_in(entity: type[Entity]) -> str:
    for name in ("user_id", "owner"):
        if name in entity.model_fields:
            return name
    raise ModelError(f"{entity.__name__} has no field user_id or owner, which identifies its user.", owner=entity)
