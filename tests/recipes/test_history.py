"""History: versions without gaps, exactly one of them open, in every order of concurrent writers and with crashes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.recipes.interleaving import CRASHED, empty_db, every_schedule, play

from partita import (
    Entity,
    Index,
    Key,
    Rcu,
    Registry,
    Session,
    Table,
    Transaction,
    Wcu,
    f,
    get,
    pattern,
    query,
    transact,
)
from partita.errors import AlreadyExists, ModelError, OperationError, UniqueTaken, VersionConflict
from partita.recipes.history._history import UNWRITTEN, FieldDifference, History, Revision, as_of, differences
from partita.recipes.idempotency import Plan
from partita.recipes.unique import Claim, Unique
from partita.testing import FakeClock

TABLES = Registry()
TABLE = Table("shop", indexes=[Index("GSI1"), Index("GSI2")], registry=TABLES)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TICK = timedelta(microseconds=1)


class Price(Revision, table=TABLE):
    primary: ClassVar = Key("PRICE#{sku}", "VERSION#{created}")
    by_label: ClassVar = Key("LABEL#{label}", "VERSION#{created}", index="GSI1")
    current: ClassVar = Key("CURRENT", "{listed}#{sku}", index="GSI2")

    sku: str
    cents: int
    label: str | None = None

    def listing(self) -> str:
        return f"{self.cents:08}"


class UniqueClaim(Claim, table=TABLE):
    primary: ClassVar = Key("UNIQUE#{field}#{value}", "CLAIM")


@query(Price, Price.primary, newest_first=True, budget=Rcu(13))
def prices_of(sku: str) -> None:
    """All versions of a price."""


@query(Price, Price.by_label, newest_first=True)
def prices_labelled(label: str) -> None:
    """All versions with a label."""


@query(Price, Price.current)
def current_prices() -> None:
    """The current prices, lowest first."""


@get(UniqueClaim)
def claim_on(field: str, value: str) -> None:
    """The claim on a value."""


@pattern(budget=Wcu(12))
def write_price(plan: Plan[Price]) -> Transaction:
    """Write a version."""
    return transact(*plan.actions)


LABEL = Unique(claim_on, Price, f(Price.label), owner=f(Price.sku))
PRICES = History(prices_of, claim_on, unique=[LABEL], write=write_price)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def db(clock: FakeClock) -> Iterator[Session]:
    with empty_db(TABLES, clock) as session:
        yield session


def all_versions(db: Session, sku: str = "s1") -> tuple[Price, ...]:
    return db.run(PRICES.versions(sku).consistent()).items[::-1]


def test_the_first_version_holds_from_now_and_is_open(db: Session) -> None:
    first = db.run(PRICES.create(Price(sku="s1", cents=250)).run())
    assert first == Price(sku="s1", cents=250, number=1, created=NOON, listed="00000250", written=NOON)
    assert db.run(PRICES.latest("s1")) == first


def test_a_revision_closes_the_previous_version_at_its_own_instant(db: Session, clock: FakeClock) -> None:
    first = db.run(PRICES.create(Price(sku="s1", cents=250)).run())
    clock.advance(60)
    second = db.run(PRICES.revise(first, f(Price.cents).set(300)).run())
    closed = first.model_copy(update={"expires": NOON + timedelta(minutes=1), "listed": None})
    assert all_versions(db) == (closed, second)
    assert (second.created, second.expires, second.cents) == (NOON + timedelta(minutes=1), None, 300)


def test_instants_rise_also_where_the_clock_stands_still_or_steps_back(db: Session, clock: FakeClock) -> None:
    price = db.run(PRICES.create(Price(sku="s1", cents=1)).run())
    price = db.run(PRICES.revise(price, f(Price.cents).set(2)).run())
    clock.advance(-3600)
    db.run(PRICES.revise(price, f(Price.cents).set(3)).run())
    assert [version.created for version in all_versions(db)] == [NOON, NOON + TICK, NOON + 2 * TICK]


def test_a_revision_that_changes_nothing_adds_no_version(db: Session) -> None:
    first = db.run(PRICES.create(Price(sku="s1", cents=250)).run())
    assert db.run(PRICES.revise(first, f(Price.cents).set(250)).run()) == first
    assert db.run(PRICES.restore(first).run()) == first
    assert all_versions(db) == (first,)


def test_deleting_and_restoring_are_versions_too(db: Session, clock: FakeClock) -> None:
    price = db.run(PRICES.create(Price(sku="s1", cents=250)).run())
    clock.advance(1)
    deleted = db.run(PRICES.delete(price).run())
    assert db.run(PRICES.delete(deleted).run()) == deleted
    assert db.run(current_prices()).items == ()
    clock.advance(1)
    restored = db.run(PRICES.restore(deleted, f(Price.cents).set(260)).run())
    assert [(version.deleted, version.cents) for version in all_versions(db)] == [
        (False, 250),
        (True, 250),
        (False, 260),
    ]
    assert db.run(current_prices()).items == (restored,)


def test_what_is_deleted_is_restored_before_it_is_revised(db: Session) -> None:
    deleted = db.run(PRICES.delete(db.run(PRICES.create(Price(sku="s1", cents=250)).run())).run())
    with pytest.raises(OperationError, match=r"deleted\. Restore it first"):
        PRICES.revise(deleted, f(Price.cents).set(1))


def test_only_one_of_two_creations_goes_through_also_at_different_instants(db: Session, clock: FakeClock) -> None:
    first = db.run(PRICES.create(Price(sku="s1", cents=250)).run())
    clock.advance(60)
    with pytest.raises(AlreadyExists, match="This Price already exists"):
        db.run(PRICES.create(Price(sku="s1", cents=300)).run())
    db.run(PRICES.delete(first).run())
    with pytest.raises(AlreadyExists):
        db.run(PRICES.create(Price(sku="s1", cents=300)).run())


def test_the_second_of_two_revisions_of_one_version_is_a_conflict(db: Session, clock: FakeClock) -> None:
    first = db.run(PRICES.create(Price(sku="s1", cents=250)).run())
    clock.advance(1)
    second = db.run(PRICES.revise(first, f(Price.cents).set(260)).run())
    clock.advance(1)
    with pytest.raises(VersionConflict) as lost:
        db.run(PRICES.revise(first, f(Price.cents).set(270)).run())
    assert lost.value.current.expires == second.created
    assert db.run(PRICES.latest("s1")) == second


def test_every_instant_has_the_version_that_held_then(db: Session, clock: FakeClock) -> None:
    first = db.run(PRICES.create(Price(sku="s1", cents=1)).run())
    clock.advance(10)
    second = db.run(PRICES.revise(first, f(Price.cents).set(2)).run())
    found = [
        db.run(PRICES.as_of(instant, "s1"))
        for instant in (NOON - TICK, NOON, second.created - TICK, second.created, NOON + timedelta(days=9))
    ]
    assert [version and version.cents for version in found] == [None, 1, 1, 2, 2]


def test_a_version_may_come_from_elsewhere_with_its_own_instant_but_not_from_the_future(db: Session) -> None:
    long_ago = datetime(1974, 1, 1, tzinfo=UTC)
    first = db.run(PRICES.create(Price(sku="s1", cents=1), at=long_ago).run())
    second = db.run(PRICES.revise(first, f(Price.cents).set(2), at=long_ago).run())
    assert (first.created, second.created) == (long_ago, long_ago + TICK)
    with pytest.raises(OperationError, match="in the future"):
        db.run(PRICES.revise(second, f(Price.cents).set(3), at=NOON + TICK).run())


def test_a_value_that_changes_hands_never_has_two_owners_at_an_instant(db: Session, clock: FakeClock) -> None:
    one = db.run(PRICES.create(Price(sku="s1", cents=1, label="sale")).run())
    with pytest.raises(UniqueTaken) as taken:
        db.run(PRICES.create(Price(sku="s2", cents=2, label="sale")).run())
    assert (taken.value.field, taken.value.owner) == ("label", "s1")
    clock.advance(10)
    one = db.run(PRICES.revise(one, f(Price.label).set(None)).run())
    clock.advance(-10)  # the next writer's clock is slow
    two = db.run(PRICES.create(Price(sku="s2", cents=2, label="sale")).run())
    assert two.created == one.created + TICK
    before = db.run(as_of(prices_labelled("sale"), one.created - TICK))
    after = db.run(as_of(prices_labelled("sale"), two.created))
    between = db.run(as_of(prices_labelled("sale"), one.created))
    assert (before and before.sku, after and after.sku) == ("s1", "s2")
    assert between is not None
    assert not between.holds_at(one.created)


def test_a_plan_that_met_a_value_freed_meanwhile_is_a_conflict(db: Session, clock: FakeClock) -> None:
    one = db.run(PRICES.create(Price(sku="s1", cents=1, label="sale")).run())
    early = db.run(PRICES.create(Price(sku="s2", cents=2, label="sale")))
    clock.advance(10)
    db.run(PRICES.delete(one).run())
    with pytest.raises(VersionConflict, match="was freed just now"):
        db.run(early.run())


def test_a_deleted_thing_gives_its_values_away_and_takes_them_back(db: Session) -> None:
    one = db.run(PRICES.create(Price(sku="s1", cents=1, label="sale")).run())
    gone = db.run(PRICES.delete(one).run())
    two = db.run(PRICES.create(Price(sku="s2", cents=2, label="sale")).run())
    with pytest.raises(UniqueTaken):
        db.run(PRICES.restore(gone).run())
    db.run(PRICES.revise(two, f(Price.label).set("other")).run())
    assert db.run(PRICES.restore(gone).run()).label == "sale"


def test_differences_are_of_content_alone(db: Session, clock: FakeClock) -> None:
    first = db.run(PRICES.create(Price(sku="s1", cents=1)).run())
    clock.advance(1)
    second = db.run(PRICES.revise(first, f(Price.cents).set(2), f(Price.label).set("sale")).run())
    third = db.run(PRICES.delete(second).run())
    assert differences(first, second) == (FieldDifference("cents", 1, 2), FieldDifference("label", None, "sale"))
    assert differences(second, third) == (FieldDifference("deleted", False, True),)
    assert differences(second, second) == ()


def test_history_is_paged_newest_first(db: Session) -> None:
    price = db.run(PRICES.create(Price(sku="s1", cents=0)).run())
    for cents in range(1, 5):
        price = db.run(PRICES.revise(price, f(Price.cents).set(cents)).run())
    page = db.run(PRICES.versions("s1").page(3))
    rest = db.run(PRICES.versions("s1").page(3, after=page.next_cursor))
    assert [version.cents for version in (*page, *rest)] == [4, 3, 2, 1, 0]


def test_what_the_history_sets_is_nobody_elses_to_change(db: Session) -> None:
    first = db.run(PRICES.create(Price(sku="s1", cents=1)).run())
    for change in (f(Price.expires).set(NOON), f(Price.deleted).set(True), f(Price.listed).set("x")):
        with pytest.raises(OperationError, match="can be set only by the history"):
            PRICES.revise(first, change)
    for change in (f(Price.sku).set("s2"), f(Price.created).set(NOON)):
        with pytest.raises(OperationError, match="is the key"):
            PRICES.revise(first, change)


def test_what_it_costs_is_what_the_page_says(db: Session) -> None:
    def cost(work: Any) -> tuple[float, float]:
        with db.meter.watch() as seen:
            db.run(work)
        return sum(run.read for run in seen), sum(run.write for run in seen)

    assert cost(PRICES.create(Price(sku="s1", cents=1)).run()) == (0, 5)
    first = all_versions(db)[-1]
    assert cost(PRICES.revise(first, f(Price.cents).set(2)).run()) == (0, 6)
    second = all_versions(db)[-1]
    assert cost(PRICES.revise(second, f(Price.label).set("sale")).run()) == (1, 9)
    third = all_versions(db)[-1]
    assert cost(PRICES.delete(third).run()) == (0, 9)
    assert cost(PRICES.latest("s1")) == (0.5, 0)
    assert cost(PRICES.as_of(NOON, "s1")) == (0.5, 0)


class Odd(Revision, table=TABLE):
    primary: ClassVar = Key("ODD#{name}", "VERSION#{number:06}#{created}")

    name: str
    number: int


class Plain(Entity, table=TABLE):
    primary: ClassVar = Key("PLAIN#{name}", "PLAIN")

    name: str


@query(Odd, Odd.primary)
def odd_versions(name: str) -> None:
    """Versions whose sort key does not start with their creation time."""


@query(Plain, Plain.primary)
def plain_things(name: str) -> None:
    """Items that are not versions."""


@query(Price, Price.primary)
def price_at(sku: str, created: datetime) -> None:
    """One version."""


def test_a_wrong_declaration_is_refused_when_it_is_made() -> None:
    with pytest.raises(ModelError, match="must be `created` alone"):
        History(odd_versions, claim_on)
    with pytest.raises(ModelError, match="is not a Revision"):
        History(plain_things, claim_on)  # type: ignore[type-var]
    with pytest.raises(ModelError, match="no more, no less"):
        History(price_at, claim_on)
    with pytest.raises(ModelError, match="over the primary key"):
        History(prices_labelled, claim_on)
    with pytest.raises(OperationError, match="does not sort by `created`"):
        as_of(current_prices(), NOON)


def test_a_draft_was_never_created() -> None:
    assert Price(sku="s1", cents=1).created == UNWRITTEN


# --- every order of writers, with crashes ---


def assert_tiles(db: Session, sku: str) -> None:
    """Check that the versions of a thing follow each other without gap or overlap, and only the last one is open."""
    versions = all_versions(db, sku)
    assert [version.expires for version in versions] == [
        *(version.created for version in versions[1:]),
        *([None] if versions else []),
    ]
    assert [version.created for version in versions] == sorted({version.created for version in versions})
    assert [version.number for version in versions] == [*range(1, len(versions) + 1)]


def assert_consistent(db: Session, skus: tuple[str, ...]) -> None:
    """Check that the index lists the current versions, and that the claims are those of the current versions."""
    for sku in skus:
        assert_tiles(db, sku)
    latest = [version for sku in skus for version in all_versions(db, sku)[-1:] if not version.deleted]
    assert sorted(price.sku for price in db.run(current_prices())) == sorted(price.sku for price in latest)
    owners = {price.label: price.sku for price in latest if price.label is not None}
    assert len(owners) == len([price for price in latest if price.label is not None])
    for label in ("sale", "new"):
        claim = db.run(claim_on("label", label).consistent())
        assert (claim and claim.owner) == owners.get(label)


def test_every_order_and_crash_of_two_creations_and_a_revision() -> None:
    outcomes = set()
    for choose in every_schedule():
        with empty_db(TABLES) as db:
            one = db.run(PRICES.create(Price(sku="s1", cents=1, label="sale")).run())
            results = play(
                db,
                [
                    PRICES.create(Price(sku="s2", cents=2, label="new")).run(),
                    PRICES.create(Price(sku="s2", cents=3)).run(),
                    PRICES.revise(one, f(Price.label).set("new")).run(),
                ],
                choose,
                crashes=1,
            )
            assert_consistent(db, ("s1", "s2"))
            if CRASHED not in results:
                outcomes.add(tuple(type(result).__name__ for result in results))
    assert outcomes == {
        ("Price", "AlreadyExists", "UniqueTaken"),
        ("AlreadyExists", "Price", "Price"),
        ("UniqueTaken", "Price", "Price"),
    }


def test_every_order_and_crash_of_three_writers_of_one_version() -> None:
    for choose in every_schedule():
        with empty_db(TABLES) as db:
            one = db.run(PRICES.create(Price(sku="s1", cents=1, label="sale")).run())
            results = play(
                db,
                [
                    PRICES.revise(one, f(Price.cents).set(2)).run(),
                    PRICES.revise(one, f(Price.label).set("new")).run(),
                    PRICES.delete(one).run(),
                ],
                choose,
                crashes=1,
            )
            assert_consistent(db, ("s1",))
            assert sum(isinstance(result, Price) for result in results) <= 1
            assert len(all_versions(db)) <= 2


writes = st.lists(
    st.tuples(
        st.sampled_from(["create", "revise", "delete", "restore"]),
        st.sampled_from(["s1", "s2", "s3"]),
        st.integers(1, 4),
        st.sampled_from([None, "sale", "new"]),
        st.sampled_from([-5.0, 0.0, 0.0, 1.0, 60.0]),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(writes, st.randoms(use_true_random=False))
def test_random_writes_of_three_at_a_time_tile_time(moves: list[Any], rng: Any) -> None:
    clock = FakeClock()
    with empty_db(TABLES, clock) as db:
        for start in range(0, len(moves), 3):
            works = [_work(db, *move) for move in moves[start : start + 3]]
            clock.advance(moves[start][-1])
            play(db, [work for work in works if work is not None], rng.randrange, crashes=rng.randrange(2))
            assert_consistent(db, ("s1", "s2", "s3"))


def _work(db: Session, verb: str, sku: str, cents: int, label: str | None, _: float) -> Any:
    latest = db.run(PRICES.latest(sku).query.consistent().first())
    changes = f(Price.cents).set(cents), f(Price.label).set(label)
    if verb == "create":
        return PRICES.create(Price(sku=sku, cents=cents, label=label)).run()
    if latest is None or (verb == "revise" and latest.deleted):
        return None
    if verb == "delete":
        return PRICES.delete(latest).run()
    return (PRICES.revise if verb == "revise" else PRICES.restore)(latest, *changes).run()
