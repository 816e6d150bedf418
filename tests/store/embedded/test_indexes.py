"""An index that is added later: it contains the items that fit, and leaves the others unchanged."""

from __future__ import annotations

from typing import Any

import pytest
from tests.store.embedded.support import BY_OWNER, note, read

from partita.errors import ValidationFailed
from partita.expressions._ast import KeyCondition, Path, SetAction, Update, Value
from partita.store._requests import CreateIndex, DeleteIndex, QueryTable, UpdateItem
from partita.store.embedded import EmbeddedStore

OWNED = QueryTable("notes", KeyCondition((("owner", "o"),)), index="by-owner")


def set_attribute(name: str, value: Any) -> UpdateItem:
    return UpdateItem("notes", {"pk": "p", "sk": "000001"}, Update(sets=(SetAction(Path((name,)), Value(value)),)))


@pytest.fixture
def misfit(store: EmbeddedStore) -> EmbeddedStore:
    """A store with an index that was added later, an item that does not fit it, and one that does."""
    store.execute(note(1, owner="o", rank="high"))
    store.execute(note(2, owner="o", rank=1))
    store.execute(CreateIndex("notes", BY_OWNER))
    return store


@pytest.mark.rule(28)
def test_an_item_that_does_not_fit_is_left_off_the_index(misfit: EmbeddedStore) -> None:
    assert [item["sk"] for item in misfit.execute(OWNED).items] == ["000002"]
    misfit.verify()


def test_an_item_that_does_not_fit_can_be_changed_elsewhere(misfit: EmbeddedStore) -> None:
    misfit.execute(set_attribute("text", "changed"))
    assert read(misfit, 1) == {"pk": "p", "sk": "000001", "owner": "o", "rank": "high", "text": "changed"}
    misfit.verify()


def test_a_key_that_does_not_fit_cannot_be_set_again(misfit: EmbeddedStore) -> None:
    with pytest.raises(ValidationFailed, match="Type mismatch for Index Key rank Expected: N Actual: S"):
        misfit.execute(set_attribute("rank", "higher"))


def test_an_item_that_is_made_to_fit_enters_the_index(misfit: EmbeddedStore) -> None:
    misfit.execute(set_attribute("rank", 0))
    assert [item["sk"] for item in misfit.execute(OWNED).items] == ["000001", "000002"]
    misfit.verify()


def test_an_index_can_be_deleted_and_made_again(misfit: EmbeddedStore) -> None:
    misfit.execute(DeleteIndex("notes", "by-owner"))
    misfit.verify()
    misfit.execute(note(3, owner="o", rank=0))
    misfit.execute(CreateIndex("notes", BY_OWNER))
    assert [item["sk"] for item in misfit.execute(OWNED).items] == ["000003", "000002"]
    misfit.verify()
