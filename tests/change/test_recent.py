"""The latest changes, for listeners that are interested in some of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from partita import EmbeddedStore, Session, Table
from partita.change import (
    RECENT_CHANGES,
    Consumer,
    ItemChange,
    RecentChanges,
    SqliteProjection,
    _recent,
    changes_after,
    note_change,
)
from partita.errors import ModelError
from partita.model import Registry
from partita.store import PutItem

pytestmark = pytest.mark.req("X17")


@pytest.fixture
def projection(tmp_path: Path) -> Iterator[SqliteProjection]:
    with closing(SqliteProjection(tmp_path / "p.db", tables=RECENT_CHANGES, apply=lambda *_: None)) as opened:
        yield opened


def test_each_item_is_told_once_in_the_order_of_its_last_change(projection: SqliteProjection) -> None:
    start = changes_after(projection, None, ["ann"]).number
    for topic, item in (("ann", "a"), ("bob", "x"), ("ann", "b"), ("ann", "a"), ("both", "a")):
        note_change(projection._connection, topic, item)
    assert changes_after(projection, start, ["ann"]) == RecentChanges(start + 5, ("b", "a"))
    assert changes_after(projection, start, ["ann", "both", "bob"]).items == ("x", "b", "a")
    assert changes_after(projection, start + 5, ["ann"]) == RecentChanges(start + 5)
    assert "ann" not in str(projection.read("SELECT * FROM recent_changes"))


def test_who_is_too_far_behind_is_told_so(projection: SqliteProjection, monkeypatch: pytest.MonkeyPatch) -> None:
    start = changes_after(projection, None, []).number
    monkeypatch.setattr(_recent, "REMEMBERED", 3)
    monkeypatch.setattr(_recent, "MAX_CHANGES", 2)
    for number in range(4):
        note_change(projection._connection, "ann", str(number))
    assert changes_after(projection, start, ["ann"]).is_forgotten  # not all changes are remembered
    assert changes_after(projection, start + 1, ["ann"]).is_forgotten  # more changes than are returned
    assert changes_after(projection, start + 2, ["ann"]).items == ("2", "3")
    assert changes_after(projection, start + 9, ["ann"]).is_forgotten  # a number of another file


def test_what_is_forgotten_is_deleted(projection: SqliteProjection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_recent, "REMEMBERED", 3)
    for number in range(200):
        note_change(projection._connection, "ann", str(number))
    [(stored,)] = projection.read("SELECT count(*) FROM recent_changes")
    assert 3 <= stored < 3 + _recent._FORGOTTEN_TOGETHER


def test_keys_are_enough_for_a_projection_that_says_so(tmp_path: Path) -> None:
    table = Table("notes", hash="id", range=None, stream="KEYS_ONLY", registry=Registry())
    seen: list[tuple[object, object]] = []

    def apply(_: object, change: ItemChange) -> None:
        seen.append((change.keys["id"], change.new_item or change.old_item))

    def follow(name: str, *, keys_only: bool) -> Consumer:
        sink = SqliteProjection(tmp_path / name, tables="", apply=apply, keys_only=keys_only)
        return Consumer(store, table, sink)

    with EmbeddedStore(":memory:") as store:
        Session(store).create_tables([table])
        store.execute(PutItem("notes", {"id": "before"}))
        with pytest.raises(ModelError, match="no stream with new and old images"):
            follow("images.db", keys_only=False)
        consumer = follow("keys.db", keys_only=True)
        assert consumer.catch_up() == 0
        store.execute(PutItem("notes", {"id": "after"}))
        assert consumer.catch_up() == 1
    assert seen == [("after", None)]
