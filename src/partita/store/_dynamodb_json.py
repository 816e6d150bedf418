"""DynamoDB JSON: attribute values with type tags, and requests in the form of its API."""

from __future__ import annotations

import base64
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, TypeAlias

from partita.expressions import And, Compare, Path, Renderer, Value
from partita.store._requests import (
    BatchGetItem,
    BatchWriteItem,
    ConditionCheck,
    DeleteItem,
    GetItem,
    PutItem,
    QueryTable,
    Request,
    ScanTable,
    TransactAction,
    TransactGetItems,
    TransactWriteItems,
    UpdateItem,
)
from partita.store._vector_requests import SearchVectors
from partita.values import MAX_DIGITS, Item, check_hashes, kind_of, number, number_text

_WHOLE: Final = 10**MAX_DIGITS
"""Integers with a smaller absolute value need no check of their digits."""

_TEXT: Final = frozenset((str,))

_SMALLEST_FLOAT: Final = 2.0**-149

Json: TypeAlias = dict[str, Any]
"""A JSON object, decoded."""


def wire_value(value: Any) -> Json:
    """An attribute value with its type tag: `"x"` becomes `{"S": "x"}`."""
    tag = _TAGS.get(type(value))
    return _tagged(value) if tag is None else tag(value)


def wire_item(item: Item) -> Json:
    """All attributes of an item with their type tags."""
    tagged: Json = {}
    for name, value in item.items():  # the common types are handled without a call
        kind = type(value)
        if kind is str:
            tagged[name] = {"S": value}
        elif kind is int and -_WHOLE < value < _WHOLE:
            tagged[name] = {"N": str(value)}
        elif kind is bool:
            tagged[name] = {"BOOL": value}
        elif kind is dict:
            tagged[name] = {"M": wire_item(value)}
        elif kind is frozenset and _TEXT.issuperset(map(type, value)) and value:
            tagged[name] = {"SS": sorted(value)}
        else:
            tagged[name] = wire_value(value)
    return tagged


def plain_value(tagged: Json) -> Any:
    """The attribute value without its type tag."""
    ((kind, content),) = tagged.items()
    return content if kind == "S" else _PLAIN[kind](content)


def plain_item(item: Json) -> Item:
    """All attributes of an item without their type tags: the inverse of `wire_item`."""
    plain: Item = {}
    for name, tagged in item.items():  # strings, the most common type, are handled without a call
        ((kind, content),) = tagged.items()
        plain[name] = content if kind == "S" else _PLAIN[kind](content)
    return plain


def plain_number(text: str) -> int | Decimal:
    """Parse a number; with a fast path for integers, the most common case."""
    digits = text.removeprefix("-")
    if digits.isdigit() and digits.isascii() and len(digits) <= MAX_DIGITS:
        return int(text)
    return number(text)


def _numbers(texts: list[str]) -> frozenset[int | Decimal]:
    numbers = [plain_number(text) for text in texts]
    check_hashes(numbers)
    return frozenset(numbers)


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _tagged(value: Any) -> Json:
    """Tag a set; raise the error of `kind_of` for an unsupported type."""
    kind = kind_of(value)
    if kind == "SS":
        return {"SS": sorted(value)}
    if kind == "NS":
        return {"NS": [number_text(number(member)) for member in sorted(value)]}
    return {kind: [_base64(member) for member in sorted(value)]}


_TAGS: Final[dict[type, Callable[[Any], Json]]] = {
    str: lambda value: {"S": value},
    int: lambda value: {"N": number_text(number(value))},
    Decimal: lambda value: {"N": number_text(number(value))},
    bytes: lambda value: {"B": _base64(value)},
    bool: lambda value: {"BOOL": value},
    type(None): lambda _: {"NULL": True},
    list: lambda value: {"L": [{"S": part} if type(part) is str else wire_value(part) for part in value]},
    dict: lambda value: {"M": wire_item(value)},
}


_PLAIN: Final[dict[str, Callable[[Any], Any]]] = {
    "S": str,
    "N": plain_number,
    "B": base64.b64decode,
    "BOOL": bool,
    "NULL": lambda _: None,
    "L": lambda content: [plain_value(element) for element in content],
    "M": plain_item,
    "SS": frozenset,
    "NS": _numbers,
    "BS": lambda content: frozenset(base64.b64decode(member) for member in content),
}


def api_call(request: Request[Any]) -> tuple[str, Json]:
    """The name of a data request in DynamoDB's API, and its parameters."""
    build = _CALLS[type(request)]
    name = {"QueryTable": "Query", "ScanTable": "Scan"}.get(type(request).__name__, type(request).__name__)
    return name, build(request)


def _with_expressions(call: Json, renderer: Renderer) -> Json:
    if renderer.names:
        call["ExpressionAttributeNames"] = renderer.names
    if renderer.values:
        call["ExpressionAttributeValues"] = wire_item(renderer.values)
    return call


def _get(request: GetItem) -> Json:
    call: Json = {"TableName": request.table, "Key": wire_item(request.key)}
    renderer = Renderer()
    if request.consistent:
        call["ConsistentRead"] = True
    if request.projection is not None:
        call["ProjectionExpression"] = renderer.projection(request.projection)
    return _with_expressions(call, renderer)


def _write(request: PutItem | UpdateItem | DeleteItem | ConditionCheck) -> Json:
    call: Json = {"TableName": request.table}
    renderer = Renderer()
    if isinstance(request, PutItem):
        call["Item"] = wire_item(request.item)
    else:
        call["Key"] = wire_item(request.key)
    if isinstance(request, UpdateItem) and (text := renderer.update(request.update)):
        call["UpdateExpression"] = text
    if request.condition is not None:
        call["ConditionExpression"] = renderer.condition(request.condition)
    if request.on_failure_item:
        call["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    if not isinstance(request, ConditionCheck) and request.returns != "NONE":
        call["ReturnValues"] = request.returns
    return _with_expressions(call, renderer)


def _query(request: QueryTable) -> Json:
    renderer = Renderer()
    call: Json = {"KeyConditionExpression": renderer.key_condition(request.key_condition)}
    if not request.forward:
        call["ScanIndexForward"] = False
    return _page(request, call, renderer)


def _scan(request: ScanTable) -> Json:
    parallel: Json = {"Segment": request.segment, "TotalSegments": request.segments}
    return _page(request, {} if (request.segment, request.segments) == (0, 1) else parallel, Renderer())


def _page(request: QueryTable | ScanTable, own: Json, renderer: Renderer) -> Json:
    options: Json = {
        "TableName": request.table,
        "IndexName": request.index,
        **own,
        "FilterExpression": None if request.filter is None else renderer.condition(request.filter),
        "ProjectionExpression": None if request.projection is None else renderer.projection(request.projection),
        "Limit": request.limit,
        "ExclusiveStartKey": None if request.start is None else wire_item(request.start),
        "ConsistentRead": request.consistent or None,
        "Select": "COUNT" if request.count_only else None,
    }
    return _with_expressions({name: value for name, value in options.items() if value is not None}, renderer)


def _search(request: SearchVectors) -> Json:
    renderer = Renderer()
    call: Json = {
        "TableName": request.table,
        "IndexName": request.index,
        "SearchVector": [{"N": _float_text(each)} for each in request.vector],
        "TopK": request.top,
    }
    if request.equal:
        terms = tuple(Compare("=", Path((name,)), Value(value)) for name, value in request.equal)
        call["SearchConditionExpression"] = renderer.condition(terms[0] if len(terms) == 1 else And(terms))
    if request.projection is not None:
        call["ProjectionExpression"] = renderer.projection(request.projection)
    return _with_expressions(call, renderer)


def _float_text(value: float) -> str:
    """The text of a vector component; zero if it is below the smallest 32-bit float, the precision of searches."""
    return "0" if abs(value) < _SMALLEST_FLOAT else repr(float(value))


def _batch_get(request: BatchGetItem) -> Json:
    tables: dict[str, Json] = {}
    for get in request.gets:
        shared = _get(get)
        name, key = shared.pop("TableName"), shared.pop("Key")
        tables.setdefault(name, {"Keys": [], **shared})["Keys"].append(key)
    return {"RequestItems": tables}


def _batch_write(request: BatchWriteItem) -> Json:
    tables: dict[str, list[Json]] = {}
    for write in request.writes:
        if isinstance(write, PutItem):
            entry = {"PutRequest": {"Item": wire_item(write.item)}}
        else:
            entry = {"DeleteRequest": {"Key": wire_item(write.key)}}
        tables.setdefault(write.table, []).append(entry)
    return {"RequestItems": tables}


def _action(action: TransactAction) -> Json:
    names = {PutItem: "Put", UpdateItem: "Update", DeleteItem: "Delete", ConditionCheck: "ConditionCheck"}
    return {names[type(action)]: _write(action)}


def _transact_write(request: TransactWriteItems) -> Json:
    call: Json = {"TransactItems": [_action(action) for action in request.actions]}
    if request.token is not None:
        call["ClientRequestToken"] = request.token
    return call


_CALLS: Final[dict[type, Callable[[Any], Json]]] = {
    GetItem: _get,
    PutItem: _write,
    UpdateItem: _write,
    DeleteItem: _write,
    QueryTable: _query,
    ScanTable: _scan,
    SearchVectors: _search,
    BatchGetItem: _batch_get,
    BatchWriteItem: _batch_write,
    TransactGetItems: lambda request: {"TransactItems": [{"Get": _get(get)} for get in request.gets]},
    TransactWriteItems: _transact_write,
}
