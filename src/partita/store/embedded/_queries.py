"""Query and scan: pages of a partition in the order of its keys, or of a whole table in the order of hashes."""

from __future__ import annotations

from contextlib import closing
from typing import Any, Final

import apsw

from partita.errors import ValidationFailed
from partita.expressions import (
    Condition,
    Projection,
    evaluate,
    paths_in,
    project,
    validate_condition,
    validate_projection,
)
from partita.store._requests import Capacity, PageResponse, QueryTable, ScanTable
from partita.store.embedded import _ranges
from partita.store.embedded._connection import Reader
from partita.store.embedded._keys import Column, partition_hash
from partita.store.embedded._ranges import Bound, KeyBounds
from partita.store.embedded._table import HASHES, Index, Source, Table, entry_size
from partita.values import Item, decode_item, read_units

PAGE_BYTES: Final = 1024 * 1024
"""The item with which a page reaches this size is its last one."""
MAX_SEGMENTS: Final = 1_000_000


def query(reader: Reader, request: QueryTable) -> PageResponse:
    """Return one page of a partition.

    Raises:
        ValidationFailed: a condition, start key or projection breaks a rule.
    """
    table = reader.table(request.table)
    source = _checked_source(table, request)
    bounds = _ranges.bounds_of(source, request.key_condition)
    if request.filter is not None:
        _check_filter(source, request.filter)
        table.check_scalars(paths_in(request.filter))
    start: tuple[Column, ...] = ()
    if request.start is not None:
        if _is_single(source):
            raise _single_start(request.start)
        start = _ranges.start_in(bounds, source, _ranges.start_columns(table, source, request.start))
    sql, values = _select_range(source, bounds, start, forward=request.forward)
    rows = reader.connection.execute(sql, (*values, _row_limit(request)))
    return _page(table, source, request, rows)


def scan(reader: Reader, request: ScanTable) -> PageResponse:
    """Return one page of the whole table or index, or of one segment of it.

    Raises:
        ValidationFailed: a filter, start key, segment or projection breaks a rule.
    """
    table = reader.table(request.table)
    source = _checked_source(table, request)
    _check_segments(request)
    start: tuple[Column, ...] = ()
    if request.start is not None:
        start = _ranges.start_columns(table, source, request.start, of_scan=True)
    begin: tuple[Any, ...] = (partition_hash(*start[: len(source.hash)]), *start) if start else ()
    segment = _segment(request) if request.segments > 1 else ()
    if begin and segment and not segment[0] <= begin[0] < segment[1]:
        raise _other_segment(request)
    sql = _select_all(source, start=bool(start), segmented=bool(segment))
    rows = reader.connection.execute(sql, (*begin, *segment, _row_limit(request)))
    return _page(table, source, request, rows)


def _checked_source(table: Table, request: QueryTable | ScanTable) -> Source:
    if request.limit is not None and request.limit < 1:
        raise ValidationFailed(
            f"1 validation error detected: Value '{request.limit}' at 'limit' failed to satisfy constraint: "
            "Member must have value greater than or equal to 1"
        )
    if request.filter is not None:
        validate_condition(request.filter, what="FilterExpression")
    if request.projection is not None:
        if request.count_only:
            message = "Cannot specify the ProjectionExpression when choosing to get only the Count"
            raise ValidationFailed(message)
        validate_projection(request.projection)
        table.check_scalars(request.projection)
    if request.filter is not None and isinstance(request, ScanTable):  # a query first checks what the filter names
        table.check_scalars(paths_in(request.filter))
    if request.index is None:
        return table
    if table.schema.vector(request.index) is not None:
        operation = "Query" if isinstance(request, QueryTable) else "Scan"
        raise ValidationFailed(f"{operation} operation not supported on this index type.")
    index = table.index_of(request.index)
    if not index.local:
        _check_global(index, request)
    return index


def _check_global(index: Index, request: QueryTable | ScanTable) -> None:
    if request.consistent:
        raise ValidationFailed("Consistent reads are not supported on global secondary indexes")
    absent = _unprojected(index, request.projection)
    if absent:
        message = f"Global secondary index {index.name} does not project [{', '.join(absent)}]"
        raise ValidationFailed(f"One or more parameter values were invalid: {message}")


def _unprojected(index: Index, projection: Projection | None) -> list[str]:
    if index.projected is None or projection is None:
        return []
    return [str(path.parts[0]) for path in projection if path.parts[0] not in index.projected]


def _check_filter(source: Source, condition: Condition) -> None:
    filtered = {str(path.parts[0]) for path in paths_in(condition)}
    keys = filtered.intersection(part.name for part in (*source.hash, *source.range))
    if keys:
        message = "Filter Expression can only contain non-primary key attributes: Primary key attribute: "
        raise ValidationFailed(message + min(keys))
    if source.index is None or source.index.projected is None:
        return
    absent = sorted(filtered.difference(source.index.projected))
    if absent:
        message = f"{source.index.name} does not project one or more filter attributes: [{', '.join(absent)}]"
        raise ValidationFailed(f"One or more parameter values were invalid: Secondary index {message}")


def _check_segments(request: ScanTable) -> None:
    if not 1 <= request.segments <= MAX_SEGMENTS:
        raise ValidationFailed(f"TotalSegments must be between 1 and {MAX_SEGMENTS}")
    if not 0 <= request.segment < request.segments:
        raise ValidationFailed(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            f"Segment: {request.segment} is not less than TotalSegments: {request.segments}"
        )


def _segment(request: ScanTable) -> tuple[int, int]:
    """The range of hashes of the segment: the first, and the end (exclusive)."""
    return request.segment * HASHES // request.segments, (request.segment + 1) * HASHES // request.segments


def _other_segment(request: ScanTable) -> ValidationFailed:
    return ValidationFailed(
        "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with "
        f"correct Segment. TotalSegments: {request.segments} Segment: {request.segment}"
    )


def _single_start(start: Item) -> ValidationFailed:
    from partita.store._dynamodb_json import wire_item  # noqa: PLC0415 - only this message needs it

    shown = ", ".join(
        f"{name}=AttributeValue: {{{', '.join(f'{tag}:{content}' for tag, content in tagged.items())}}}"
        for name, tagged in wire_item(start).items()
    )
    return ValidationFailed(f"The provided exclusive start key is invalid: ExclusiveStartKey: {{{shown}}}")


def _row_limit(request: QueryTable | ScanTable) -> int:
    return -1 if request.limit is None else request.limit


def _select_range(
    source: Source, bounds: KeyBounds, start: tuple[Column, ...], *, forward: bool
) -> tuple[str, tuple[int | Column, ...]]:
    low, high = bounds.low, bounds.high
    # The start key is inside the range, so it replaces the bound where reading would begin.
    if start and forward:
        low = None
    elif start:
        high = None
    shape = (len(bounds.equal), _inclusive(low), _inclusive(high), bool(start), forward)
    sql = source.statements.get(shape)
    if sql is None:
        sql = source.statements[shape] = _range_sql(source, shape)
    ends = tuple(bound.value for bound in (low, high) if bound is not None)
    return sql, (partition_hash(*bounds.equal[: len(source.hash)]), *bounds.equal, *ends, *start)


def _inclusive(bound: Bound | None) -> bool | None:
    return None if bound is None else bound.inclusive


def _range_sql(source: Source, shape: tuple[int, bool | None, bool | None, bool, bool]) -> str:
    equal, low, high, start, forward = shape
    columns = (*source.hash_columns, *source.range_columns)
    order = (*columns, *source.ties)[equal:]
    terms = [f"{column} = ?" for column in (source.order_column, *columns[:equal])]
    if low is None and equal == len(source.hash):
        terms += _presence(source)  # otherwise the bounds imply it, and SQLite must start reading at the bound
    if low is not None:
        terms.append(f"{order[0]} >{'=' if low else ''} ?")
    if high is not None:
        terms.append(f"{order[0]} <{'=' if high else ''} ?")
    if start:
        terms.append(_beyond(order, ">" if forward else "<"))
    return source.sql_from.select(terms, order, "" if forward else " DESC")


def _presence(source: Source) -> list[str]:
    """The term that lets SQLite use the partial index of a secondary index."""
    return [f"{source.columns[0]} IS NOT NULL"] if isinstance(source, Index) else []


def _beyond(columns: tuple[str, ...], operator: str) -> str:
    return f"({', '.join(columns)}) {operator} ({', '.join('?' * len(columns))})"


def _select_all(source: Source, *, start: bool, segmented: bool) -> str:
    order = (source.order_column, *source.hash_columns, *source.range_columns, *source.ties)
    terms = _presence(source)
    if start:
        terms.append(_beyond(order, ">"))
    if segmented:
        terms.append(f"{source.order_column} >= ? AND {source.order_column} < ?")
    return source.sql_from.select(terms, order)


class _Page:
    """A page while it is being read: the items scanned, the items that passed the filter, and the cost."""

    __slots__ = ("bytes", "fetched", "items", "last", "scanned")

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.last: Item | None = None
        self.scanned = 0
        self.bytes = 0
        self.fetched = 0.0


def _page(table: Table, source: Source, request: QueryTable | ScanTable, rows: apsw.Cursor) -> PageResponse:
    with closing(rows):  # an open cursor would keep the snapshot that it reads
        page, full = _read_page(source.index, request, rows)
    # At the limit there is a last key even if no item follows, except in a partition of at most one item.
    more = full or (page.scanned == request.limit and not (type(request) is QueryTable and _is_single(source)))
    return PageResponse(
        [] if request.count_only else _projected(request.projection, page.items),
        len(page.items),
        page.scanned,
        _last_key(table, source, page.last) if more and page.last is not None else None,
        _capacity(table, source.index, read_units(page.bytes, consistent=request.consistent), page.fetched),
    )


def _read_page(index: Index | None, request: QueryTable | ScanTable, rows: Any) -> tuple[_Page, bool]:
    """Read until there are no more rows or the page is full; the second value is True if the page is full."""
    page, condition = _Page(), request.filter
    partial = index if index is not None and index.projected is not None else None
    if partial is None and condition is None:
        return page, _read_whole_items(page, rows)
    fetches = partial is not None and bool(_unprojected(partial, request.projection))
    for size, blob in rows:
        item = decode_item(blob)
        page.bytes += size if partial is None else entry_size(partial, item, size)
        page.scanned += 1
        page.last = item
        if fetches:
            page.fetched += read_units(size, consistent=request.consistent)
        elif partial is not None:
            item = partial.projection(item)
        if condition is None or evaluate(condition, item):
            page.items.append(item)
        if page.bytes >= PAGE_BYTES:
            return page, True
    return page, False


def _read_whole_items(page: _Page, rows: Any) -> bool:
    """Read like `_read_page`, without a filter or a partial projection (the most common case)."""
    items, read = page.items, 0
    for size, blob in rows:
        read += size
        items.append(decode_item(blob))
        if read >= PAGE_BYTES:
            break
    page.bytes, page.scanned, page.last = read, len(items), items[-1] if items else None
    return read >= PAGE_BYTES


def _is_single(source: Source) -> bool:
    return isinstance(source, Table) and not source.range


def _projected(projection: Projection | None, items: list[Item]) -> list[Item]:
    return items if projection is None else [project(projection, item) for item in items]


def _last_key(table: Table, source: Source, item: Item) -> Item:
    return {part.name: item[part.name] for part in (*table.key, *source.hash, *source.range)}


def _capacity(table: Table, index: Index | None, units: float, fetched: float) -> Capacity:
    if index is None:
        return Capacity(table.name, units)
    return Capacity(table.name, fetched, indexes=((index.name, units, 0.0),))
