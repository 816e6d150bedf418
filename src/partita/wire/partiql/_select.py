"""SELECT as queries of partitions, or as a scan; page by page."""

from __future__ import annotations

import base64
from typing import Any, Final

import msgspec
from msgspec import Struct

from partita.errors import ValidationFailed
from partita.expressions import MISSING, Condition, KeyCondition, Path, evaluate, paths_in, resolve, validate_condition
from partita.store import Capacity, Json, PageResponse, QueryTable, ScanTable, TableSchema, wire_item
from partita.store.embedded import total
from partita.values import AttributeValue, Item, kind_of
from partita.wire._parameters import Requests
from partita.wire._values import read_item
from partita.wire.partiql._keys import KeyPlan, conjunction, plan_keys
from partita.wire.partiql._statements import Order, Select

PAGE_BYTES: Final = 1024 * 1024
UNIT_BYTES: Final = 4096


class SelectPlan(Struct, frozen=True):
    """How a SELECT is read: partition by partition, or all at once where there are none."""

    table: str
    index: str | None
    partitions: tuple[KeyCondition, ...]
    filter: Condition | None
    rest: Condition | None = None
    """What a store does not filter by: keys of what is queried."""

    forward: bool = True

    def request(self, position: PagePosition, limit: int | None, *, consistent: bool) -> QueryTable | ScanTable:
        """The request for the page at a position."""
        options: dict[str, Any] = {"start": position.start, "limit": limit, "consistent": consistent}
        if not self.partitions:
            return ScanTable(self.table, self.index, self.filter, **options)
        key = self.partitions[position.partition]
        return QueryTable(self.table, key, self.index, self.filter, forward=self.forward, **options)


class PagePosition(Struct, frozen=True, array_like=True):
    """Where a page begins: in which partition, and after which key."""

    partition: int = 0
    key: Json | None = None

    @property
    def start(self) -> Item | None:
        """The key, as a store takes it."""
        return None if self.key is None else read_item(self.key)

    def token(self) -> str:
        """The position as a client is given it."""
        return base64.b64encode(msgspec.json.encode(self)).decode()


def position_of(token: str | None) -> PagePosition:
    """The position that a client gives back.

    Raises:
        ValidationFailed: it was not given out.
    """
    if token is None:
        return PagePosition()
    try:
        return msgspec.json.decode(base64.b64decode(token), type=PagePosition)
    except (ValueError, msgspec.MsgspecError):
        raise ValidationFailed("Invalid NextToken.") from None


def plan_select(statement: Select, schema: TableSchema) -> SelectPlan:
    """Queries where the condition fixes partitions, else a scan with all of it as the filter.

    Raises:
        ValidationFailed: there is no such index, or the order is not one of the keys.
    """
    index = None if statement.index is None else schema.index(statement.index)
    if statement.index is not None and index is None:
        raise ValidationFailed("The table does not have the specified index")
    hashes = [part.name for part in (schema.key[:1] if index is None else index.hash)]
    ranges = [part.name for part in (schema.key[1:] if index is None else index.range)]
    keys = plan_keys(statement.where, hashes, ranges)
    if statement.order:
        _check_order(statement, keys, hashes, ranges)
    if keys is None:
        return SelectPlan(schema.name, statement.index, (), statement.where)
    own = [term for term in keys.rest if {str(path.parts[0]) for path in paths_in(term)} & {*hashes, *ranges}]
    rest = conjunction(own)
    if rest is not None:
        validate_condition(rest, what="FilterExpression")
    return SelectPlan(
        schema.name,
        statement.index,
        _sorted(keys.partitions, statement.order, hashes),
        conjunction([term for term in keys.rest if term not in own]),
        rest,
        forward=not any(order.descending for order in statement.order if order.name in ranges),
    )


def _check_order(statement: Select, keys: KeyPlan | None, hashes: list[str], ranges: list[str]) -> None:
    if statement.where is None:
        raise ValidationFailed("Must have WHERE clause in the statement when using ORDER BY clause.")
    if keys is None:
        message = "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."
        raise ValidationFailed(message)
    for order in statement.order:
        if order.name not in (*hashes, *ranges):
            message = f"Variable reference {order.name} in ORDER BY clause must be part of the primary key"
            raise ValidationFailed(message)
    if len(keys.partitions) > 1 and statement.order[0].name not in hashes:
        message = "Must have hash key in ORDER BY clause when more than one hash key condition specified in"
        raise ValidationFailed(f"{message} WHERE clause.")


def _sorted(
    partitions: tuple[KeyCondition, ...], orders: tuple[Order, ...], hashes: list[str]
) -> tuple[KeyCondition, ...]:
    for order in reversed(orders):
        if order.name in hashes:
            position = hashes.index(order.name)
            ordered = sorted(partitions, key=lambda key: _sortable(key.equal[position][1]), reverse=order.descending)
            partitions = tuple(ordered)
    return partitions


def _sortable(value: AttributeValue) -> tuple[str, Any]:
    return kind_of(value), value.encode() if isinstance(value, str) else value


class SelectPage(Struct, frozen=True):
    """What a SELECT has found, what it cost, and where it goes on."""

    items: list[Item]
    capacity: Capacity
    after: PagePosition | None


def read_pages(
    plan: SelectPlan, position: PagePosition, limit: int | None, *, consistent: bool
) -> Requests[SelectPage]:
    """Read from one partition after another until a page is full or nothing is left."""
    items: list[Item] = []
    parts: list[Capacity] = []
    while True:
        page: PageResponse = yield plan.request(position, limit, consistent=consistent)
        items += [item for item in page.items if plan.rest is None or evaluate(plan.rest, item)]
        parts.append(page.capacity)
        if page.last_key is not None:
            after: PagePosition | None = PagePosition(position.partition, wire_item(page.last_key))
            break
        position, limit = PagePosition(position.partition + 1), None if limit is None else limit - page.scanned
        after = position if position.partition < len(plan.partitions) else None
        if after is None or limit == 0 or _is_full(parts, consistent=consistent):
            break
    return SelectPage(items, total(parts)[0], after)


def _is_full(parts: list[Capacity], *, consistent: bool) -> bool:
    """Whether a page's megabyte is read, by what it cost."""
    units = sum(part.total_read for part in parts)
    return units * UNIT_BYTES * (1 if consistent else 2) >= PAGE_BYTES


def selected(statement: Select, item: Item) -> Item:
    """The paths that were asked for, each by its last name."""
    if not statement.paths:
        return item
    found = ((path, resolve(path, item)) for path in statement.paths)
    return {_last_name(path): value for path, value in found if value is not MISSING}


def _last_name(path: Path) -> str:
    return next(part for part in reversed(path.parts) if isinstance(part, str))
