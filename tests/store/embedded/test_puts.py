"""Puts: of new items, for which nothing is read, and of existing items."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.store.embedded.support import note, read

from partita.errors import ConditionFailed
from partita.expressions._ast import Compare, Missing, Path, Value
from partita.store._requests import PutItem
from partita.store.embedded import EmbeddedStore

NEW = Missing(Path(("pk",)))


class Statements(list[str]):
    """Records the first word of each statement that the store executes."""

    def __call__(self, _: object, sql: str, __: object) -> bool:
        self.append(sql.split(maxsplit=1)[0])
        return True

    def since(self) -> list[str]:
        found = [word for word in self if word not in ("BEGIN", "COMMIT")]
        self.clear()
        return found


@pytest.fixture
def statements(store: EmbeddedStore) -> Iterator[Statements]:
    seen = Statements()
    store._writer.connection.exec_trace = seen
    yield seen
    store._writer.connection.exec_trace = None


def put(store: EmbeddedStore, number: int, text: str, **how: object) -> PutItem:
    request = note(number, text=text)
    return PutItem(request.table, request.item, **how)  # type: ignore[arg-type]


def test_one_statement_writes_a_new_item(store: EmbeddedStore, statements: Statements) -> None:
    for number in range(3):
        assert store.execute(note(number)).attributes is None
        assert statements.since() == ["INSERT"]


def test_after_a_put_over_an_item_the_next_looks_first(store: EmbeddedStore, statements: Statements) -> None:
    store.execute(note(1, text="first"))
    statements.clear()
    store.execute(note(1, text="second"))
    assert statements.since() == ["INSERT", "SELECT", "UPDATE"]
    store.execute(note(1, text="third"))
    assert statements.since() == ["SELECT", "UPDATE"]
    store.execute(note(2))
    assert statements.since() == ["SELECT", "INSERT"]
    store.execute(note(3))
    assert statements.since() == ["INSERT"]
    assert (read(store, 1) or {})["text"] == "third"


def test_a_condition_that_a_new_item_cannot_fulfil_is_asked_of_the_stored_one(
    store: EmbeddedStore, statements: Statements
) -> None:
    store.execute(note(1, text="first"))
    statements.clear()
    store.execute(put(store, 1, "second", condition=Compare("=", Path(("text",)), Value("first"))))
    assert statements.since() == ["SELECT", "UPDATE"]


def test_a_condition_on_nothing_is_true_of_a_new_item_and_false_of_a_stored_one(
    store: EmbeddedStore, statements: Statements
) -> None:
    store.execute(put(store, 1, "first", condition=NEW))
    assert statements.since() == ["INSERT"]
    with pytest.raises(ConditionFailed) as failed:
        store.execute(put(store, 1, "second", condition=NEW, on_failure_item=True))
    assert statements.since() == ["INSERT", "SELECT"]
    assert (failed.value.item or {})["text"] == "first"


def test_the_old_item_is_returned_where_there_is_one(store: EmbeddedStore) -> None:
    assert store.execute(put(store, 1, "first", returns="ALL_OLD")).attributes is None
    old = store.execute(put(store, 1, "second", returns="ALL_OLD")).attributes
    assert (old or {})["text"] == "first"
