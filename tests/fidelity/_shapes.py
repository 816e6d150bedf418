"""The tables that probes share, because creating a table takes seconds on AWS."""

from __future__ import annotations

from typing import Any, Final


def _definitions(**types: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]


def _keys(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"), strict=False)]


def _index(name: str, keys: tuple[str, ...], kind: str, *included: str) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": kind}
    if included:
        projection["NonKeyAttributes"] = list(included)
    return {"IndexName": name, "KeySchema": _keys(*keys), "Projection": projection}


def shape(keys: tuple[str, ...], types: dict[str, str], **others: Any) -> dict[str, Any]:
    """Return the definition of a table, without its name."""
    return {"KeySchema": _keys(*keys), "AttributeDefinitions": _definitions(**types), **others}


SHAPES: Final[dict[str, dict[str, Any]]] = {
    "hash": shape(("pk",), {"pk": "S"}),
    "pair": shape(("pk", "sk"), {"pk": "S", "sk": "S"}),
    "numbers": shape(("pk", "sk"), {"pk": "S", "sk": "N"}),
    "bytes": shape(("pk", "sk"), {"pk": "S", "sk": "B"}),
    "binary": shape(("pk",), {"pk": "B"}),
    "scanned": shape(("pk",), {"pk": "S"}),
    "indexed": shape(
        ("pk", "sk"),
        {"pk": "S", "sk": "S", "g": "S", "h": "S", "n": "N", "l": "S"},
        GlobalSecondaryIndexes=[
            _index("all", ("g",), "ALL"),
            _index("some", ("g", "h"), "INCLUDE", "keep"),
            _index("keys", ("n",), "KEYS_ONLY"),
        ],
        LocalSecondaryIndexes=[
            _index("local", ("pk", "l"), "KEYS_ONLY"),
            _index("local-some", ("pk", "h"), "INCLUDE", "keep"),
        ],
    ),
    "streamed": shape(
        ("pk",),
        {"pk": "S"},
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    ),
}
"""By name. Index `all` has the key `g`, `some` has `g` and `h`, `keys` has `n`; the local ones sort by `l` and `h`."""
