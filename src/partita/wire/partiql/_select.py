"""Executes SELECT as queries of partitions or as a scan, page by page."""

from __future__ import annotations

import base64
from typing import Any, Final

import msgspec
from msgspec import Struct

from partita.errors import ValidationFailed
from partita.expressions import MISSING, Condition, KeyCondition, Path, Projection, evaluate, paths_in, resolve
from partita.store import Capacity, IndexSchema, Json, PageResponse, QueryTable, ScanTable, TableSchema, wire_item
from partita.store.embedded import total
from partita.values import AttributeValue, Item, kind_of
from partita.wire._parameters import Requests
from partita.wire._values import read_item
from partita.wire.partiql._keys import KeyPlan, conjunction, plan_keys
from partita.wire.partiql._overlaps import check_overlaps
from partita.wire.partiql._translate import Order, Select

PAGE_BYTES: Final = 1024 * 1024
UNIT_BYTES: Final = 4096


class SelectPlan(Struct, frozen=True):
    """How a SELECT is executed: partition by partition, or as a scan if there are none."""

    table: str
    index: str | None
    partitions: tuple[KeyCondition, ...]
    filter: Condition | None
    rest: Condition | None = None
    """The condition on keys of the queried table or index, by which a store does not filter."""

    forward: bool = True
    fetched: Projection | None = None
    """The attributes that a local index fetches from the table."""

    def request(self, position: PagePosition, limit: int | None, *, consistent: bool) -> QueryTable | ScanTable:
        """The request for the page at a position."""
        options: dict[str, Any] = {
            "projection": self.fetched,
            "start": position.start,
            "limit": limit,
            "consistent": consistent,
        }
        if not self.partitions:
            return ScanTable(self.table, self.index, self.filter, **options)
        key = self.partitions[position.partition]
        return QueryTable(self.table, key, self.index, self.filter, forward=self.forward, **options)


class PagePosition(Struct, frozen=True, array_like=True):
    """Where a page begins: the statement, the partition, and the key before the page."""

    statement: str
    partition: int = 0
    key: Json | None = None

    @property
    def start(self) -> Item | None:
        """The key in the form that a store accepts."""
        return None if self.key is None else read_item(self.key)

    def token(self) -> str:
        """The token for the client."""
        return base64.b64encode(msgspec.json.encode(self)).decode()


def position_of(token: str | None, statement: str) -> PagePosition:
    """The position from a client's token, which must belong to this statement.

    Raises:
        ValidationFailed: the token is invalid, or belongs to another statement.
    """
    if token is None:
        return PagePosition(statement)
    try:
        position = msgspec.json.decode(base64.b64decode(token), type=PagePosition)
    except (ValueError, msgspec.MsgspecError, RecursionError):
        raise ValidationFailed("Invalid NextToken") from None
    if position.statement != statement:
        raise ValidationFailed("NextToken does not match request")
    return position


def index_of(statement: Select, schema: TableSchema) -> IndexSchema | None:
    """The index that the statement reads.

    Raises:
        ValidationFailed: there is no such index, or PartiQL cannot read it.
    """
    if statement.index is None:
        return None
    index = schema.index(statement.index)
    if schema.vector(statement.index) is not None:
        raise ValidationFailed("Scan operation not supported on this index type")
    if index is None:
        raise ValidationFailed("The table does not have the specified index")
    if len(index.hash) > 1 or len(index.range) > 1:
        message = "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute"
        raise ValidationFailed(f"{message} RANGE keys.")
    return index


def plan_select(statement: Select, schema: TableSchema) -> SelectPlan:
    """Plan queries if the condition fixes partitions, else a scan with the whole condition as its filter.

    Raises:
        ValidationFailed: there is no such index, or ORDER BY is not by its keys.
    """
    index = index_of(statement, schema)
    hashes = [part.name for part in (schema.key[:1] if index is None else index.hash)]
    ranges = [part.name for part in (schema.key[1:] if index is None else index.range)]
    paths = statement.paths
    check_overlaps(statement.where, hashes[0], ranges[0] if ranges else None)
    keys = plan_keys(statement.where, hashes, ranges)
    if statement.order:
        _check_order(statement, keys, hashes, ranges)
    fetched = None if index is None else _fetched(index, schema, paths, keys)
    if keys is None:
        return SelectPlan(schema.name, statement.index, (), statement.where, fetched=fetched)
    own = [term for term in keys.rest if _roots(term) & {*hashes, *ranges}]
    return SelectPlan(
        schema.name,
        statement.index,
        _sorted(keys.partitions, statement.order, hashes),
        conjunction([term for term in keys.rest if term not in own]),
        conjunction(own),
        forward=not any(order.descending for order in statement.order if order.name in ranges),
        fetched=fetched,
    )


def _roots(term: Condition) -> set[str]:
    return {str(path.parts[0]) for path in paths_in(term)}


def _fetched(
    index: IndexSchema, schema: TableSchema, paths: tuple[Path, ...], keys: KeyPlan | None
) -> Projection | None:
    """The projection if an index lacks requested attributes, which a local index fetches from the table; else None.

    Raises:
        ValidationFailed: a global index lacks attributes, or a query filters by an attribute that is not projected.
    """
    if index.projection == "ALL":
        return None
    own = {part.name for part in (*schema.key, *index.key)}
    projected = own | set(index.projection if isinstance(index.projection, tuple) else ())
    filtered = {} if keys is None else {str(path.parts[0]): 0 for term in keys.rest for path in paths_in(term)}
    if unseen := [name for name in filtered if name not in projected]:
        message = f"Secondary index {index.name} does not project one or more filter attributes: [{', '.join(unseen)}]"
        raise ValidationFailed(f"One or more parameter values were invalid: {message}")
    roots = list(dict.fromkeys(str(path.parts[0]) for path in paths))
    lacking = [root for root in roots if root not in projected]
    if not lacking:
        return None
    if not index.local:
        message = f"Global secondary index {index.name} does not project [{', '.join(lacking)}]"
        raise ValidationFailed(f"One or more parameter values were invalid: {message}")
    return tuple(Path((name,)) for name in dict.fromkeys([*roots, *sorted(own)]))


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
    """The result of a SELECT: its items, its cost, and where the next page begins."""

    items: list[Item]
    capacity: Capacity
    after: PagePosition | None


def read_pages(
    plan: SelectPlan, position: PagePosition, limit: int | None, *, consistent: bool
) -> Requests[SelectPage]:
    """Read partitions one after another until a page is full or none is left."""
    items: list[Item] = []
    parts: list[Capacity] = []
    while True:
        page: PageResponse = yield plan.request(position, limit, consistent=consistent)
        items += [item for item in page.items if plan.rest is None or evaluate(plan.rest, item)]
        parts.append(page.capacity)
        if page.last_key is not None:
            last = wire_item(page.last_key)
            after: PagePosition | None = PagePosition(position.statement, position.partition, last)
            break
        position = PagePosition(position.statement, position.partition + 1)
        limit = None if limit is None else limit - page.scanned
        after = position if position.partition < len(plan.partitions) else None
        if after is None or limit == 0 or _is_full(parts, consistent=consistent):
            break
    return SelectPage(items, total(parts)[0], after)


def _is_full(parts: list[Capacity], *, consistent: bool) -> bool:
    """Whether one megabyte was read, computed from the consumed capacity."""
    units = sum(part.total_read for part in parts)
    return units * UNIT_BYTES * (1 if consistent else 2) >= PAGE_BYTES


def selected(paths: tuple[Path, ...], item: Item) -> Item:
    """The selected paths of an item, each by its last name; the whole item if there are no paths."""
    if not paths:
        return item
    found = ((path, resolve(path, item)) for path in paths)
    return {_last_name(path): value for path, value in found if value is not MISSING}


def _last_name(path: Path) -> str:
    return next(part for part in reversed(path.parts) if isinstance(part, str))
