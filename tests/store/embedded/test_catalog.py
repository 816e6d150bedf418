"""The catalog: a definition that could not be read again is refused before a commit, and harms no other table."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.store.embedded.support import BY_OWNER, TABLE, OpenStore, note, read

from partita.errors import ValidationFailed
from partita.store._requests import CreateIndex, CreateTable, DescribeTable, ListTables, SetStream, SetTimeToLive
from partita.store._schema import KeyAttribute, TableSchema
from partita.store.embedded import EmbeddedStore

ODD: Any = b"odd"


def table(**changes: Any) -> CreateTable:
    return CreateTable(replace(TABLE, name="other", **changes))


def table_with(**changes: Any) -> CreateTable:
    return table(indexes=(replace(BY_OWNER, **changes),))


def index(**changes: Any) -> CreateIndex:
    return CreateIndex("notes", replace(BY_OWNER, **changes))


def key(name: Any, kind: Any = "S") -> KeyAttribute:
    return KeyAttribute(name, kind)


UNREADABLE: dict[str, Any] = {
    "a table's key type": table(hash=key("year", "Number")),
    "a table's lower-case key type": table(range=key("year", "n")),
    "a table's stream view": table(stream="NEW_AND_OLD"),
    "a table's TTL number": table(ttl=7),
    "a table's TTL bytes": table(ttl=ODD),
    "a table's TTL that is not Unicode": table(ttl="\ud800"),
    "a table's name": CreateTable(TableSchema(7, key("pk"))),  # type: ignore[arg-type]
    "a table's key name": table(hash=key(7)),
    "a table's key name of bytes": table(hash=key(ODD)),
    "a table's key without its type": table(hash="pk"),
    "a table's key that is a dictionary": table(hash={"name": "pk"}),
    "a table's indexes": table(indexes=7),
    "a table that is none": CreateTable({"name": "other", "hash": {"name": "pk"}}),  # type: ignore[arg-type]
    "a table that is nothing": CreateTable(object()),  # type: ignore[arg-type]
    "a table's index projection": table_with(projection="KEYS-ONLY"),
    "a table's index projection of one name": table_with(projection="title"),
    "a table's index projection of numbers": table_with(projection=(7,)),
    "a table's index that is local in a number": table_with(local=1),
    "an index's projection": index(projection="KEYS-ONLY"),
    "an index's lower-case projection": index(projection="all"),
    "an index's key type": index(hash=(key("owner", "String"),)),
    "an index's key": index(hash=key("owner")),
    "an index's name": index(name=7),
    "an index's name of bytes": index(name=ODD),
    "an index that is none": CreateIndex("notes", "by-owner"),  # type: ignore[arg-type]
    "a TTL number": SetTimeToLive("notes", 7),  # type: ignore[arg-type]
    "TTL bytes": SetTimeToLive("notes", ODD),
    "a stream view": SetStream("notes", "NEW_AND_OLD"),  # type: ignore[arg-type]
    "a lower-case stream view": SetStream("notes", "new_image"),  # type: ignore[arg-type]
    "a stream that is just on": SetStream("notes", True),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("request_", UNREADABLE.values(), ids=UNREADABLE)
def test_what_the_catalog_could_not_read_again_is_refused_and_leaves_the_store_whole(
    store: EmbeddedStore, open_store: OpenStore, request_: Any
) -> None:
    store.execute(note(1, text="kept"))
    with pytest.raises(ValidationFailed):
        store.execute(request_)
    store.execute(note(2, text="after"))
    store.close()
    again = open_store()
    assert again.execute(ListTables()) == ("notes",)
    assert again.execute(DescribeTable("notes")).schema == TABLE
    assert [read(again, n) for n in (1, 2)] == [note(1, text="kept").item, note(2, text="after").item]
    again.execute(SetStream("notes", "NEW_IMAGE"))  # nothing is left behind that prevents this
    again.execute(CreateIndex("notes", BY_OWNER))
