"""Projections: which parts of an item a read returns."""

from __future__ import annotations

from typing import Any

from tests.fidelity import Api, probe, refused, same
from tests.fidelity._attributes import Json, n, s

ITEM: Json = {
    "a": n(1),
    "m": {"M": {"k": s("v"), "j": s("w")}},
    "l": {"L": [n(0), {"M": {"x": n(1), "y": n(2)}}, n(2)]},
}

_PARTS: dict[str, tuple[str, Json]] = {
    "attribute": ("a", {"a": n(1)}),
    "path": ("m.k", {"m": {"M": {"k": s("v")}}}),
    "two of one map": ("m.k, m.j", {"m": {"M": {"k": s("v"), "j": s("w")}}}),
    "elements in order": ("l[2], l[0]", {"l": {"L": [n(0), n(2)]}}),
    "two of one element": ("l[1].y, l[1].x", {"l": {"L": [{"M": {"x": n(1), "y": n(2)}}]}}),
    "element and below another": ("l[1].x, l[2]", {"l": {"L": [{"M": {"x": n(1)}}, n(2)]}}),
    "missing": ("a, gap, m.gap, l[9]", {"a": n(1)}),
    "nothing": ("gap", {}),
}


def _asked(api: Api, projection: str) -> tuple[dict[str, Any], Json]:
    key = api.new_key("a")
    api.put("pair", {**key, **ITEM})
    return {"TableName": api.table("pair"), "ProjectionExpression": projection}, key


@probe(rule=23, cases=_PARTS)
def a_get_returns_these_parts(api: Api, projection: str, found: Json) -> None:
    """Keys are not added, and lists are compacted."""
    shared, key = _asked(api, projection)
    same(api("GetItem", Key=key, **shared)["Item"], found)


@probe(rule=23, cases={name: case for name, case in _PARTS.items() if name != "nothing"})
def a_query_and_a_batch_return_these_parts(api: Api, projection: str, found: Json) -> None:
    """As a get does."""
    shared, key = _asked(api, projection)
    condition = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": key["pk"]}}
    same(api("Query", **condition, **shared)["Items"], [found])
    table = shared["TableName"]
    batch = {table: {"Keys": [key], "ProjectionExpression": projection}}
    same(api("BatchGetItem", RequestItems=batch)["Responses"][table], [found])


@probe(rule=23)
def a_transaction_returns_no_item_where_no_path_matches(api: Api) -> None:
    """A get returns an empty one."""
    shared, key = _asked(api, "gap")
    response = api("TransactGetItems", TransactItems=[{"Get": {"Key": key, **shared}}])
    same(response["Responses"], [{}])


_CONFLICTS = ["a, a", "a, a.b", "a.b, a", "a, a.b.c", "l, l[0]", "l[0], l[0].x", "m.k, m[0]"]


@probe(rule=23, tier=3, cases={text: (text,) for text in _CONFLICTS})
def a_projection_with_overlapping_paths_is_refused(api: Api, projection: str) -> None:
    """In either order."""
    refused(api, "GetItem", TableName=api.table("hash"), Key=api.new_key(), ProjectionExpression=projection)


@probe(rule=23, tier=3, cases={"two names": ("#a, #b",), "name and text": ("#a, x",), "below": ("#a, #b.c",)})
def paths_overlap_by_what_their_names_stand_for(api: Api, projection: str) -> None:
    """Placeholders are resolved first."""
    names = {"#a": "x", "#b": "x"} if "#b" in projection else {"#a": "x"}
    refused(
        api,
        "GetItem",
        TableName=api.table("hash"),
        Key=api.new_key(),
        ProjectionExpression=projection,
        ExpressionAttributeNames=names,
    )
