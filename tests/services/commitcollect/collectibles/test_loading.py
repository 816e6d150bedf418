"""Loading and retiring models: both are idempotent, and do not affect the milestones that use the models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.services.commitcollect.collectibles.test_picture import HEAD
from tests.services.commitcollect.player import Player
from tests.services.commitcollect.world import TODAY, World, event, new_world

from partita.errors import ItemMissing, OperationError
from partita.store import PutItem, ScanTable, TransactWriteItems
from partita.testing import assert_budget
from partita_services.commitcollect.collectibles import loading
from partita_services.commitcollect.collectibles.definition import ModelDefinition
from partita_services.commitcollect.collectibles.loading import (
    LoadOutcome,
    PartsChanged,
    all_models,
    load_model,
    retire,
)
from partita_services.commitcollect.collectibles.model import (
    MAX_MODELS,
    MAX_PARTS,
    MAX_PICTURE,
    CatalogueEntry,
    Model,
    catalogue,
    model_by_id,
    picture_of,
    save_model,
)
from partita_services.commitcollect.handlers import ModelUnavailable
from partita_services.commitcollect.jobs.ingest import process_event
from partita_services.commitcollect.model import TABLE, Metric, MilestoneStatus

pytestmark = pytest.mark.req("C13")


@pytest.fixture
def world() -> Iterator[World]:
    with new_world() as world:
        world.log_in()
        yield world


def kite(parts: int = 2, **changes: Any) -> ModelDefinition:
    groups = "".join(f'<g id="part-{index}"/>' for index in range(1, parts + 1))
    fields = {"name": "Kite", "story": "It pulls.", "picture": f"{HEAD}{groups}</svg>"}
    return ModelDefinition(model_id="kite", parts=tuple(f"Part {index}" for index in range(parts)), **fields | changes)


def test_a_model_is_loaded_once_however_often_it_is_asked_for(world: World) -> None:
    outcomes = [world.db.run(load_model(kite())) for _ in range(2)]
    assert outcomes == [LoadOutcome.ADDED, LoadOutcome.UNCHANGED]
    ids = [one.model.model_id for one in world.db.run(all_models())]
    assert ids == ["kite", "lighthouse", "sailing-boat", "steam-locomotive"]


@pytest.mark.parametrize(
    "changes",
    [{"name": "Dragon"}, {"story": "Up."}, {"picture": kite(3).picture}],
    ids=["name", "story", "picture"],
)
def test_its_words_and_its_picture_may_change(world: World, changes: dict[str, Any]) -> None:
    world.db.run(load_model(kite()))
    assert world.db.run(load_model(kite(**changes))) is LoadOutcome.CHANGED
    found = next(one for one in world.db.run(all_models()) if one.model.model_id == "kite")
    picture = world.db.run(picture_of("kite"))
    assert picture is not None
    assert (found.model, picture) == (kite(**changes).model, kite(**changes).stored_picture)


@pytest.mark.parametrize(
    ("stored", "parts", "said"), [(2, 1, "has 2 parts;"), (2, 3, "has 2 parts;"), (1, 2, "has 1 part;")]
)
def test_the_number_of_its_parts_may_not(world: World, stored: int, parts: int, said: str) -> None:
    world.db.run(load_model(kite(stored)))
    with pytest.raises(PartsChanged, match=said):
        world.db.run(load_model(kite(parts)))
    assert world.db.run(load_model(kite(stored))) is LoadOutcome.UNCHANGED


def test_nor_where_another_operator_was_first(world: World) -> None:
    """Both operators have read that there is no such model; the transaction itself checks the number of parts."""
    late = Player(load_model(kite(3)), world.db, world.tools)
    while not isinstance(late.next, TransactWriteItems):
        late.move()
    world.db.run(load_model(kite()))
    assert isinstance(late.finish(), PartsChanged)
    assert len(next(one for one in world.db.run(all_models()) if one.model.model_id == "kite").parts) == 2


def test_a_retired_model_is_not_offered_and_what_began_with_it_goes_on(world: World) -> None:
    world.db.run(load_model(kite()))
    fields = {"model_id": "kite", "metric": Metric.COUNT, "target": 2, "starts_on": TODAY}
    milestone = world.commit(**fields)
    first = world.db.run(retire("kite", world.clock()))
    world.clock.advance(60)
    assert first.retired_at is not None
    assert world.db.run(retire("kite", world.clock())) == first
    with pytest.raises(ModelUnavailable, match="kite is retired"):
        world.commit(**fields)
    for number in (1, 2):
        world.strava.train(number)
        world.do(process_event(world.app, event(number, "create", world.clock())))
    done = world.milestone(milestone.milestone_id)
    assert (done.status, [award.part_name for award in world.awards]) == (
        MilestoneStatus.COMPLETED,
        ["Part 0", "Part 1"],
    )
    assert world.db.run(load_model(kite())) is LoadOutcome.BROUGHT_BACK
    assert world.commit(**fields).model_name == "Kite"


def test_a_model_that_there_is_not_cannot_be_chosen_nor_retired(world: World) -> None:
    with pytest.raises(ModelUnavailable, match="There is no model kite"):
        world.commit(model_id="kite")
    with pytest.raises(ItemMissing, match="There is no model kite"):
        world.db.run(retire("kite", world.clock()))


def test_a_model_from_before_there_was_a_catalogue_gets_its_entry(world: World) -> None:
    world.db.run(load_model(kite()))
    items = world.db.store.execute(ScanTable(TABLE.name)).items
    (meta,) = (item for item in items if item["PK"] == "MODEL#kite" and item["SK"] == "META")
    del meta["parts_total"]
    world.db.store.execute(PutItem(TABLE.name, meta))
    stored = world.db.run(model_by_id("kite"))
    assert stored == Model(model_id="kite", name="Kite", story="It pulls.")
    with pytest.raises(PartsChanged):
        world.db.run(load_model(kite(3)))
    assert world.db.run(load_model(kite())) is LoadOutcome.CHANGED
    assert world.db.run(load_model(kite())) is LoadOutcome.UNCHANGED


def test_there_are_no_more_than_may_be(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "MAX_MODELS", 4)
    assert world.db.run(load_model(kite())) is LoadOutcome.ADDED
    with pytest.raises(OperationError, match="There are 4 models"):
        world.db.run(load_model(kite().model_copy(update={"model_id": "other"})))
    assert world.db.run(load_model(kite(name="Dragon"))) is LoadOutcome.CHANGED


def test_the_largest_model_stays_within_its_budgets(world: World) -> None:
    largest = kite(MAX_PARTS)
    largest = largest.model_copy(update={"picture": largest.picture.ljust(MAX_PICTURE)})
    assert_budget(world.db, save_model(largest.model, largest.stored_parts, largest.stored_picture))
    assert_budget(world.db, picture_of("kite").consistent())
    milestone = world.commit(model_id="kite", metric=Metric.COUNT, target=1, starts_on=TODAY)
    world.strava.train(1)
    world.do(process_event(world.app, event(1, "create", world.clock())))  # exceeding a budget raises
    assert world.milestone(milestone.milestone_id).parts_earned == MAX_PARTS
    world.commit(model_id="kite", metric=Metric.COUNT, target=1, starts_on=TODAY)
    assert len(world.awards) == 2 * MAX_PARTS


def test_a_full_catalogue_is_one_page(world: World) -> None:
    for number in range(100):
        world.db.run(
            save_model(Model(model_id=f"m{number}", name="n", story="", parts_total=0), [], kite().stored_picture)
        )
    entries = assert_budget(world.db, catalogue().consistent().page(MAX_MODELS))
    assert isinstance(entries.items[0], CatalogueEntry)
    assert len(entries) == 100
