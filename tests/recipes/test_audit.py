"""The audit trail: every event that can be written is stored, and one that cannot be written does no harm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field
from tests.recipes.interleaving import empty_db, every_schedule, on_store, play

from partita import Entity, Index, Key, Procedure, Registry, Session, Table, get, insert, query
from partita.errors import LimitExceeded, ModelError
from partita.recipes.audit import AuditEvent, AuditRecord, AuditTrail, Trace
from partita.store._requests import PutItem, ScanTable
from partita.testing import FakeClock, FaultyStore

TABLES = Registry()
TABLE = Table("audit", indexes=[Index("GSI1"), Index("GSI2")], ttl="ttl", registry=TABLES)
TRACE = Trace("req-1", "corr-1")


class AuditEntry(AuditRecord, table=TABLE):
    primary: ClassVar = Key("USER#{user_id}", "AUDIT#{occurred_at:012}#{request_id}#{sequence:03}")
    by_correlation: ClassVar = Key(
        "CORR#{correlation_id}", "AUDIT#{occurred_at:012}#{request_id}#{sequence:03}", index="GSI1"
    )
    by_event: ClassVar = Key(
        "EVENT#{event_type}#{month}", "AUDIT#{occurred_at:012}#{request_id}#{sequence:03}", index="GSI2"
    )


class Award(Entity, table=TABLE):
    primary: ClassVar = Key("AWARD#{part}", "AWARD")
    part: int


class Method(StrEnum):
    STRAVA = "strava"


class LoggedIn(AuditEvent):
    method: Method
    browser: str | None = None


class PartAwarded(AuditEvent):
    part: int


AUDIT = AuditTrail(AuditEntry, retention=timedelta(days=90))


@query(AuditEntry, AuditEntry.primary)
def events_of_user(user_id: str) -> None:
    """The events of a user."""


@query(AuditEntry, AuditEntry.by_correlation)
def events_of_story(correlation_id: str) -> None:
    """The events with the same correlation id."""


@query(AuditEntry, AuditEntry.by_event)
def events_of_month(event_type: str, month: str) -> None:
    """The events of one type in one month."""


@get(Award)
def award(part: int) -> None:
    """An award."""


@pytest.fixture
def store(fake_clock: FakeClock) -> Iterator[FaultyStore]:
    with empty_db(TABLES, fake_clock) as db:
        yield FaultyStore(db.store)


@pytest.fixture
def db(store: FaultyStore, fake_clock: FakeClock) -> Session:
    db = Session(store, clock=fake_clock)
    db.sleep = fake_clock.advance
    return db


def audit(event: AuditEvent, user_id: str = "ada", trace: Trace = TRACE) -> Procedure[AuditEntry | None]:
    return AUDIT.append(event, user_id=user_id, trace=trace)


def award_part(part: int, before_audit: Callable[[], None]) -> Procedure[Award]:
    """A business operation that also writes an audit event."""
    awarded = yield from insert(Award(part=part))
    before_audit()
    yield from audit(PartAwarded(part=part))
    return awarded


@pytest.mark.req("C22")
class TestWriting:
    def test_an_event_is_written_with_its_request_and_story(self, db: Session, fake_clock: FakeClock) -> None:
        fake_clock.set(datetime(2026, 5, 31, 23, 59, 59, tzinfo=UTC))
        written = db.run(audit(LoggedIn(method=Method.STRAVA)))
        now = int(fake_clock())
        assert written == AuditEntry(
            user_id="ada",
            event_type="logged_in",
            month="202605",
            occurred_at=now,
            request_id="req-1",
            sequence=0,
            correlation_id="corr-1",
            details={"method": "strava"},
            ttl=now + 90 * 86_400,
        )

    def test_it_is_found_by_user_by_story_and_by_kind_and_month(self, db: Session) -> None:
        first = db.run(audit(LoggedIn(method=Method.STRAVA)))
        second = db.run(audit(PartAwarded(part=1), user_id="bob"))
        assert db.run(events_of_user("ada")).items == (first,)
        assert db.run(events_of_story("corr-1")).items == (first, second)
        assert db.run(events_of_month("part_awarded", "202601")).items == (second,)

    def test_two_in_one_instant_both_stay(self, db: Session) -> None:
        for part in range(3):
            db.run(audit(PartAwarded(part=part)))
        found = db.run(events_of_user("ada")).items
        assert [(entry.sequence, entry.details["part"]) for entry in found] == [(0, 0), (1, 1), (2, 2)]

    def test_records_expire(self, db: Session, fake_clock: FakeClock) -> None:
        db.run(audit(PartAwarded(part=1)))
        fake_clock.advance(90 * 86_400 - 1)
        assert len(db.run(events_of_user("ada"))) == 1
        fake_clock.advance(1)
        assert len(db.run(events_of_user("ada"))) == 0


@pytest.mark.req("C22")
class TestFailing:
    def test_an_audit_that_fails_does_not_break_its_host_and_is_counted(self, db: Session, store: FaultyStore) -> None:
        store.unavailable(on=PutItem)
        assert db.run(audit(PartAwarded(part=1))) is None
        assert AUDIT.dropped(db.meter) == 1

    def test_the_business_operation_stays_done(self, db: Session, store: FaultyStore) -> None:
        assert db.run(award_part(1, before_audit=lambda: store.throttle(100))) == Award(part=1)
        assert AUDIT.dropped(db.meter) == 1

    def test_a_user_that_cannot_be_a_key_is_counted_too(self, db: Session) -> None:
        assert db.run(audit(PartAwarded(part=1), user_id="")) is None
        assert AUDIT.dropped(db.meter) == 1

    def test_what_the_record_does_not_take_is_counted_too(self, db: Session) -> None:
        table = Table("audit", ttl="ttl", registry=Registry())

        class Narrow(AuditRecord, table=table):
            primary: ClassVar = Key("USER#{user_id}", "AUDIT#{occurred_at:012}#{request_id}#{sequence:03}")
            user_id: str = Field(max_length=3)

        trail = AuditTrail(Narrow)
        assert db.run(trail.append(PartAwarded(part=1), user_id="too long", trace=TRACE)) is None
        assert trail.dropped(db.meter) == 1

    def test_a_flood_within_one_instant_is_dropped_at_last(self, db: Session) -> None:
        for part in range(100):
            db.run(audit(PartAwarded(part=part)))
        with pytest.raises(LimitExceeded):
            db.run(AUDIT.entry(PartAwarded(part=100), user_id="ada", trace=TRACE))
        assert db.run(audit(PartAwarded(part=101))) is None
        assert AUDIT.dropped(db.meter) == 2

    def test_nothing_was_dropped_at_first(self, db: Session) -> None:
        db.run(audit(PartAwarded(part=1)))
        assert AUDIT.dropped(db.meter) == 0


@pytest.mark.req("C22")
class TestGuarantee:
    def test_in_every_order_of_three_at_one_instant_all_stay(self) -> None:
        for choose in every_schedule():
            with empty_db(TABLES) as db:
                play(db, [audit(PartAwarded(part=part)) for part in range(3)], choose)
                found = db.run(events_of_user("ada")).items
                assert sorted(entry.details["part"] for entry in found) == [0, 1, 2]

    @settings(max_examples=40, deadline=None)
    @given(failing=st.lists(st.booleans(), max_size=8))
    def test_whatever_fails_every_award_stands_and_is_audited_or_counted(self, failing: list[bool]) -> None:
        with empty_db(TABLES) as plain:
            store = FaultyStore(plain.store)
            db = on_store(plain, store)
            for part, fails in enumerate(failing):
                db.run(insert(Award(part=part)))
                if fails:
                    store.unavailable(on=PutItem)
                db.run(audit(PartAwarded(part=part)))
            assert [db.run(award(part)) for part in range(len(failing))] == [
                Award(part=part) for part in range(len(failing))
            ]
            audited = {entry.details["part"] for entry in db.run(events_of_user("ada"))}
            assert audited == {part for part, fails in enumerate(failing) if not fails}
            assert AUDIT.dropped(db.meter) == sum(failing)


class TestCost:
    def test_an_event_is_one_write_on_the_table_and_each_index(self, db: Session) -> None:
        with db.meter.watch() as seen:
            db.run(audit(PartAwarded(part=1)))
        assert [(run.name, run.requests, run.write) for run in seen] == [("AuditEntry.append", ("PutItem",), 3)]


class TestDeclaration:
    @pytest.mark.req("C22")
    @pytest.mark.parametrize(
        "name", ["access_token", "clientSecret", "password", "cookie", "session_id", "heart_rate", "weight_kg"]
    )
    def test_a_field_named_like_a_secret_or_health_data_is_refused(self, name: str) -> None:
        with pytest.raises(ModelError, match="does not belong in an audit trail"):
            type("Leaky", (AuditEvent,), {"__annotations__": {name: str}})

    @pytest.mark.parametrize("kind", [dict[str, str], Any, object, list[str], LoggedIn])
    def test_a_field_that_could_hold_anything_is_refused(self, kind: Any) -> None:
        with pytest.raises(ModelError, match="could hold any value"):
            type("Open", (AuditEvent,), {"__annotations__": {"things": kind}})

    def test_what_an_event_does_not_declare_cannot_be_written(self) -> None:
        with pytest.raises(ValueError, match="Extra inputs are not permitted"):
            LoggedIn.model_validate({"method": "strava", "refresh": "abc"})

    def test_a_key_that_two_records_could_share_is_refused(self) -> None:
        table = Table("colliding", ttl="ttl", registry=Registry())

        class Colliding(AuditRecord, table=table):
            primary: ClassVar = Key("USER#{user_id}", "AUDIT#{occurred_at:012}")

        with pytest.raises(ModelError, match="overwrite each other without request_id, sequence"):
            AuditTrail(Colliding)

    def test_a_table_without_ttl_is_refused(self) -> None:
        table = Table("eternal", registry=Registry())

        class Eternal(AuditRecord, table=table):
            primary: ClassVar = Key("USER#{user_id}", "AUDIT#{occurred_at:012}#{request_id}#{sequence:03}")

        with pytest.raises(ModelError, match="would never expire"):
            AuditTrail(Eternal)


def test_no_secret_is_in_the_table(db: Session, store: FaultyStore) -> None:
    db.run(audit(LoggedIn(method=Method.STRAVA, browser="Firefox")))
    (item,) = store.execute(ScanTable("audit")).items
    assert item["details"] == {"method": "strava", "browser": "Firefox"}
