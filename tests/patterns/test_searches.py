"""Searches as access patterns: declaration, checks, results in both kinds of session, metering, permissions."""

from __future__ import annotations

import asyncio
import re
from enum import Enum
from typing import Annotated, Any, ClassVar

import pytest
from msgspec.structs import replace
from pydantic import BaseModel, ValidationError

from partita import (
    AsyncSession,
    Budget,
    Dimensions,
    EmbeddedStore,
    Entity,
    Key,
    Rcu,
    Registry,
    Scored,
    SearchedKb,
    Session,
    Table,
    Vector,
    VectorIndex,
    explain,
    f,
    get,
    insert,
    search,
    update,
)
from partita.errors import BudgetExceeded, GuardrailError, ModelError, OperationError
from partita.store import DescribeTable, PutItem
from partita.testing import assert_budget

EVERYWHERE = VectorIndex("everywhere", "embedding", 3, "EUCLIDEAN", hash=False)
TABLE = Table(
    "meanings",
    indexes=[VectorIndex("by-meaning", "embedding", 3, filters=("mood",)), EVERYWHERE],
    ttl="ends",
    registry=Registry(),
)


class Mood(Enum):
    """The mood of a note."""

    GLAD = "glad"
    SAD = "sad"


class Note(Entity, table=TABLE):
    """A note of a user."""

    primary: ClassVar = Key("NOTE#{user_id}", "{note_id}")
    by_meaning: ClassVar = Key("NOTE#{user_id}", index="by-meaning")

    user_id: str
    note_id: str
    text: str = ""
    mood: Mood = Mood.GLAD
    embedding: Annotated[Vector, Dimensions(3)] | None = None
    ends: int | None = None


class Title(BaseModel):
    """A view of a note: its text only."""

    text: str


@search(Note, Note.by_meaning, budget=SearchedKb(4))
def similar_notes(user_id: str, vector: Vector, top: int) -> None:
    """A user's notes that are most similar to a vector."""


@search(Note, Note.by_meaning, view=Title, budget=SearchedKb(4))
def similar_titles(user_id: str, mood: Mood, vector: Vector, top: int = 2) -> None:
    """The most similar notes of one mood, without their vectors."""


@search(Note, EVERYWHERE, budget=SearchedKb(1))
def notes_everywhere(vector: Vector, top: int) -> None:
    """The notes of all users that are most similar to a vector."""


@get(Note, budget=Rcu(0.5))
def note_by_id(user_id: str, note_id: str) -> None:
    """A note."""


def note(number: int, *vector: float, user: str = "ann", **fields: Any) -> Note:
    return Note(user_id=user, note_id=f"n{number}", text=f"note {number}", embedding=vector or None, **fields)


@pytest.fixture
def session() -> Any:
    with EmbeddedStore(":memory:") as store:
        session = Session(store)
        session.create_tables([TABLE])
        for each in (note(1, 1, 0, 0), note(2, 0, 1, 0, mood=Mood.SAD), note(3), note(4, 1, 0, 0, user="ben")):
            session.run(insert(each))
        yield session


def test_a_search_gives_scored_entities_of_the_partition(session: Session) -> None:
    found = assert_budget(session, similar_notes("ann", [1.0, 0.1, 0.0], 5))
    assert [(each.entity, round(each.score, 4)) for each in found] == [
        (note(1, 1, 0, 0), 0.005),
        (note(2, 0, 1, 0, mood=Mood.SAD), 0.9005),
    ]


def test_an_async_session_searches_too(session: Session) -> None:
    async def searched() -> tuple[Scored[Note], ...]:
        return await AsyncSession(session.store).run(similar_notes("ann", (0, 1, 0), 1))

    assert [each.entity.note_id for each in asyncio.run(searched())] == ["n2"]


def test_a_view_and_a_filter_and_a_default(session: Session) -> None:
    assert session.run(similar_titles("ann", Mood.SAD, vector=(1, 0, 0))) == (Scored(Title(text="note 2"), 1.0),)


def test_an_index_without_a_partition_is_searched_as_a_whole(session: Session) -> None:
    users = [each.entity.user_id for each in session.run(notes_everywhere((1, 0, 0), 2))]
    assert users == ["ann", "ben"]


def test_an_update_of_the_vector_moves_the_entity(session: Session) -> None:
    session.run(update(note_by_id("ann", "n2"), f(Note.embedding).set((1.0, 0.0, 0.0))))
    assert [each.score for each in session.run(similar_notes("ann", (1, 0, 0), 2))] == [0.0, 0.0]


def test_what_has_expired_is_not_found(session: Session) -> None:
    session.run(insert(note(5, 0, 0, 1, ends=1)))
    assert [each.entity.note_id for each in session.run(similar_notes("ann", (0, 0, 1), 1))] == []


def test_an_item_that_only_says_that_it_is_in_the_partition_is_not_found(session: Session) -> None:
    forged = {"PK": "NOTE#eve", "SK": "n9", "by-meaningPK": "NOTE#ann", "user_id": "eve", "note_id": "n9"}
    session.store.execute(PutItem("meanings", {**forged, "embedding": [0, 0, 1]}))
    assert "n9" not in [each.entity.note_id for each in session.run(similar_notes("ann", (0, 0, 1), 5))]


def test_the_store_has_the_index_as_it_is_declared(session: Session) -> None:
    assert session.store.execute(DescribeTable("meanings")).schema == TABLE.schema


def test_a_vector_is_kept_with_32_bits_a_number() -> None:
    numbers = note(1, 0.1, 1 / 3, 16777217).embedding
    assert numbers == (0.1, 0.33333334, 16777216.0)
    with pytest.raises(ValidationError, match="at least 3 items"):
        note(1, 1, 2)
    with pytest.raises(ValidationError, match="32 bits"):
        note(1, 1e39, 0, 0)


def test_an_array_of_numpy_is_a_vector(session: Session) -> None:
    numpy = pytest.importorskip("numpy")
    array = numpy.array([0.25, 0.5, 1], dtype=numpy.float32)
    made = Note(user_id="ann", note_id="n6", embedding=array)
    session.run(insert(made))
    assert session.run(similar_notes("ann", array, 1)) == (Scored(made, 0.0),)


@pytest.mark.parametrize(("vector", "top"), [((1, 2), 1), ((1, 2, 3), 0), ((1, 2, 3), 101), ("abc", 1), (7, 1)])
def test_arguments_that_cannot_be_searched_for_are_refused(vector: Any, top: int) -> None:
    with pytest.raises(OperationError):
        similar_notes("ann", vector, top)


def test_a_search_over_its_budget_is_noticed(session: Session) -> None:
    for number in range(10, 110):
        session.run(insert(note(number, 0, 0, number, user="ben")))
    strict = Session(session.store, strict_budgets=True)
    with pytest.raises(BudgetExceeded):
        strict.run(notes_everywhere((1, 0, 0), 1))


def test_explain_says_what_is_sent_and_what_it_costs(session: Session) -> None:
    explained = explain(similar_notes("ann", (1, 0, 0), 2), session)
    assert (explained.call, explained.index) == ("SearchVectors", "by-meaning")
    assert (
        explained.request["SearchConditionExpression"] == "#0 = :0"
        or "=" in explained.request["SearchConditionExpression"]
    )
    assert explained.consumed == Budget(searched=1024.0)
    assert explained.predicted == Budget(searched=1000 * 3 * 4 + 2 * 1024, searched_least=2 * (3 * 4 + 1024))
    assert "predicted: 2.02344 to 13.7188 KB searched (with 1,000 vectors to search, and items of 1,024" in str(
        explained
    )
    assert "consumed:  1 KB searched" in str(explained)


def test_what_a_search_costs_is_a_range_from_its_matches_to_all_that_it_compares(session: Session) -> None:
    """How much an index reads for a search is unknown, and on AWS it differs from search to search."""
    for number in range(10, 310):
        session.run(insert(note(number, 0, 0, number, user="ben")))
    consumed = explain(similar_notes("ben", (1, 0, 0), 2), session).consumed
    assert consumed is not None
    assert (consumed.searched_least, consumed.searched > 300 * 3 * 4) == (1024.0, True)
    assert re.fullmatch(r"1 to 3\.\d+ KB searched", str(consumed))
    assert consumed + Budget(searched=1024) == Budget(searched=consumed.searched + 1024, searched_least=2048)
    few = explain(similar_notes("ben", (1, 0, 0), 2), vectors=1).predicted
    assert (few.searched_least, few.searched) == (None, 3 * 4 + 1024)


def test_a_search_needs_the_right_to_search_its_index() -> None:
    sends = TABLE.patterns["similar_notes"].sends or ()
    assert [(each.action, each.index, each.partition) for each in sends] == [
        ("SearchVectors", "by-meaning", "NOTE#{user_id}"),
    ]


def test_a_session_of_tests_refuses_a_search_that_is_not_declared(session: Session) -> None:
    strict = Session(session.store, strict_budgets=True)
    declared = similar_notes("ann", (1, 0, 0), 1)
    assert len(strict.run(declared)) == 1
    with pytest.raises(GuardrailError, match="sends a SearchVectors to the index 'everywhere'"):
        strict.run(replace(declared, index="everywhere", equal=(), key=None))


def test_a_search_of_what_its_index_does_not_project_is_refused_when_it_is_declared() -> None:
    index = VectorIndex("by-keys", "embedding", 3, hash=False, projection=("mood",))

    class Hint(Entity, table=Table("hints", indexes=[index], registry=Registry())):
        primary: ClassVar = Key("HINT#{hint_id}", "HINT")
        hint_id: str
        mood: str = ""
        text: str = ""
        embedding: Annotated[Vector, Dimensions(3)] | None = None

    class Moody(BaseModel):
        mood: str

    def hints(vector: Vector, top: int) -> None:
        """Hints that are similar to a vector."""

    with pytest.raises(ModelError, match="The index 'by-keys' does not project hint_id, text, which Hint needs"):
        search(Hint, index)(hints)
    search(Hint, index, view=Moody)(hints)


def test_a_search_that_does_not_fit_its_index_is_refused_when_it_is_declared() -> None:
    def no_vector(user_id: str, top: int) -> None:
        """Has no parameter for the vector."""

    def no_partition(vector: Vector, top: int) -> None:
        """Has no parameter for the partition."""

    def not_a_filter(user_id: str, text: str, vector: Vector, top: int) -> None:
        """Filters by a field that the index does not project."""

    cases: list[tuple[Any, str]] = [
        (no_vector, "has no parameter 'vector'"),
        (no_partition, "does not cover the partition of 'by-meaning': user_id"),
        (not_a_filter, "'text' is neither in the partition"),
    ]
    for function, message in cases:
        with pytest.raises(ModelError, match=message):
            search(Note, Note.by_meaning)(function)
    with pytest.raises(ModelError, match="has no vector index None"):
        search(Note, Note.primary)
    with pytest.raises(ModelError, match="has a partition key"):
        search(Note, VectorIndex("by-meaning", "embedding", 3))


@pytest.mark.parametrize(
    "index",
    [
        VectorIndex("many", "v", 4097),
        VectorIndex("odd", "v", 3, "MANHATTAN"),  # type: ignore[arg-type]
    ],
)
def test_an_index_that_no_store_has_is_refused(index: VectorIndex) -> None:
    with pytest.raises(ModelError):
        Table("nowhere", indexes=[index], registry=Registry())
