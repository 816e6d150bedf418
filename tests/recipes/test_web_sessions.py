"""Browser sessions: the holder of a cookie is signed in until the session ends, and nobody else is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.recipes.interleaving import empty_db, every_schedule, on_store, play

from partita import Index, Key, Registry, Session, Table, Version
from partita.errors import AlreadyExists, ItemMissing, ModelError, OperationError
from partita.recipes.web_sessions import WebSession, WebSessions, new_session_id, session_hash
from partita.store._requests import DeleteItem, ScanTable, UpdateItem
from partita.testing import Crash, FakeClock, FaultyStore

TABLES = Registry()
TABLE = Table("sessions", indexes=[Index("GSI1")], ttl="ttl", registry=TABLES)
IDLE, ABSOLUTE, TOUCH = 600, 3_600, 60
OLD, NEW, OTHER = "old-cookie-0123456789abcdef", "new-cookie-0123456789abcdef", "other-cookie-0123456789abcdef"


class LoginSession(WebSession, table=TABLE):
    primary: ClassVar = Key("SESSION#{session_hash}", "META")
    by_user: ClassVar = Key("USER#{user_id}", "SESSION#{session_hash}", index="GSI1")
    theme: str = "light"


SESSIONS = WebSessions(
    LoginSession,
    idle=timedelta(seconds=IDLE),
    absolute=timedelta(seconds=ABSOLUTE),
    touch_every=timedelta(seconds=TOUCH),
)


@pytest.fixture
def db(fake_clock: FakeClock) -> Iterator[Session]:
    with empty_db(TABLES, fake_clock) as db:
        yield db


def user_of(db: Session, cookie: str) -> str | None:
    session = db.run(SESSIONS.resolve(cookie))
    return None if session is None else session.user_id


def stored(db: Session) -> list[dict[str, Any]]:
    """Return every item in the table, expired or not."""
    return db.store.execute(ScanTable("sessions")).items


class TestIds:
    @pytest.mark.req("C20")
    def test_an_id_has_256_random_bits(self) -> None:
        assert new_session_id(lambda size: bytes(range(size))) == "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
        assert len({new_session_id() for _ in range(100)}) == 100

    @pytest.mark.req("C20")
    def test_the_store_holds_only_its_hash(self, db: Session) -> None:
        db.run(SESSIONS.create(OLD, "ada"))
        assert OLD not in repr(stored(db))
        assert [item["session_hash"] for item in stored(db)] == [session_hash(OLD)]

    def test_the_hash_is_not_a_cookie(self, db: Session) -> None:
        db.run(SESSIONS.create(OLD, "ada"))
        assert user_of(db, session_hash(OLD)) is None

    def test_an_id_that_could_be_guessed_is_refused(self) -> None:
        with pytest.raises(OperationError, match="too short"):
            SESSIONS.create("guessable", "ada")


@pytest.mark.req("C20")
class TestLife:
    def test_a_session_belongs_to_its_user(self, db: Session) -> None:
        db.run(SESSIONS.create(OLD, "ada"))
        assert (user_of(db, OLD), user_of(db, OTHER)) == ("ada", None)

    def test_an_id_is_used_once(self, db: Session) -> None:
        db.run(SESSIONS.create(OLD, "ada"))
        with pytest.raises(AlreadyExists):
            db.run(SESSIONS.create(OLD, "eve"))
        assert user_of(db, OLD) == "ada"

    def test_it_ends_when_it_was_idle_for_too_long(self, db: Session, fake_clock: FakeClock) -> None:
        db.run(SESSIONS.create(OLD, "ada"))
        fake_clock.advance(IDLE - 1)
        assert user_of(db, OLD) == "ada"
        fake_clock.advance(IDLE)
        assert user_of(db, OLD) is None

    def test_it_ends_after_its_absolute_time_however_busy(self, db: Session, fake_clock: FakeClock) -> None:
        db.run(SESSIONS.create(OLD, "ada"))
        for _ in range(ABSOLUTE // 300 - 1):
            fake_clock.advance(300)
            assert user_of(db, OLD) == "ada"
        fake_clock.advance(299)
        assert user_of(db, OLD) == "ada"
        fake_clock.advance(1)
        assert user_of(db, OLD) is None

    def test_being_seen_is_written_at_most_so_often(self, db: Session, fake_clock: FakeClock) -> None:
        faulty = FaultyStore(db.store)
        watched = on_store(db, faulty)
        watched.run(SESSIONS.create(OLD, "ada"))
        for _ in range(12):
            fake_clock.advance(10)
            watched.run(SESSIONS.resolve(OLD))
        assert sum(isinstance(request, UpdateItem) for request in faulty.requests) == 2

    def test_shorter_times_hold_for_sessions_that_are_there_already(self, db: Session, fake_clock: FakeClock) -> None:
        db.run(SESSIONS.create(OLD, "ada"))
        fake_clock.advance(120)
        registry = Registry()
        table = Table("sessions", indexes=[Index("GSI1")], ttl="ttl", registry=registry)

        class Stricter(WebSession, table=table):
            primary: ClassVar = Key("SESSION#{session_hash}", "META")
            by_user: ClassVar = Key("USER#{user_id}", "SESSION#{session_hash}", index="GSI1")

        stricter = WebSessions(Stricter, idle=timedelta(minutes=2), absolute=timedelta(hours=1))
        assert db.run(stricter.resolve(OLD)) is None

    def test_logout_ends_it_at_once_and_twice_is_not_an_error(self, db: Session) -> None:
        db.run(SESSIONS.create(OLD, "ada"))
        db.run(SESSIONS.end(OLD))
        db.run(SESSIONS.end(OLD))
        assert user_of(db, OLD) is None

    def test_a_logout_during_a_request_ends_that_request_too(self, db: Session, fake_clock: FakeClock) -> None:
        db.run(SESSIONS.create(OLD, "ada"))
        fake_clock.advance(TOUCH)
        read_then_logout = iter([0, 1])
        seen, _ = play(db, [SESSIONS.resolve(OLD), SESSIONS.end(OLD)], lambda _: next(read_then_logout))
        assert seen is None

    def test_a_logout_during_a_request_is_not_undone_by_it(self, fake_clock: FakeClock) -> None:
        for choose in every_schedule():
            with empty_db(TABLES, fake_clock) as own:
                own.run(SESSIONS.create(OLD, "ada"))
                fake_clock.advance(TOUCH)
                play(own, [SESSIONS.resolve(OLD), SESSIONS.end(OLD)], choose, crashes=1)
                own.run(SESSIONS.end(OLD))
                assert stored(own) == []


@pytest.mark.req("C20")
class TestRotation:
    def test_the_new_id_is_the_session_and_the_old_one_nothing(self, db: Session, fake_clock: FakeClock) -> None:
        created = db.run(SESSIONS.create(OLD, "ada"))
        fake_clock.advance(30)
        rotated = db.run(SESSIONS.rotate(OLD, NEW))
        assert (user_of(db, OLD), user_of(db, NEW)) == (None, "ada")
        assert rotated == created.model_copy(update={"session_hash": session_hash(NEW)})

    def test_what_has_ended_cannot_be_rotated(self, db: Session, fake_clock: FakeClock) -> None:
        with pytest.raises(ItemMissing, match="has ended"):
            db.run(SESSIONS.rotate(OLD, NEW))
        db.run(SESSIONS.create(OLD, "ada"))
        fake_clock.advance(IDLE)
        with pytest.raises(ItemMissing, match="has ended"):
            db.run(SESSIONS.rotate(OLD, NEW))

    def test_a_login_replaces_what_the_browser_had_in_one_transaction(self, db: Session) -> None:
        db.run(SESSIONS.create(OLD, "guest"))
        db.transact(SESSIONS.create(NEW, "ada"), SESSIONS.end(OLD))
        assert (user_of(db, OLD), user_of(db, NEW)) == (None, "ada")

    def test_a_taken_id_in_a_transaction_is_explained(self, db: Session) -> None:
        db.run(SESSIONS.create(NEW, "ada"))
        with pytest.raises(Exception, match="cancelled") as caught:
            db.transact(SESSIONS.create(NEW, "eve"), SESSIONS.end(OLD))
        assert isinstance(caught.value.failed[0].error, AlreadyExists)  # type: ignore[attr-defined]

    def test_in_every_order_with_a_crash_there_is_one_session_and_one_cookie_for_it(self) -> None:
        cookies = [OLD, NEW, OTHER]
        for choose in every_schedule():
            with empty_db(TABLES) as db:
                db.run(SESSIONS.create(OLD, "ada"))
                results = play(db, [SESSIONS.rotate(OLD, NEW), SESSIONS.rotate(OLD, OTHER)], choose, crashes=1)
                assert len(stored(db)) == 1
                assert sum(user_of(db, cookie) == "ada" for cookie in cookies) == 1
                assert sum(isinstance(result, LoginSession) for result in results) <= 1


@pytest.mark.req("C23")
class TestEndingAll:
    def test_all_sessions_of_the_user_end_and_no_other(self, db: Session) -> None:
        for number in range(60):
            db.run(SESSIONS.create(f"cookie-of-ada-{number:020}", "ada"))
        db.run(SESSIONS.create(OTHER, "bob"))
        assert db.run(SESSIONS.end_all("ada")) == 60
        assert [item["user_id"] for item in stored(db)] == ["bob"]

    def test_expired_ones_are_removed_too(self, db: Session, fake_clock: FakeClock) -> None:
        db.run(SESSIONS.create(OLD, "ada"))
        fake_clock.advance(ABSOLUTE)
        assert db.run(SESSIONS.end_all("ada")) == 1
        assert stored(db) == []

    def test_a_user_without_sessions(self, db: Session) -> None:
        assert db.run(SESSIONS.end_all("ada")) == 0

    @pytest.mark.parametrize("nth", range(1, 5))
    def test_cut_off_anywhere_it_can_be_run_again(self, db: Session, nth: int) -> None:
        for number in range(30):
            db.run(SESSIONS.create(f"cookie-of-ada-{number:020}", "ada"))
        faulty = FaultyStore(db.store)
        faulty.crash_after(nth)
        with pytest.raises(Crash):
            on_store(db, faulty).run(SESSIONS.end_all("ada"))
        db.run(SESSIONS.end_all("ada"))
        assert stored(db) == []

    def test_a_users_sessions_can_be_listed(self, db: Session) -> None:
        db.run(SESSIONS.create(OLD, "ada"))
        assert [found.session_hash for found in db.run(SESSIONS.of_user("ada"))] == [session_hash(OLD)]


class SessionMachine(RuleBasedStateMachine):
    """Random sign-ins, visits, rotations, sign-outs and waiting times, compared with a model in a dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.context = empty_db(TABLES, self.clock)
        self.db = self.context.__enter__()
        self.count = 0
        self.alive: dict[str, tuple[str, int, int]] = {}
        """By cookie: the user, the creation time, and the last visit that the session should have recorded."""
        self.dead: set[str] = set()

    def cookie(self) -> str:
        self.count += 1
        return f"cookie-{self.count:030}"

    @rule(user=st.sampled_from(["ada", "bob"]))
    def login(self, user: str) -> None:
        cookie, now = self.cookie(), int(self.clock())
        self.db.run(SESSIONS.create(cookie, user))
        self.alive[cookie] = (user, now, now)

    @precondition(lambda self: self.alive)
    @rule(data=st.data())
    def visit(self, data: st.DataObject) -> None:
        cookie = data.draw(st.sampled_from(sorted(self.alive)))
        user, created, seen = self.alive[cookie]
        now = int(self.clock())
        if now < min(created + ABSOLUTE, seen + IDLE):
            assert user_of(self.db, cookie) == user
            self.alive[cookie] = (user, created, now if now - seen >= TOUCH else seen)
        else:
            assert user_of(self.db, cookie) is None
            del self.alive[cookie]
            self.dead.add(cookie)

    @precondition(lambda self: self.alive)
    @rule(data=st.data())
    def rotate(self, data: st.DataObject) -> None:
        cookie, new = data.draw(st.sampled_from(sorted(self.alive))), self.cookie()
        user, created, seen = self.alive.pop(cookie)
        self.dead.add(cookie)
        if int(self.clock()) < min(created + ABSOLUTE, seen + IDLE):
            self.db.run(SESSIONS.rotate(cookie, new))
            self.alive[new] = (user, created, seen)
        else:
            with pytest.raises(ItemMissing):
                self.db.run(SESSIONS.rotate(cookie, new))

    @precondition(lambda self: self.alive)
    @rule(data=st.data())
    def logout(self, data: st.DataObject) -> None:
        cookie = data.draw(st.sampled_from(sorted(self.alive)))
        self.db.run(SESSIONS.end(cookie))
        del self.alive[cookie]
        self.dead.add(cookie)

    @rule(user=st.sampled_from(["ada", "bob"]))
    def end_all(self, user: str) -> None:
        self.db.run(SESSIONS.end_all(user))
        ended = {cookie for cookie, (owner, _, _) in self.alive.items() if owner == user}
        self.dead |= ended
        self.alive = {cookie: state for cookie, state in self.alive.items() if cookie not in ended}

    @rule(seconds=st.sampled_from([1, 59, 60, 300, 599, 600, 1_800]))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @invariant()
    def the_dead_stay_dead(self) -> None:
        for cookie in self.dead:
            assert user_of(self.db, cookie) is None

    def teardown(self) -> None:
        self.context.__exit__(None, None, None)


TestRandomSessions = SessionMachine.TestCase
TestRandomSessions.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)


class TestCost:
    def test_each_step_costs_what_the_page_says(self, db: Session, fake_clock: FakeClock) -> None:
        with db.meter.watch() as seen:
            db.run(SESSIONS.create(OLD, "ada"))
            db.run(SESSIONS.resolve(OLD))
            fake_clock.advance(TOUCH)
            db.run(SESSIONS.resolve(OLD))
            db.run(SESSIONS.rotate(OLD, NEW))
            db.run(SESSIONS.end(NEW))
        assert [(run.name, run.read, run.write) for run in seen] == [
            ("LoginSession.create", 0, 2),
            ("LoginSession.resolve", 1, 0),
            ("LoginSession.resolve", 1, 2),
            ("LoginSession.resolve", 1, 0),
            ("LoginSession.rotate", 0, 6),
            ("LoginSession.end", 0, 2),
        ]

    def test_ending_all_reads_keys_and_deletes_in_batches(self, db: Session) -> None:
        for number in range(30):
            db.run(SESSIONS.create(f"cookie-of-ada-{number:020}", "ada"))
        with db.meter.watch() as seen:
            db.run(SESSIONS.end_all("ada"))
        assert [run.requests for run in seen] == [("QueryTable",), ("BatchWriteItem",)] * 2
        assert sum(run.write for run in seen) == 60
        assert DeleteItem.__name__ not in {name for run in seen for name in run.requests}


class TestDeclaration:
    def declare(self, record: type[Any], *, idle: int = 600, absolute: int = 3_600, touch: int = 60) -> None:
        ages = [timedelta(seconds=age) for age in (idle, absolute, touch)]
        WebSessions(record, idle=ages[0], absolute=ages[1], touch_every=ages[2])

    @pytest.mark.parametrize("ages", [(60, 3_600, 60), (600, 599, 60), (600, 3_600, 0)])
    def test_times_that_contradict_each_other_are_refused(self, ages: tuple[int, int, int]) -> None:
        with pytest.raises(ModelError, match="touch_every < idle <= absolute"):
            self.declare(LoginSession, idle=ages[0], absolute=ages[1], touch=ages[2])

    def test_a_table_without_ttl_is_refused(self) -> None:
        table = Table("eternal", indexes=[Index("GSI1")], registry=Registry())

        class Eternal(WebSession, table=table):
            primary: ClassVar = Key("SESSION#{session_hash}", "META")
            by_user: ClassVar = Key("USER#{user_id}", "SESSION#{session_hash}", index="GSI1")

        with pytest.raises(ModelError, match="would never expire"):
            self.declare(Eternal)

    def test_a_version_is_refused(self) -> None:
        table = Table("versioned", indexes=[Index("GSI1")], ttl="ttl", registry=Registry())

        class Versioned(WebSession, table=table):
            primary: ClassVar = Key("SESSION#{session_hash}", "META")
            by_user: ClassVar = Key("USER#{user_id}", "SESSION#{session_hash}", index="GSI1")
            version: Version = 0

        with pytest.raises(ModelError, match="must have no version"):
            self.declare(Versioned)
