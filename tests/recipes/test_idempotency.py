"""Idempotent commands: the effect happens exactly once, in every order, with crashes, expiry and other payloads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field
from tests.recipes.interleaving import CRASHED, empty_db, every_schedule, on_store, play

from partita import (
    Budget,
    Entity,
    Key,
    Operation,
    Procedure,
    Put,
    Rcu,
    Registry,
    Session,
    Table,
    Transaction,
    Version,
    Wcu,
    absent,
    f,
    get,
    insert,
    pattern,
    put,
    query,
    transact,
    update,
)
from partita.errors import (
    AlreadyExists,
    ConditionFailed,
    IdempotencyInProgress,
    IdempotencyMismatch,
    ItemMissing,
    ModelError,
    OperationError,
    TransactionCancelled,
    VersionConflict,
)
from partita.recipes.idempotency import (
    Command,
    CommandOutcome,
    Idempotency,
    IdempotencyRecord,
    Plan,
    StoredResponse,
    fingerprint,
)
from partita.store._requests import TransactWriteItems
from partita.testing import FakeClock, FaultyStore

TABLES = Registry()
TABLE = Table("bank", ttl="ttl", registry=TABLES)
LEASE = timedelta(seconds=30)
DAY = 86_400


class Account(Entity, table=TABLE):
    primary: ClassVar = Key("ACCOUNT#{name}", "ACCOUNT")
    name: str
    balance: int = 0
    version: Version = 0


class Entry(Entity, table=TABLE):
    primary: ClassVar = Key("ACCOUNT#{name}", "ENTRY#{entry_id}")
    name: str
    entry_id: str
    amount: int


class Request(IdempotencyRecord, table=TABLE):
    primary: ClassVar = Key("IDEMPOTENCY#{scope}#{key}", "METADATA")


REQUESTS = Idempotency(Request)


@get(Account)
def account_of(name: str) -> None:
    """An account."""


@query(Entry, Entry.primary)
def entries_of(name: str) -> None:
    """The entries of an account."""


@pattern(budget=Wcu(4))
def book(entry: Entry) -> Put[Entry]:
    """Book an entry."""
    return insert(entry)


@pattern(budget=Wcu(3), via=book)
def book_alone(entry: Entry) -> Transaction:
    """Book an entry in a transaction."""
    return transact(book(entry))


class Sized(IdempotencyRecord, table=TABLE):
    primary: ClassVar = Key("SIZED#{scope}#{key}", "METADATA")


BUDGETED = Idempotency(Sized, budget=Rcu(1))
ENTRY = Entry(name="ada", entry_id="e1", amount=5)


def deposit(name: str, entry_id: str, amount: int) -> Procedure[Plan[Account]]:
    """Read the account, and plan its new balance and an entry for it."""
    account = yield from account_of(name)
    if account is None:
        raise ItemMissing("There is no such account.")
    changed = update(account, f(Account.balance).set(account.balance + amount))
    entry = book(Entry(name=name, entry_id=entry_id, amount=amount))
    return Plan(account.model_copy(update={"balance": account.balance + amount}), entry, changed)


def answer(account: Account) -> StoredResponse:
    return StoredResponse.of(account, status=201, headers={"Location": f"/accounts/{account.name}"})


def command(key: str = "k", payload: str = "100", scope: str = "ada") -> Command:
    return Command(scope, key, fingerprint("POST", "/deposit", payload))


def deposit_once(
    entry_id: str = "e1", key: str = "k", payload: str = "100", scope: str = "ada"
) -> Procedure[CommandOutcome[Account]]:
    return REQUESTS.run(command(key, payload, scope), deposit("ada", entry_id, 100), answer)


@pytest.fixture
def db(fake_clock: FakeClock) -> Iterator[Session]:
    with empty_db(TABLES, fake_clock) as db:
        db.run(insert(Account(name="ada")))
        yield db


def booked(db: Session) -> list[str]:
    return [entry.entry_id for entry in db.run(entries_of("ada"))]


def balance(db: Session) -> int:
    account = db.run(account_of("ada"))
    assert account is not None
    return account.balance


@pytest.mark.req("X05")
class TestRun:
    def test_the_first_run_answers_and_writes(self, db: Session) -> None:
        outcome = db.run(deposit_once())
        answer = StoredResponse(201, '{"name":"ada","balance":100,"version":1}', {"Location": "/accounts/ada"})
        assert outcome == CommandOutcome(answer, replayed=False, result=Account(name="ada", balance=100, version=1))
        assert (balance(db), booked(db)) == (100, ["e1"])

    def test_the_second_run_answers_the_same_and_writes_nothing(self, db: Session) -> None:
        first = db.run(deposit_once("e1"))
        second = db.run(deposit_once("e2"))
        assert second == CommandOutcome(first.response, replayed=True)
        assert (balance(db), booked(db)) == (100, ["e1"])

    def test_another_payload_is_a_mismatch(self, db: Session) -> None:
        db.run(deposit_once())
        with pytest.raises(IdempotencyMismatch):
            db.run(deposit_once("e2", payload="200"))
        assert booked(db) == ["e1"]

    def test_the_same_key_of_another_caller_is_another_command(self, db: Session) -> None:
        db.run(deposit_once("e1", scope="ada"))
        assert not db.run(deposit_once("e2", scope="bob")).replayed
        assert booked(db) == ["e1", "e2"]

    def test_scope_and_key_cannot_run_into_each_other(self, db: Session) -> None:
        db.run(deposit_once("e1", scope="ada#1", key="2"))
        assert not db.run(deposit_once("e2", scope="ada", key="1#2")).replayed

    def test_an_answer_is_forgotten_after_24_hours(self, db: Session, fake_clock: FakeClock) -> None:
        db.run(deposit_once("e1"))
        fake_clock.advance(DAY - 1)
        assert db.run(deposit_once("e2")).replayed
        fake_clock.advance(1)
        assert not db.run(deposit_once("e3", payload="200")).replayed
        assert booked(db) == ["e1", "e3"]

    def test_the_record_expires_by_ttl(self, db: Session) -> None:
        db.run(deposit_once())
        record = db.run(REQUESTS.record(command()))
        assert record is not None
        assert record.ttl - record.created_at == DAY

    def test_a_plan_without_reads_needs_no_procedure(self, db: Session) -> None:
        write = book(Entry(name="ada", entry_id="e1", amount=5))
        outcome = db.run(REQUESTS.run(command(), Plan(write.saved, write), StoredResponse.of))
        assert outcome.response.body == '{"name":"ada","entry_id":"e1","amount":5}'
        assert booked(db) == ["e1"]

    def test_a_plan_may_write_nothing_and_is_remembered(self, db: Session) -> None:
        plan: Plan[Account] = Plan(Account(name="x"))
        db.run(REQUESTS.run(command(), plan, answer))
        assert db.run(REQUESTS.run(command(), plan, answer)).replayed

    def test_it_answers_the_same_when_the_store_only_said_that_it_did_not(self, db: Session) -> None:
        faulty = FaultyStore(db.store)
        shaky = on_store(db, faulty)
        faulty.unavailable(on=TransactWriteItems, happens=True)
        with pytest.raises(Exception, match="did not respond"):
            shaky.run(deposit_once("e1"))
        assert shaky.run(deposit_once("e2")).replayed
        assert booked(db) == ["e1"]


@pytest.mark.req("X05")
class TestFailures:
    def test_what_the_plan_refuses_is_not_stored(self, db: Session) -> None:
        with pytest.raises(ItemMissing):
            db.run(REQUESTS.run(command(), deposit("nobody", "e1", 100), answer))
        assert db.run(REQUESTS.record(command())) is None
        assert not db.run(deposit_once("e1")).replayed

    def test_a_failed_condition_is_raised_as_the_action_explains_it(self, db: Session) -> None:
        db.run(deposit_once("e1", key="k1"))
        with pytest.raises(AlreadyExists) as caught:
            db.run(deposit_once("e1", key="k2"))
        assert caught.value.current == Entry(name="ada", entry_id="e1", amount=100)
        assert isinstance(caught.value.__cause__, TransactionCancelled)
        assert db.run(REQUESTS.record(command("k2"))) is None

    def test_a_lost_race_with_a_foreign_writer_is_its_conflict(self, db: Session) -> None:
        def overtaken() -> Procedure[Plan[Account]]:
            plan = yield from deposit("ada", "e1", 100)
            db.run(update(account_of("ada"), f(Account.balance).set(7)))
            return plan

        with pytest.raises(VersionConflict) as caught:
            db.run(REQUESTS.run(command(), overtaken(), answer))
        assert caught.value.current.balance == 7

    def test_a_plan_that_writes_by_itself_is_refused(self, db: Session) -> None:
        def hasty() -> Procedure[Plan[Account]]:
            account = yield from insert(Account(name="eve"))
            return Plan(account)

        with pytest.raises(OperationError, match=r"Account\.insert writes while a plan is being made"):
            db.run(REQUESTS.run(command(), hasty(), answer))
        assert db.run(account_of("eve")) is None

    def test_what_is_not_a_plan_is_refused(self, db: Session) -> None:
        def forgetful() -> Any:
            return (yield from account_of("ada"))

        wrong: list[Any] = [insert(Account(name="eve")), forgetful(), None, [insert(Account(name="eve"))]]
        for plan in wrong:
            with pytest.raises(OperationError, match=r"is not a plan\. Pass Plan"):
                db.run(REQUESTS.run(command(), plan, answer))
        assert db.run(account_of("eve")) is None

    def test_a_plan_leaves_room_for_the_record_in_its_transaction(self, db: Session) -> None:
        writes = [book(Entry(name="ada", entry_id=f"e{number}", amount=1)) for number in range(100)]
        with pytest.raises(OperationError, match="1 to 100 actions, not 101"):
            db.run(REQUESTS.run(command(), Plan(Account(name="ada"), *writes), answer))
        db.run(REQUESTS.run(command(), Plan(Account(name="ada"), *writes[:99]), answer))
        assert len(booked(db)) == 99

    def test_a_plan_may_handle_the_errors_of_its_reads(self, db: Session) -> None:
        def tolerant() -> Procedure[Plan[Account]]:
            try:
                yield from transact(absent(account_of("ada")))
            except OperationError:
                account = yield from account_of("ada")
                assert account is not None
                return Plan(account)
            raise AssertionError

        assert db.run(REQUESTS.run(command(), tolerant(), answer)).response.status == 201


@pytest.mark.req("X05")
class TestPlanAlone:
    def test_it_runs_without_a_record(self, db: Session) -> None:
        def without_key() -> Procedure[Account]:
            plan = yield from deposit("ada", "e1", 100)
            return (yield from plan.run())

        assert db.run(without_key()).balance == 100
        assert booked(db) == ["e1"]

    def test_it_raises_the_error_of_the_action_that_failed(self, db: Session) -> None:
        write = insert(Account(name="ada"))
        with pytest.raises(AlreadyExists):
            db.run(Plan(write.saved, write).run())

    def test_without_actions_it_sends_nothing(self, db: Session) -> None:
        with db.meter.watch() as seen:
            assert db.run(Plan("result").run()) == "result"
        assert seen == []


@pytest.mark.req("X05")
class TestOutsideEffects:
    def test_the_first_to_begin_may_go_on(self, db: Session) -> None:
        assert db.run(REQUESTS.begin(command(), owner="w1", lease=LEASE)) is None

    def test_a_second_one_hears_that_it_is_still_running(self, db: Session) -> None:
        db.run(REQUESTS.begin(command(), owner="w1", lease=LEASE))
        with pytest.raises(IdempotencyInProgress):
            db.run(REQUESTS.begin(command(), owner="w2", lease=LEASE))

    def test_so_does_a_command_that_runs_in_a_transaction(self, db: Session) -> None:
        db.run(REQUESTS.begin(command(), owner="w1", lease=LEASE))
        with pytest.raises(IdempotencyInProgress):
            db.run(deposit_once())
        assert booked(db) == []

    def test_another_payload_is_a_mismatch_even_after_the_lease(self, db: Session, fake_clock: FakeClock) -> None:
        db.run(REQUESTS.begin(command(), owner="w1", lease=LEASE))
        fake_clock.advance(31)
        with pytest.raises(IdempotencyMismatch):
            db.run(REQUESTS.begin(command(payload="200"), owner="w2", lease=LEASE))

    def test_a_lease_that_ran_out_may_be_taken_over_once(self, db: Session, fake_clock: FakeClock) -> None:
        db.run(REQUESTS.begin(command(), owner="w1", lease=LEASE))
        fake_clock.advance(29)
        with pytest.raises(IdempotencyInProgress):
            db.run(REQUESTS.begin(command(), owner="w2", lease=LEASE))
        fake_clock.advance(1)
        assert db.run(REQUESTS.begin(command(), owner="w2", lease=LEASE)) is None
        with pytest.raises(IdempotencyInProgress):
            db.run(REQUESTS.begin(command(), owner="w3", lease=LEASE))

    def test_the_answer_is_replayed_when_it_was_completed(self, db: Session, fake_clock: FakeClock) -> None:
        db.run(REQUESTS.begin(command(), owner="w1", lease=LEASE))
        db.run(REQUESTS.complete(command(), StoredResponse(202, "{}"), owner="w1"))
        fake_clock.advance(31)
        replayed = CommandOutcome[Account](StoredResponse(202, "{}"), replayed=True)
        assert db.run(REQUESTS.begin(command(), owner="w2", lease=LEASE)) == replayed
        assert db.run(deposit_once()) == replayed

    def test_completing_can_be_part_of_a_transaction(self, db: Session) -> None:
        db.run(REQUESTS.begin(command(), owner="w1", lease=LEASE))
        entry = Entry(name="ada", entry_id="e1", amount=1)
        db.transact(insert(entry), REQUESTS.complete(command(), StoredResponse(201), owner="w1"))
        assert booked(db) == ["e1"]

    @pytest.mark.parametrize("late", ["complete", "abandon"])
    def test_who_lost_the_lease_cannot_finish(self, db: Session, fake_clock: FakeClock, late: str) -> None:
        db.run(REQUESTS.begin(command(), owner="w1", lease=LEASE))
        fake_clock.advance(30)
        db.run(REQUESTS.begin(command(), owner="w2", lease=LEASE))
        finish: dict[str, Operation[Any]] = {
            "complete": REQUESTS.complete(command(), StoredResponse(201), owner="w1"),
            "abandon": REQUESTS.abandon(command(), owner="w1"),
        }
        with pytest.raises(ConditionFailed) as caught:
            db.run(finish[late])
        assert caught.value.current.owner == "w2"

    def test_what_was_completed_stays(self, db: Session) -> None:
        db.run(REQUESTS.begin(command(), owner="w1", lease=LEASE))
        db.run(REQUESTS.complete(command(), StoredResponse(201), owner="w1"))
        with pytest.raises(ConditionFailed):
            db.run(REQUESTS.abandon(command(), owner="w1"))
        with pytest.raises(ConditionFailed):
            db.run(REQUESTS.complete(command(), StoredResponse(500), owner="w1"))

    def test_an_abandoned_command_may_begin_at_once(self, db: Session) -> None:
        db.run(REQUESTS.begin(command(), owner="w1", lease=LEASE))
        db.run(REQUESTS.abandon(command(), owner="w1"))
        assert db.run(REQUESTS.begin(command(payload="200"), owner="w2", lease=LEASE)) is None


@pytest.mark.req("X05")
class TestGuarantee:
    def test_in_every_order_of_two_with_a_crash_and_a_retry_the_effect_happens_once_and_all_get_its_answer(
        self,
    ) -> None:
        schedules = 0
        for choose in every_schedule():
            schedules += 1
            with empty_db(TABLES) as db:
                db.run(insert(Account(name="ada")))
                results = play(db, [deposit_once("e1"), deposit_once("e2")], choose, crashes=1)
                results.append(db.run(deposit_once("e3")))
                outcomes = [result for result in results if result != CRASHED]
                assert all(isinstance(outcome, CommandOutcome) for outcome in outcomes)
                assert len(booked(db)) == 1
                assert balance(db) == 100
                assert len({outcome.response.body for outcome in outcomes}) == 1
                assert sum(not outcome.replayed for outcome in outcomes) <= 1
        assert schedules > 100

    @settings(max_examples=60, deadline=None)
    @given(data=st.data())
    def test_random_commands_with_crashes_and_passing_time_are_run_once_each(self, data: st.DataObject) -> None:
        commands = data.draw(st.lists(st.tuples(st.sampled_from("kl"), st.sampled_from(["100", "200"])), max_size=5))
        clock = FakeClock()
        with empty_db(TABLES, clock) as db:
            db.run(insert(Account(name="ada")))
            works = [deposit_once(f"e{n}", key, payload) for n, (key, payload) in enumerate(commands)]
            results = play(db, works, lambda n: data.draw(st.integers(0, n - 1)), crashes=2)
            answers: dict[str, set[str]] = {}
            for (key, _), result in zip(commands, results, strict=True):
                if isinstance(result, CommandOutcome):
                    answers.setdefault(key, set()).add(result.response.body)
                else:
                    assert result == CRASHED or isinstance(result, IdempotencyMismatch | VersionConflict)
            assert all(len(bodies) == 1 for bodies in answers.values())
            assert len(booked(db)) <= len({key for key, _ in commands})
            assert len(booked(db)) >= len(answers)
            assert balance(db) == 100 * len(booked(db))
            for key in answers:  # a stored response is replayed until it expires
                again = REQUESTS.record(command(key))
                assert db.run(again) is not None
                clock.advance(DAY)
                assert db.run(again) is None
                clock.advance(-DAY)


class TestCost:
    def test_a_run_reads_the_record_and_writes_it_with_the_effect(self, db: Session) -> None:
        write = book(Entry(name="ada", entry_id="e1", amount=5))
        with db.meter.watch() as seen:
            db.run(REQUESTS.run(command(), Plan(write.saved, write), StoredResponse.of))
        costs = [(run.name, run.requests, run.read, run.write) for run in seen]
        assert costs == [
            ("request_by_key", ("GetItem",), 1, 0),
            ("book", ("TransactWriteItems",), 0, 4),
        ]

    @pytest.mark.parametrize(
        ("write", "name", "budget"),
        [
            (lambda: book(ENTRY), "book", Wcu(16)),
            (lambda: book_alone(ENTRY), "book_alone", Wcu(11)),
            (lambda: put(ENTRY), "Entry.put", None),
        ],
    )
    def test_it_has_the_name_and_the_budget_of_its_plan_and_of_its_record(
        self, write: Callable[[], Any], name: str, budget: Budget | None
    ) -> None:
        """Twice the budget of a write, or once that of a declared transaction, plus twice the budget of the record."""
        run = BUDGETED.run(command(), Plan(ENTRY, write()), StoredResponse.of)
        next(run)  # reads the record
        once = run.send(None)
        assert (once.name, once.budget) == (name, budget)

    def test_a_replay_reads_the_record(self, db: Session) -> None:
        db.run(deposit_once())
        with db.meter.watch() as seen:
            db.run(deposit_once())
        assert [(run.name, run.read, run.write) for run in seen] == [("request_by_key", 1, 0)]

    def test_begin_complete_and_abandon_write_once_each(self, db: Session) -> None:
        with db.meter.watch() as seen:
            db.run(REQUESTS.begin(command("a"), owner="w1", lease=LEASE))
            db.run(REQUESTS.complete(command("a"), StoredResponse(201), owner="w1"))
            db.run(REQUESTS.begin(command("b"), owner="w1", lease=LEASE))
            db.run(REQUESTS.abandon(command("b"), owner="w1"))
        assert [(run.name, run.read, run.write) for run in seen] == [
            ("Request.begin", 0, 1),
            ("Request.update", 0, 1),
            ("Request.begin", 0, 1),
            ("Request.delete", 0, 1),
        ]


class TestDeclaration:
    def test_a_table_without_ttl_is_refused(self) -> None:
        table = Table("forever", registry=Registry())

        class Eternal(IdempotencyRecord, table=table):
            primary: ClassVar = Key("ONCE#{scope}#{key}", "METADATA")

        with pytest.raises(ModelError, match="Eternal would never expire"):
            Idempotency(Eternal)

    def test_a_key_without_the_scope_is_refused(self) -> None:
        table = Table("unscoped", ttl="ttl", registry=Registry())

        class Unscoped(IdempotencyRecord, table=table):
            primary: ClassVar = Key("ONCE#{key}", "METADATA")

        with pytest.raises(ModelError, match="scope"):
            Idempotency(Unscoped)

    def test_a_field_that_nobody_gives_a_value_is_refused(self) -> None:
        table = Table("demanding", ttl="ttl", registry=Registry())

        class Demanding(IdempotencyRecord, table=table):
            primary: ClassVar = Key("ONCE#{scope}#{key}", "METADATA")
            region: str

        with pytest.raises(ModelError, match="the recipe does not set region"):
            Idempotency(Demanding)

    def test_attributes_are_named_as_the_table_names_them(self) -> None:
        registry = Registry()
        table = Table("legacy", hash="IdempotencyKey", range=None, ttl="expiresAtUtc", registry=registry)

        class Legacy(IdempotencyRecord, table=table):
            primary: ClassVar = Key("{scope}#{key}")
            status: int | None = Field(default=None, alias="http_status_code")
            body: str = Field(default="", alias="response_data")
            ttl: int = Field(alias="expiresAtUtc")

        legacy = Idempotency(Legacy, lifetime=timedelta(minutes=1))
        with empty_db(registry) as db:
            plan = Plan(Account(name="x"))
            db.run(legacy.run(command(), plan, answer))
            assert db.run(legacy.run(command(), plan, answer)).replayed


def test_fingerprints_tell_parts_apart() -> None:
    assert fingerprint("a", "bc") != fingerprint("ab", "c")
    assert fingerprint("a", b"b") == fingerprint(b"a", "b")
