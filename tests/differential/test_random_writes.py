"""Random writes of the library have the same result on the embedded store and on an engine that shares no code with it.

The test compares the result of each write (its images, if it returns them), the error that it raises, and at the end
every stored item with its index keys.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar, TypeAlias

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from tests.encryption.sample import FixedKeys
from tests.referee import Referee

from partita import (
    Change,
    Compressed,
    EmbeddedStore,
    Encrypted,
    Entity,
    Index,
    Key,
    Operation,
    Registry,
    Session,
    Table,
    Version,
    delete,
    f,
    get,
    put,
    update,
    upsert,
)
from partita.errors import PartitaError, TableNotFound
from partita.operations import scan_items
from partita.store import DeleteTable

pytestmark = pytest.mark.slow

PLAYS = 12
STEPS = 40

TABLE = Table("play-writes", indexes=[Index("GSI1"), Index("GSI2")], registry=Registry())


class Stats(BaseModel):
    seen: int = 0
    names: frozenset[str] = frozenset()


class Page(Entity, table=TABLE):
    """An entity with a field for every kind of change."""

    primary: ClassVar = Key("SITE#{site}", "PAGE#{page}")
    by_state: ClassVar = Key("STATE#{state}", "PAGE#{page}", index="GSI1")
    by_rank: ClassVar = Key("SITE#{site}", "RANK#{rank:03}#{owner}", index="GSI2")

    site: str
    page: str
    state: str = "draft"
    rank: int = 5
    owner: str | None = None
    hits: int = 0
    lines: list[str] = Field(default_factory=list)
    tags: frozenset[str] = frozenset()
    stats: Stats = Stats()
    story: Compressed[str] = ""
    secret: Encrypted[str | None] = None
    version: Version = 0


@get(Page)
def page_at(site: str, page: str) -> None:
    """One page."""


words = st.sampled_from(["a", "b", "c"])
changes: st.SearchStrategy[Change] = st.one_of(
    words.map(lambda word: f(Page.state).set(word)),
    words.map(lambda word: f(Page.state).set_if_missing(word)),
    words.map(lambda word: f(Page.owner).set(word)),
    st.just(f(Page.owner).set(None)),
    st.integers(0, 9).map(lambda rank: f(Page.rank).set(rank)),
    st.integers(1, 3).map(lambda amount: f(Page.hits).add(amount)),
    st.integers(1, 3).map(lambda amount: f(Page.hits).set(f(Page.hits).or_default(7).minus(amount))),
    words.map(lambda word: f(Page.lines).append([word])),
    words.map(lambda word: f(Page.lines).prepend([word])),
    words.map(lambda word: f(Page.lines).set(f(Page.lines).or_default([]).with_appended([word]))),
    st.integers(0, 2).map(lambda position: f(Page.lines[position]).remove()),
    st.frozensets(words, min_size=1).map(lambda members: f(Page.tags).add_members(members)),
    st.frozensets(words, min_size=1).map(lambda members: f(Page.tags).remove_members(members)),
    st.integers(1, 3).map(lambda amount: f(Page.stats.seen).add(amount)),
    words.map(lambda word: f(Page.story).set(word * 200)),
    words.map(lambda word: f(Page.secret).set(word)),
    words.map(lambda word: f(Page.secret).set_if_missing(word)),
    st.just(f(Page.secret).set(None)),
    st.integers(1, 3).map(lambda amount: f(Page.stats.seen).set(f(Page.stats.seen).plus(amount))),
    st.frozensets(words, min_size=1).map(lambda members: f(Page.stats.names).add_members(members)),
    st.frozensets(words, min_size=1).map(lambda members: f(Page.stats.names).remove_members(members)),
)
several = st.lists(changes, min_size=1, max_size=4, unique_by=lambda change: change.path.parts[0])
names = st.sampled_from(["p", "q"])

Made: TypeAlias = Callable[[], Operation[Any]]
writes: st.SearchStrategy[Made] = st.one_of(
    st.builds(lambda name, some: lambda: upsert(page_at("s", name), *some), names, several),
    st.builds(lambda name, some: lambda: upsert(page_at("s", name), *some).images(), names, several),
    st.builds(
        lambda name, owner, some: lambda: upsert(Page(site="s", page=name, owner=owner, hits=4), *some).images(),
        names,
        words,
        several,
    ),
    st.builds(lambda name, some: lambda: update(page_at("s", name), *some).images(), names, several),
    st.builds(lambda name, word: lambda: put(Page(site="s", page=name, owner=word)).images(), names, words),
    names.map(lambda name: lambda: delete(page_at("s", name)).images()),
)


def outcome(db: Session, made: Made) -> Any:
    """Return the result of a write, or the code of its error and the current entity."""
    try:
        return db.run(made())
    except PartitaError as error:
        return error.code, getattr(error, "current", None)


def fresh(store: Any) -> Session:
    with suppress(TableNotFound):
        store.execute(DeleteTable(TABLE.name))
    db = Session(store, keys=FixedKeys())  # both stores get the same bytes, so that they compare equal
    db.create_tables([TABLE])
    return db


def contents(db: Session) -> list[dict[str, Any]]:
    items = db.maintenance("compare").run(scan_items(TABLE))
    return sorted(items, key=lambda item: str(item["SK"]))


@pytest.mark.xdist_group("referee")
@pytest.mark.timeout(0)  # the number of steps bounds it, and each call of the emulator has a timeout
@pytest.mark.parametrize("part", range(2))
def test_random_writes_have_the_same_result(part: int, referee: Referee) -> None:
    results = 0

    @seed(part)
    @settings(
        max_examples=PLAYS,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(writes, min_size=STEPS, max_size=STEPS))
    def play(script: list[Made]) -> None:
        nonlocal results
        with EmbeddedStore(":memory:") as store:
            ours, theirs = fresh(store), fresh(referee)
            for made in script:
                mine = outcome(ours, made)
                assert mine == outcome(theirs, made)
                results += not isinstance(mine, tuple)
            assert contents(ours) == contents(theirs)

    play()
    assert results > PLAYS * STEPS / 4, "most of the writes were refused, which compares little"
