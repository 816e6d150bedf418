"""The operation SearchVectors."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from typing import Any, Final

from partita.errors import ValidationFailed
from partita.expressions import And, Compare, Condition, Path, Value
from partita.store import Json, SearchResponse, SearchVectors, wire_item
from partita.values import AttributeValue
from partita.wire._expressions import read_expressions
from partita.wire._parameters import Parameters, Requests, refuse, violated

MAX_ELEMENTS: Final = 4_096
_INVALID: Final = "Invalid SearchConditionExpression: "


def search_vectors(call: Parameters) -> Requests[Json]:
    """Find the items of a vector index that are nearest to a vector."""
    table, detail = call.table(), call.capacity_detail()
    index, top, vector = call.required("IndexName", "indexName"), _top(call), _vector(call)
    trees = read_expressions(call, ("ProjectionExpression", "SearchConditionExpression"))
    condition = trees["SearchConditionExpression"]
    equal = () if condition is None else tuple(_equalities(condition))
    response: SearchResponse = yield SearchVectors(table, index, vector, top, equal, trees["ProjectionExpression"])
    body: Json = {"SearchResults": [{"Item": wire_item(item), "Score": score} for item, score in response.matches]}
    if detail != "NONE":
        body["ConsumedCapacity"] = {"VectorSearchRequestBytes": response.capacity.searched}
    return body


def _top(call: Parameters) -> int:
    top = call.whole("TopK")
    if top is None:
        refuse(violated(None, "topK", "Member must not be null"))
    if top < 1:
        refuse(violated(top, "topK", "Member must have value greater than or equal to 1"))
    return top


def _vector(call: Parameters) -> tuple[float, ...]:
    given = call.members("SearchVector")
    if given is None:
        refuse(violated(None, "searchVector", "Member must not be null"))
    if not given:
        refuse(violated("[]", "searchVector", "Member must have length greater than or equal to 1"))
    if len(given) > MAX_ELEMENTS:
        rule = f"Member must have length less than or equal to {MAX_ELEMENTS}"
        refuse(violated(given, "searchVector", rule))
    return tuple(map(_element, given))


def _element(tagged: Any) -> float:
    """A number of the vector, or NaN, which the index refuses after the rest of the call is checked."""
    try:
        ((tag, text),) = tagged.items()
        return float(text) if tag == "N" and type(text) is str else nan
    except (AttributeError, ValueError):
        return nan


def _equalities(condition: Condition) -> Iterator[tuple[str, AttributeValue]]:
    """The attributes that the condition compares with a value; a search supports only equality."""
    match condition:
        case And(terms):
            for part in terms:
                yield from _equalities(part)
        case Compare("=", Path((str(name),)), Value(value)) | Compare("=", Value(value), Path((str(name),))):
            yield name, value
        case _:
            raise ValidationFailed(f"{_INVALID}Invalid comparator used in SearchConditionExpression")
