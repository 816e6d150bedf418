"""What has changed last, for those who listen to some of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from partita.change import RECENT_CHANGES, RecentChanges, SqliteProjection, _recent, changes_after, note_change

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
    assert changes_after(projection, start, ["ann"]).is_forgotten  # not all is remembered
    assert changes_after(projection, start + 1, ["ann"]).is_forgotten  # more than is told
    assert changes_after(projection, start + 2, ["ann"]).items == ("2", "3")
    assert changes_after(projection, start + 9, ["ann"]).is_forgotten  # of another file
