"""Reads definitions of vector indexes from a call, with the checks that DynamoDB makes first."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from partita.errors import ValidationFailed
from partita.store import Json, TableSchema, VectorIndexSchema, table_schema
from partita.wire._parameters import MAX_NAME, MIN_NAME, Parameters, refuse, violated
from partita.wire._wording import INVALID

PARAMETER: Final = "VectorIndexes"
_DISTANCES: Final = ("COSINE", "DOT_PRODUCT", "EUCLIDEAN")
_PROJECTIONS: Final = ("ALL", "INCLUDE", "KEYS_ONLY")
_ROLES: Final = ("HASH", "INLINE_FILTER")
_MAX_HASHES: Final = 1


def check_vector_definitions(call: Parameters, *, on_demand: bool) -> None:
    """Refuse invalid vector indexes of a new table."""
    indexes = call.structures(PARAMETER)
    for position, index in enumerate(indexes, 1):
        _check_index(index, f"vectorIndexes.{position}.member")
    _check_context(indexes, _defined(call), on_demand=on_demand)


def vector_names(given: Json) -> list[str]:
    """The attributes in the search schemas of a definition."""
    return [
        element["AttributeName"] for index in given.get(PARAMETER) or () for element in index.get("SearchSchema") or ()
    ]


def check_vector_updates(updates: list[Parameters]) -> None:
    """Refuse updates of vector indexes that are neither Create nor Delete, or both."""
    for update in updates:
        kinds = [kind for kind in ("Create", "Delete") if update.fields(kind)]
        if len(kinds) != 1:
            message = "One of VectorIndexUpdate.Create, VectorIndexUpdate.Delete must not be null"
            raise ValidationFailed(INVALID + message)
        Parameters(update.given[kinds[0]]).required("IndexName", "vectorIndexUpdates.1.member.indexName")


def read_vector_index(call: Parameters, definition: Json, table: TableSchema, *, on_demand: bool) -> VectorIndexSchema:
    """A vector index to add; the call defines the attributes of its search schema."""
    _check_index(definition, "vectorIndexUpdates.1.member.create")
    defined = _defined(call)
    _check_context([definition], defined, on_demand=on_demand)
    known = {part.name: part.type for part in table.key}
    types = defined | known
    described = {
        "TableName": table.name,
        "KeySchema": [{"AttributeName": table.hash.name, "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()],
        PARAMETER: [definition],
    }
    return table_schema(described, None).vectors[0]


def _defined(call: Parameters) -> dict[str, str]:
    return {each["AttributeName"]: each["AttributeType"] for each in call.structures("AttributeDefinitions")}


def _check_index(index: Json, at: str) -> None:
    part = Parameters(index)
    name = part.required("IndexName", f"{at}.indexName")
    if len(name) < MIN_NAME:
        refuse(violated(name, f"{at}.indexName", f"Member must have length greater than or equal to {MIN_NAME}"))
    if len(name) > MAX_NAME:
        refuse(violated(name, f"{at}.indexName", f"Member must have length less than or equal to {MAX_NAME}"))
    dimensions = part.whole("Dimensions")
    if dimensions is None:
        refuse(violated(None, f"{at}.dimensions", "Member must not be null"))
    if dimensions < 1:
        refuse(violated(dimensions, f"{at}.dimensions", "Member must have value greater than or equal to 1"))
    _check_word(part, "DistanceFunction", f"{at}.distanceFunction", _DISTANCES)
    vector = part.fields("VectorAttribute")
    if vector is None:
        refuse(violated(None, f"{at}.vectorAttribute", "Member must not be null"))
    if not Parameters(vector).required("AttributeName", f"{at}.vectorAttribute.attributeName"):
        rule = "Member must have length greater than or equal to 1"
        refuse(violated("", f"{at}.vectorAttribute.attributeName", rule))
    _check_projection(part, at)
    _check_search_schema(part, at)


def _check_word(part: Parameters, name: str, at: str, options: Collection[str]) -> None:
    given = part.required(name, at)
    if given not in options:
        refuse(violated(given, at, f"Member must satisfy enum value set: [{', '.join(options)}]"))


def _check_projection(part: Parameters, at: str) -> None:
    projection = part.fields("Projection")
    if projection is None:
        refuse(violated(None, f"{at}.projection", "Member must not be null"))
    if projection.get("ProjectionType") is None:
        raise ValidationFailed(f"{INVALID}Unknown ProjectionType: null")
    _check_word(Parameters(projection), "ProjectionType", f"{at}.projection.projectionType", _PROJECTIONS)
    kind, names = projection["ProjectionType"], Parameters(projection).texts("NonKeyAttributes")
    if kind == "INCLUDE" and not names:
        raise ValidationFailed(f"{INVALID}ProjectionType is INCLUDE, but NonKeyAttributes is not specified")
    if kind != "INCLUDE" and names is not None:
        raise ValidationFailed(f"{INVALID}ProjectionType is {kind}, but NonKeyAttributes is specified")


def _check_search_schema(part: Parameters, at: str) -> None:
    if part.given.get("SearchSchema") == []:
        refuse(violated("[]", f"{at}.searchSchema", "Member must have length greater than or equal to 1"))
    hashes = 0
    for position, element in enumerate(part.structures("SearchSchema"), 1):
        own, place = Parameters(element), f"{at}.searchSchema.{position}.member"
        own.required("AttributeName", f"{place}.attributeName")
        _check_word(own, "SearchSchemaElementType", f"{place}.searchSchemaElementType", _ROLES)
        hashes += element["SearchSchemaElementType"] == "HASH"
    if hashes > _MAX_HASHES:
        raise ValidationFailed(f"{INVALID}Too many hash keys specified in SearchSchema. Maximum: {_MAX_HASHES}")


def _check_context(indexes: list[Json], defined: Collection[str], *, on_demand: bool) -> None:
    if indexes and not on_demand:
        raise ValidationFailed(f"{INVALID}Vector indexes are only supported for PAY_PER_REQUEST tables")
    if not set(vector_names({PARAMETER: indexes})) <= set(defined):
        raise ValidationFailed(f"{INVALID}One element in SearchSchema is not defined in attribute definitions")
