"""What a lake must contain: the table's items, and each record of the stream once."""

from __future__ import annotations

import json
from typing import Any

from tests.change.model import TABLE, Secret, Task, User, records, stored

from partita import EmbeddedStore
from partita.change.lake import Place, location_of, query_lake
from partita.change.lake._columns import json_text
from partita.errors import InvalidItem

FIELDS = {Task: "user_id, task_id, title, status, estimate, due, tags, ttl", User: "user_id, title, estimate"}


def rows(place: Place, sql: str) -> list[dict[str, Any]]:
    """Return the rows of a query."""
    found: list[dict[str, Any]] = query_lake(place, sql).read_all().to_pylist()
    return found


def current(place: Place, entity: type[Task | User]) -> list[dict[str, Any]]:
    """Return the lake's items of an entity, in the order of their keys."""
    name = entity.__name__.lower()
    return rows(place, f"SELECT _key, {FIELDS[entity]} FROM {name} ORDER BY _key")  # noqa: S608 - our names


def expected_current(store: EmbeddedStore, entity: type[Task | User]) -> list[dict[str, Any]]:
    """Return the table's valid items of an entity, in the form that the lake has."""
    found = []
    for item in stored(store):
        if entity.__entity__.owns(item):
            values = entity.__entity__.entity(item).model_dump()
            values |= {name: sorted(value) for name, value in values.items() if isinstance(value, frozenset)}
            found.append({"_key": json_text([item["PK"], item["SK"]]), **values})
    return sorted(found, key=lambda row: row["_key"])


def logged(place: Place) -> list[tuple[Any, ...]]:
    """Return the lake's changes by sequence, including duplicates."""
    found = rows(place, "SELECT * FROM changes WHERE _kind <> 'snapshot' ORDER BY _sequence, _key")
    return [
        (int(row["_sequence"]), row["_kind"], row["_key"], _plain(row["_old"]), _plain(row["_new"]), row["_by_ttl"])
        for row in found
    ]


def expected_log(store: EmbeddedStore, after: int) -> list[tuple[Any, ...]]:
    """Return the stream's records after a position, in the form that the lake has."""
    return [
        (
            record.sequence,
            record.event.lower(),
            json_text(list(record.keys.values())),
            _plain(None if record.old is None else json_text(record.old)),
            _plain(None if record.new is None else json_text(record.new)),
            record.by_ttl,
        )
        for record in records(store)
        if record.sequence > after and not Secret.__entity__.owns(record.keys)
    ]


def _plain(image: str | None) -> Any:
    return None if image is None else json.loads(image)


def snapshot_position(place: Place) -> int:
    """Return the position of the first load, which is in the metadata of a commit of the log."""
    from deltalake import DeltaTable

    log = location_of(place).child(TABLE.name, "changes")
    history = DeltaTable(log.uri, storage_options=log.options()).history()
    loads = [entry for entry in history if "partita.positions" in entry]
    (position,) = json.loads(loads[-1]["partita.positions"]).values()
    return int(position)


def valid(item: dict[str, Any]) -> bool:
    """Whether an item is a valid task."""
    try:
        Task.__entity__.entity(item)
    except InvalidItem:
        return False
    return True


def heal(store: EmbeddedStore) -> None:
    """Replace invalid items, so that table and lake can be compared."""
    from partita.store import PutItem

    for item in stored(store):
        if Task.__entity__.owns(item) and not valid(item):
            store.execute(PutItem(TABLE.name, {**item, "estimate": 1}))


def assert_lake_is_true(place: Place, store: EmbeddedStore) -> None:
    """Check that the current tables equal the table, and that the log has each change once."""
    for entity in (Task, User):
        assert current(place, entity) == expected_current(store, entity)
    assert logged(place) == expected_log(store, snapshot_position(place))
