"""Query and Scan."""

from __future__ import annotations

from typing import Final

import msgspec

from partita.errors import ValidationFailed
from partita.expressions import Condition, KeyCondition, Projection
from partita.store import GetItem, IndexSchema, Json, PageResponse, QueryTable, ScanTable, wire_item
from partita.values import MAX_DIGITS, Item
from partita.wire._capacity import consumed
from partita.wire._describe import described
from partita.wire._expressions import read_expressions
from partita.wire._legacy import read_filter, read_key_conditions, read_projection, refused_query
from partita.wire._parameters import CONDITIONAL_OPERATORS, Parameters, Requests, refuse, violated, violations_of
from partita.wire._values import read_item
from partita.wire._wording import NO_ATTRIBUTES, InvalidValue, Refused, Violated, Violation

SELECT: Final = ("SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES")
MAX_SEGMENTS: Final = 1_000_000
_WHOLE: Final = 10**MAX_DIGITS
_NOT_OF_START: Final = ("duplicates", "number set", "numeric value", "significant digits", "with magnitude")
"""Parts of the errors that AWS reports in the same words, whether or not the value is in a start key."""


def query(call: Parameters) -> Requests[Json]:
    """Query a range of one partition."""
    table = call.table()
    try:
        detail, select, limit = call.capacity_detail(), call.choice("Select", SELECT), _limit(call)
    except Violated:
        refuse(*_violations(call))
    key, filtering, projection = _query_trees(call)
    request = QueryTable(
        table,
        key,
        index=call.text("IndexName"),
        filter=filtering,
        projection=projection,
        limit=limit,
        start=_start(call),
        forward=call.flag("ScanIndexForward") is not False,
        consistent=call.flag("ConsistentRead") or False,
        count_only=select == "COUNT",
    )
    _check_select(call, request, select)
    try:
        return (yield from _respond(request, select, detail))
    except ValidationFailed as error:
        raise refused_query(call, error) from None


def _violations(call: Parameters) -> list[Violation]:
    return violations_of(
        call.capacity_detail,
        lambda: call.choice("Select", SELECT),
        lambda: _limit(call),
        lambda: call.choice("ConditionalOperator", CONDITIONAL_OPERATORS),
    )


def _query_trees(call: Parameters) -> tuple[KeyCondition, Condition | None, Projection | None]:
    trees = read_expressions(
        call,
        ("ProjectionExpression", "FilterExpression", "KeyConditionExpression"),
        ("AttributesToGet", "QueryFilter", "ConditionalOperator", "KeyConditions"),
    )
    key = trees["KeyConditionExpression"] or read_key_conditions(call)
    if key is None:
        message = "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
        raise ValidationFailed(message)
    filtering = _filter(call, trees["FilterExpression"], "QueryFilter")
    return key, filtering, trees["ProjectionExpression"] or read_projection(call)


def _filter(call: Parameters, expression: Condition | None, legacy: str) -> Condition | None:
    return read_filter(call, legacy) if expression is None else expression


def scan(call: Parameters) -> Requests[Json]:
    """Scan a table or index, page by page."""
    table = call.table()
    detail, select, limit = call.capacity_detail(), call.choice("Select", SELECT), _limit(call)
    segment, segments = _segments(call)
    trees = read_expressions(
        call,
        ("ProjectionExpression", "FilterExpression"),
        ("AttributesToGet", "ScanFilter", "ConditionalOperator"),
    )
    request = ScanTable(
        table,
        index=call.text("IndexName"),
        filter=_filter(call, trees["FilterExpression"], "ScanFilter"),
        projection=trees["ProjectionExpression"] or read_projection(call),
        limit=limit,
        start=_scan_start(call),
        segment=segment,
        segments=segments,
        consistent=call.flag("ConsistentRead") or False,
        count_only=select == "COUNT",
    )
    _check_select(call, request, select)
    return (yield from _respond(request, select, detail))


def _limit(call: Parameters) -> int | None:
    limit = call.whole("Limit")
    if limit is not None and limit < 1:
        rule = "Member must have value greater than or equal to 1"
        refuse(violated(limit, "limit", rule))
    return limit


def _start(call: Parameters) -> Item | None:
    given = call.fields("ExclusiveStartKey")
    return None if given is None else read_item(given)


def _scan_start(call: Parameters) -> Item | None:
    """The start key of a scan; most errors in its values say that they are in the start key."""
    try:
        return _start(call)
    except InvalidValue as error:
        if any(words in error.older for words in _NOT_OF_START):
            raise
        raise InvalidValue(error.message, f"The provided starting key is invalid: {error.older}") from None


def _segments(call: Parameters) -> tuple[int, int]:
    segment, segments = call.whole("Segment"), call.whole("TotalSegments")
    present = "is required but was not present in the request when"
    if segment is None and segments is None:
        return 0, 1
    if segments is None:
        raise ValidationFailed(f"The TotalSegments parameter {present} Segment parameter is present")
    if segment is None:
        raise ValidationFailed(f"The Segment parameter {present} parameter TotalSegments is present")
    if segment < 0:
        refuse(violated(segment, "segment", "Member must have value greater than or equal to 0"))
    if not 1 <= segments <= MAX_SEGMENTS:
        bound = "less than or equal to 1000000" if segments > 1 else "greater than or equal to 1"
        refuse(violated(segments, "totalSegments", f"Member must have value {bound}"))
    if segment >= segments:
        raise ValidationFailed(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            f"Segment: {segment} is not less than TotalSegments: {segments}"
        )
    return segment, segments


def _respond(request: QueryTable | ScanTable, select: str | None, detail: str) -> Requests[Json]:
    fetches = yield from _fetches(request, select)
    page: PageResponse = yield request
    if fetches:
        page = yield from _with_whole_items(request, page)
    body: Json = {"Count": page.count, "ScannedCount": page.scanned}
    if not request.count_only:
        body["Items"] = [_tagged(item) for item in page.items]
    if page.last_key is not None:
        body["LastEvaluatedKey"] = wire_item(page.last_key)
    if detail != "NONE":
        body["ConsumedCapacity"] = yield from consumed(page.capacity, detail)
    return body


class _Text(msgspec.Struct, gc=False):
    S: str


class _Number(msgspec.Struct, gc=False):
    N: str


class _Truth(msgspec.Struct, gc=False):
    BOOL: bool


class _Map(msgspec.Struct, gc=False):
    M: Item


class _Texts(msgspec.Struct, gc=False):
    SS: list[str]


_TRUTHS: Final = (_Truth(BOOL=False), _Truth(BOOL=True))


def _tagged(item: Item) -> Item:
    """Like `wire_item`, for items that are only encoded: structs are created and encoded faster than dictionaries."""
    tagged = item.copy()
    for name, value in item.items():
        kind = type(value)
        if kind is str:
            tagged[name] = _Text(value)
        elif kind is int and -_WHOLE < value < _WHOLE:
            tagged[name] = _Number(str(value))
        elif kind is bool:
            tagged[name] = _TRUTHS[value]
        elif kind is dict:
            tagged[name] = _Map(_tagged(value))
        elif kind is frozenset and type(next(iter(value), None)) is str:
            tagged[name] = _Texts(sorted(value))
        else:
            tagged |= wire_item({name: value})
    return tagged


def _check_select(call: Parameters, request: QueryTable | ScanTable, select: str | None) -> None:
    if select == "SPECIFIC_ATTRIBUTES" and request.projection is None:
        raise Refused(NO_ATTRIBUTES)
    if select == "ALL_PROJECTED_ATTRIBUTES" and request.index is None:
        raise ValidationFailed("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
    if request.projection is not None and select in ("COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"):
        words = {"COUNT": "only the Count", "ALL_ATTRIBUTES": "ALL_ATTRIBUTES"}
        message = f"when choosing to get {words.get(select, select)}"
        given = "AttributesToGet" if call.given.get("AttributesToGet") is not None else "ProjectionExpression"
        raise ValidationFailed(f"Cannot specify the {given} {message}")


def _fetches(request: QueryTable | ScanTable, select: str | None) -> Requests[bool]:
    """Whether whole items are fetched for entries of a local index; for a global index, raise ValidationFailed."""
    if select != "ALL_ATTRIBUTES" or request.index is None:
        return False
    description = yield from described(request.table)
    index: IndexSchema | None = description.schema.index(request.index)
    if index is None or index.projection == "ALL":
        return False
    if not index.local:
        message = (
            f"Select type ALL_ATTRIBUTES is not supported for global secondary index {index.name} "
            "because its projection type is not ALL"
        )
        raise ValidationFailed(f"One or more parameter values were invalid: {message}")
    return True


def _with_whole_items(request: QueryTable | ScanTable, page: PageResponse) -> Requests[PageResponse]:
    description = yield from described(request.table)
    items, fetched = [], 0.0
    for entry in page.items:
        key = {part.name: entry[part.name] for part in description.schema.key}
        response = yield GetItem(request.table, key, request.consistent)
        items.append(response.item or entry)
        fetched += response.capacity.read
    capacity = msgspec.structs.replace(page.capacity, read=page.capacity.read + fetched)
    return msgspec.structs.replace(page, items=items, capacity=capacity)
