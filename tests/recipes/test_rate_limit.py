"""Rate limits: a burst and then a steady rate for each caller, even with concurrent requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.recipes.interleaving import empty_db, every_schedule, play

from partita import Index, Key, Registry, Session, Table, Version, explain
from partita.errors import ModelError, OperationError, RateLimited
from partita.recipes.rate_limit import Rate, RateBucket, RateLimits
from partita.store import GetItem
from partita.testing import FakeClock, assert_budget

TABLES = Registry()
TABLE = Table("calls", ttl="ttl", registry=TABLES)


class CallerBucket(RateBucket, table=TABLE):
    primary: ClassVar = Key("RATE#{caller}", "BUCKET")


LIMITS = RateLimits(CallerBucket, Rate(burst=10, per_second=2))


@pytest.fixture
def db(fake_clock: FakeClock) -> Iterator[Session]:
    with empty_db(TABLES, fake_clock) as db:
        yield db


def refusal(db: Session, caller: str = "ann", tokens: int = 1) -> RateLimited:
    with pytest.raises(RateLimited) as refused:
        db.run(LIMITS.take(caller, tokens))
    return refused.value


def test_a_burst_is_let_through_and_no_more(db: Session) -> None:
    for _ in range(10):
        db.run(LIMITS.take("ann"))
    refused = refusal(db)
    assert (refused.code, refused.retry_after) == ("rate_limited", 0.5)
    assert str(refused) == "That is more than 10 at once, or 2 a second. Try again in 0.5 seconds."


@pytest.mark.parametrize(
    ("wait", "said"),
    [(0.0369, "0.1 seconds"), (1.0, "1 second"), (1.01, "1.1 seconds"), (86_399.5, "86,400 seconds")],
)
def test_the_hint_says_the_wait_in_plain_figures_and_never_too_short(wait: float, said: str) -> None:
    assert RateLimited("Too many.", retry_after=wait).hint == f"Try again in {said}."


def test_tokens_come_back_at_the_rate_and_never_more_than_the_burst(db: Session, fake_clock: FakeClock) -> None:
    db.run(LIMITS.take("ann", 10))
    fake_clock.advance(1.5)
    db.run(LIMITS.take("ann", 3))
    refusal(db)
    fake_clock.advance(3_600)
    db.run(LIMITS.take("ann", 10))
    refusal(db)


def test_a_refused_take_takes_nothing(db: Session, fake_clock: FakeClock) -> None:
    db.run(LIMITS.take("ann", 8))
    assert refusal(db, tokens=5).retry_after == 1.5
    for _ in range(20):
        refusal(db, tokens=5)
    fake_clock.advance(1.5)
    db.run(LIMITS.take("ann", 5))


def test_what_it_says_is_when_it_works(db: Session, fake_clock: FakeClock) -> None:
    db.run(LIMITS.take("ann", 9))
    fake_clock.advance(refusal(db, tokens=7).retry_after)
    db.run(LIMITS.take("ann", 7))


def test_each_caller_has_a_bucket(db: Session) -> None:
    db.run(LIMITS.take("ann", 10))
    db.run(LIMITS.take("bob", 10))
    refusal(db, "ann")
    refusal(db, "bob")


def test_several_takers_never_take_more_than_there_is_in_any_order() -> None:
    for choose in every_schedule():
        with empty_db(TABLES) as db:
            results = play(db, [LIMITS.take("ann", 4) for _ in range(3)], choose)
            assert sum(isinstance(result, RateLimited) for result in results) == 1


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3_000), st.integers(1, 10)), max_size=30))
def test_it_lets_through_what_a_bucket_of_tokens_would(takes: list[tuple[int, int]]) -> None:
    clock, left = FakeClock(), 10.0
    with empty_db(TABLES, clock) as db:
        for pause, tokens in takes:
            clock.advance(pause / 1_000)
            left = min(10.0, left + 2 * pause / 1_000)
            is_clear = abs(left - tokens) > 0.001  # if both are almost equal, rounding decides
            try:
                db.run(LIMITS.take("ann", tokens))
            except RateLimited:
                assert left < tokens or not is_clear
            else:
                assert left >= tokens or not is_clear
                left -= tokens


def test_a_bucket_expires_when_it_is_sure_to_be_full(db: Session, fake_clock: FakeClock) -> None:
    db.run(LIMITS.take("ann", 10))
    key = {"PK": "RATE#ann", "SK": "BUCKET"}
    stored = db.store.execute(GetItem("calls", key)).item
    assert stored == {
        **key,
        "caller": "ann",
        "full_at": int((fake_clock() + 5) * 1_000_000),
        "ttl": int(fake_clock()) + 6,
    }


def test_another_rate_takes_from_the_same_buckets(db: Session) -> None:
    wider = LIMITS.at(Rate(burst=100, per_second=2))
    db.run(wider.take("ann", 100))
    assert refusal(db).retry_after == 45.5
    assert (LIMITS.rate, wider.rate) == (Rate(10, 2), Rate(100, 2))


def test_a_take_is_one_write_of_a_declared_name(db: Session) -> None:
    for _ in range(2):  # from a full bucket, and from one that is not full
        assert_budget(db, LIMITS.take("ann"))
    (usage,) = db.meter.usage()
    assert (usage.name, usage.read, usage.write, usage.max_write) == ("CallerBucket.take", 0, 2, 1)
    (declared,) = TABLE.recipes.values()
    assert [(sent.action, sent.partition) for sent in declared.sends] == [("UpdateItem", "RATE#{caller}")]
    assert explain(LIMITS.take("ann")).call == "UpdateItem"


@pytest.mark.parametrize("tokens", [0, 11])
def test_a_bucket_never_has_so_many(tokens: int) -> None:
    with pytest.raises(OperationError, match=f"1 to 10 tokens can be taken at once, not {tokens}"):
        LIMITS.take("ann", tokens)


@pytest.mark.parametrize(("burst", "per_second"), [(0, 1), (1, 0), (1, -1), (1, float("inf")), (1, float("nan"))])
def test_a_rate_lets_something_through(burst: int, per_second: float) -> None:
    with pytest.raises(ModelError, match="A rate needs a burst of 1 or more"):
        Rate(burst, per_second)


def elsewhere(ttl: str | None = "ttl") -> Table:
    return Table("elsewhere", indexes=[Index("GSI1")], ttl=ttl, registry=Registry())


def test_its_record_is_checked() -> None:
    class Unending(RateBucket, table=elsewhere(ttl=None)):
        primary: ClassVar = Key("RATE#{caller}", "BUCKET")

    class Split(RateBucket, table=elsewhere()):
        primary: ClassVar = Key("RATE#{caller}", "BUCKET#{ttl:012}")

    class Indexed(RateBucket, table=elsewhere()):
        primary: ClassVar = Key("RATE#{caller}", "BUCKET")
        by_caller: ClassVar = Key("CALLER#{caller}", "BUCKET", index="GSI1")

    class Versioned(RateBucket, table=elsewhere()):
        primary: ClassVar = Key("RATE#{caller}", "BUCKET")
        version: Version = 0

    class Incomplete(RateBucket, table=elsewhere()):
        primary: ClassVar = Key("RATE#{caller}", "BUCKET")
        site: str

    wrong: list[tuple[type[RateBucket], str]] = [
        (Unending, "would never expire"),
        (Split, "Split: its key must be the caller alone"),
        (Indexed, "Indexed must have neither indexes nor a version"),
        (Versioned, "Versioned must have neither indexes nor a version"),
        (Incomplete, "the recipe does not set site"),
    ]
    for record, message in wrong:
        with pytest.raises(ModelError, match=message):
            RateLimits(record, Rate(1, 1))
