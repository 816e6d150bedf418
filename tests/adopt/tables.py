"""Sample tables of several kinds: the schema and the items of each, by name."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final, TypeAlias

from partita.store import IndexSchema, KeyAttribute, TableSchema

Items: TypeAlias = list[dict[str, Any]]


def index(name: str, hash_key: str, *range_key: str, **settings: Any) -> IndexSchema:
    return IndexSchema(name, (KeyAttribute(hash_key),), tuple(map(KeyAttribute, range_key)), **settings)


def schema(name: str, *indexes: IndexSchema, key: tuple[str, str] = ("pk", "sk"), **settings: Any) -> TableSchema:
    return TableSchema(name, KeyAttribute(key[0]), KeyAttribute(key[1]), indexes, **settings)


SINGLE: Final = schema(
    "shop",
    index("GSI1", "GSI1PK", "GSI1SK"),
    index("inverted", "SK", "PK"),
    index("LSI1", "PK", "LSI1SK", local=True),
    key=("PK", "SK"),
    ttl="expires",
    stream="NEW_AND_OLD_IMAGES",
)


def single() -> Items:
    """Users, orders and lines in one table, without a type attribute: only their keys distinguish them."""
    items: Items = []
    for user in ("ada", "bob", "Ada Lovelace"):
        items.append({"PK": f"USER#{user}", "SK": "PROFILE", "name": user.title() + "!", "age": 30})
        for number in (1, 12, 123):
            order: dict[str, Any] = {
                "PK": f"USER#{user}",
                "SK": f"ORDER#{number:05}",
                "placed": "2026-01-01",
                "number": number,
            }
            order |= {"total": Decimal("1.5") * number, "LSI1SK": f"TOTAL#{number:05}"}
            if number != 12:  # a sparse index
                order |= {"GSI1PK": "STATUS#open", "GSI1SK": f"2026-01-01#{number:05}", "status": "open"}
            items.append(order)
            line: dict[str, Any] = {
                "PK": f"ORDER#{number}",
                "SK": f"LINE#{user}",
                "expires": 1_800_000_000,
                "nothing": None,
            }
            items.append({**line, "data": {"set": {1, 2}, "none": None}, "tags": {"x", user}, "first-name": "A"})
    return items


TYPED: Final = schema("accounts", index("by-email", "email"))


def typed() -> Items:
    """Users and teams with the same shape of keys, distinguished by a type attribute."""
    users = [
        {
            "pk": f"ACCOUNT|{email.lower()}",
            "sk": "ACCOUNT",
            "entityType": "user",
            "email": email,
            "class": 1,
            "json": True,
        }
        for email in ("Ada@x.de", "B b@x.de")
    ]
    teams = [
        {"pk": f"ACCOUNT|{name}", "sk": "ACCOUNT", "entityType": "big-team", "size": 3, "logo": b"1", "model_x": "a"}
        for name in ("north", "south")
    ]
    return [*users, *teams]


PROJECTED: Final = schema(
    "docs",
    index("by_state", "state", "changed", projection="KEYS_ONLY"),
    index("by_kind", "kind", projection=("title", "a quite long name of an attribute", "another long name")),
    key=("owner", "doc"),
)


def projected() -> Items:
    """Items whose keys are plain attributes, in indexes that project only a part of the item."""
    return [
        {
            "owner": f"o{number}",
            "doc": f"d{number}",
            "state": "draft",
            "changed": f"2026-01-0{number}T00:00:00.000000Z",
            "kind": "memo",
            "title": 'A "title"',
            "text": "…",
            "mixed": number if number == 1 else "n",
        }
        for number in (1, 2, 3)
    ]


NUMBERED: Final = TableSchema("readings", KeyAttribute("sensor", "B"), KeyAttribute("at", "N"))


def numbered() -> Items:
    """Items whose keys are binaries and numbers."""
    return [{"sensor": b"\0", "at": at, "value": Decimal("1.5") if at else 2, "ok": at == 0} for at in (0, 1, 2)]


TIMED: Final = schema("threads", key=("forum", "created"))


def timed() -> Items:
    """Items whose sort key is an instant in PynamoDB's format."""
    return [{"forum": "a", "created": f"2020-01-0{day}T00:00:00.000000+0000", "views": day} for day in (1, 2, 3)]


TABLES: Final = {
    "single": (SINGLE, single()),
    "typed": (TYPED, typed()),
    "projected": (PROJECTED, projected()),
    "numbered": (NUMBERED, numbered()),
    "timed": (TIMED, timed()),
}
