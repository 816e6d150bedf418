"""SearchVectors: finding the items of a vector index that are most similar to a vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.json import encode

from partita.errors import ValidationFailed
from partita.expressions import Projection, project, validate_projection
from partita.store._requests import Capacity
from partita.store._vector_requests import SearchResponse, SearchVectors
from partita.store.embedded.vectors._index import FLOAT_BYTES, MIN_BYTES, VectorIndex, is_float32
from partita.values import Item, decode_item, item_size, number

if TYPE_CHECKING:
    from partita.store.embedded._connection import Reader
    from partita.store.embedded._table import Table

MAX_TOP: Final = 100
MAX_BYTES: Final = 16 * 1024 * 1024
"""The maximum size of a response; a search has no pages."""
_NARROWER: Final = "Use a narrower projection or a smaller TopK"
_INVALID: Final = "Invalid SearchConditionExpression: "


def search_vectors(reader: Reader, request: SearchVectors) -> SearchResponse:
    """Find the items with the nearest vectors; items with equal scores are in the order of the table's key.

    Raises:
        ValidationFailed: the request is invalid for the index. ExtraMissing: NumPy is not installed.
    """
    table = reader.table(request.table)
    _check_top(request.top)
    index = table.vector_of(request.index)
    _check_vector(index, request.vector)
    equal = _filters(index, request)
    if request.projection is not None:
        validate_projection(request.projection)
    with reader.vectors.of(reader.connection, index) as matrix:
        scores, compared = matrix.nearest(request.vector, request.top, equal)
        sign = -1 if index.schema.distance == "DOT_PRODUCT" else 1
        items = _items(reader, table, dict(scores), request.top, sign)
    matches = [(_shown(index, item, request.projection), score) for item, score in items]
    given = sum(item_size(item) for item, _ in matches)
    if given > MAX_BYTES:
        raise ValidationFailed(f"The response has {given} bytes, and may have {MAX_BYTES}. {_NARROWER}")
    most, least = (_charged(index, count, given) for count in (compared, len(matches)))
    capacity = Capacity(table.name, vectors=((index.name, most, 0.0),), searched_least=None if least == most else least)
    return SearchResponse(matches, capacity)


def _charged(index: VectorIndex, compared: int, given: int) -> float:
    """The bytes charged for a search that compares `compared` vectors and returns items of `given` bytes."""
    return float(max(MIN_BYTES, compared * FLOAT_BYTES * index.dimensions + given))


def _check_top(top: int) -> None:
    if top < 1:
        raise ValidationFailed(
            f"1 validation error detected: Value '{top}' at 'topK' failed to satisfy constraint: "
            "Member must have value greater than or equal to 1"
        )
    if top > MAX_TOP:
        limits = f"The value must be between 1 and {MAX_TOP} inclusive"
        raise ValidationFailed(f"Provided TopK value '{top}' is out of valid range. {limits}")


def _check_vector(index: VectorIndex, vector: tuple[float, ...]) -> None:
    if not all(map(is_float32, vector)) or not all(map(_is_finite, vector)):
        raise ValidationFailed(
            "Search vector contains invalid values. All values in the search vector must be a 32-bit floating-point "
            "number attribute"
        )
    if len(vector) != index.dimensions:
        dimensions = f"does not match vector index dimension {index.dimensions}"
        raise ValidationFailed(f"Input search vector dimension {len(vector)} {dimensions}")


def _is_finite(value: float) -> bool:
    return value - value == 0


def _filters(index: VectorIndex, request: SearchVectors) -> list[tuple[int, Any]]:
    """The position of each filter with the column value that rows must have.

    Raises:
        ValidationFailed: an attribute is not a search attribute, is duplicated or has another type, or the hash
            attribute is missing.
    """
    places = {part.name: place for place, part in enumerate(index.parts)}
    given = dict(request.equal)
    if len(given) < len(request.equal):
        raise ValidationFailed(f"{_INVALID}SearchConditionExpression must only contain one condition per attribute")
    for name in given:
        if name not in places:
            message = "SearchConditionExpression must not contain any attributes that is not in SearchSchema."
            raise ValidationFailed(f"{message} Invalid attribute: {name}")
    partition = index.schema.hash
    if partition is not None and partition.name not in given:
        if not given:
            raise ValidationFailed("SearchConditionExpression must be provided when SearchSchema has a HASH key")
        raise ValidationFailed(f"{_INVALID}Search condition missed key schema element: {partition.name}")
    return [(places[name], _column(index, places[name], value)) for name, value in given.items()]


def _column(index: VectorIndex, place: int, value: Any) -> Any:
    part = index.parts[place]
    if not part.has_type(value):
        message = "Condition parameter type does not match schema type"
        raise ValidationFailed(f"One or more parameter values were invalid: {message}")
    return part.column(value)


def _items(reader: Reader, table: Table, scores: dict[int, float], top: int, sign: int) -> list[tuple[Item, float]]:
    """The items of the rows, the best first; items with equal scores are in the order of their keys."""
    ordered: Any = reader.connection.execute(table.sql_order, (encode(list(scores)).decode(),)).fetchall()
    ids = [row_id for (row_id,) in ordered]
    ids.sort(key=lambda row_id: sign * scores[row_id])
    rows: Any = reader.connection.execute(table.sql_items, (encode(ids[:top]).decode(),)).fetchall()
    found = {row_id: decode_item(blob) for row_id, blob in rows}
    return [(found[row_id], scores[row_id]) for row_id in ids[:top]]


def _shown(index: VectorIndex, item: Item, projection: Projection | None) -> Item:
    if projection is None:
        return index.shown(item)
    held = item if index.projected is None else {name: item[name] for name in index.projected if name in item}
    vector = item[index.attribute]
    return project(projection, {**held, index.attribute: [_rounded(each) for each in vector]})


def _rounded(value: Any) -> Any:
    """A number as stored in the index: the shortest decimal with the same 32-bit value."""
    from numpy import float32  # noqa: PLC0415 - an extra, which is installed if a search was executed

    return number(str(float32(value)))
