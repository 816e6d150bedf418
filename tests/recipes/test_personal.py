"""Personal data: export and erasure cover everything of one user, and nothing of anybody else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import pytest

from partita import (
    BatchWrite,
    Delete,
    EmbeddedStore,
    Entity,
    Key,
    Procedure,
    Registry,
    Session,
    Table,
    batch_write,
    delete,
    get,
    insert,
    pattern,
    query,
)
from partita.errors import ModelError
from partita.recipes.personal import ErasureRecord, PersonalData, PersonalItems
from partita.recipes.removal import Removal
from partita.store._requests import BatchWriteItem, ScanTable
from partita.testing import Crash, FakeClock, FaultyStore

TABLE = Table("shop", ttl="ttl", registry=Registry())


class Order(Entity, table=TABLE):
    primary: ClassVar = Key("USER#{user_id}", "ORDER#{number:04}")
    user_id: str
    number: int


class Invoice(Entity, table=TABLE):
    primary: ClassVar = Key("USER#{user_id}", "INVOICE#{number:04}")
    user_id: str
    number: int


class Profile(Entity, table=TABLE):
    primary: ClassVar = Key("PROFILE#{user_id}", "PROFILE")
    user_id: str


class Erased(ErasureRecord, table=TABLE):
    primary: ClassVar = Key("ERASED#{user_id}", "METADATA")


@query(Order, Order.primary)
def orders_of(user_id: str) -> None:
    """A user's orders."""


@query(Invoice, Invoice.primary)
def invoices_of(user_id: str) -> None:
    """A user's invoices."""


@get(Profile)
def profile_of(user_id: str) -> None:
    """A user's profile."""


@pattern(writes={Order: (BatchWriteItem,)})
def delete_orders(deletes: Sequence[Delete[Order]]) -> BatchWrite:
    """Delete orders."""
    return batch_write(deletes)


def forget_profile(user_id: str) -> Procedure[int]:
    return int((yield from delete(profile_of(user_id))) is not None)


KEPT = "The law asks for it."
PERSONAL = PersonalData(
    PersonalItems("orders", orders_of, delete=delete_orders),
    PersonalItems("invoices", invoices_of, stays=KEPT),
    PersonalItems("profile", profile_of, erase=forget_profile),
    record=Erased,
)


@pytest.fixture
def store(fake_clock: FakeClock) -> Iterator[FaultyStore]:
    with EmbeddedStore(":memory:", clock=fake_clock, sweep_every=None) as memory:
        yield FaultyStore(memory)


@pytest.fixture
def db(store: FaultyStore, fake_clock: FakeClock) -> Session:
    db = Session(store, clock=fake_clock)
    db.create_tables([TABLE])
    for user in ("ann", "bob"):
        db.run(insert(Profile(user_id=user)))
        db.run(insert(Invoice(user_id=user, number=1)))
        for number in range(120):
            db.run(insert(Order(user_id=user, number=number)))
    return db


def partitions(db: Session) -> dict[str, int]:
    found: dict[str, int] = {}
    for item in db.store.execute(ScanTable("shop")).items:
        name = f"{item['PK']} {item['SK'].partition('#')[0]}"
        found[name] = found.get(name, 0) + 1
    return found


BOBS = {"USER#bob ORDER": 120, "USER#bob INVOICE": 1, "PROFILE#bob PROFILE": 1}


def pages(db: Session, items: PersonalItems, user_id: str) -> list[Any]:
    found, cursor = db.run(PERSONAL.page(items, user_id, None))
    read = list(found)
    while cursor is not None:
        found, cursor = db.run(PERSONAL.page(items, user_id, cursor))
        read += found
    return read


def _nothing(_: str) -> Procedure[int]:
    yield from ()
    return 0


@pytest.mark.req("X15")
class TestExport:
    def test_every_item_is_there_in_pages(self, db: Session) -> None:
        orders, invoices, profile = PERSONAL.items
        assert [order["number"] for order in pages(db, orders, "ann")] == list(range(120))
        assert {order["user_id"] for order in pages(db, orders, "ann")} == {"ann"}
        assert pages(db, invoices, "ann") == [Invoice(user_id="ann", number=1).model_dump(mode="json")]
        assert pages(db, profile, "ann") == [Profile(user_id="ann").model_dump(mode="json")]

    def test_parts_are_there_with_what_they_belong_to(self, db: Session) -> None:
        """Items with parts are read in pages, too; here, the orders of a user are the parts of the profile."""
        with_parts = PersonalItems(
            "profile", profile_of, erase=_nothing, parts={"orders": lambda one: orders_of(one.user_id)}
        )
        (found,) = pages(db, with_parts, "ann")
        assert [order["number"] for order in found["orders"]] == list(range(120))
        assert found["user_id"] == "ann"

    def test_parts_are_not_left_behind_by_a_batch(self) -> None:
        with pytest.raises(ModelError, match="would leave their parts"):
            PersonalData(
                PersonalItems("orders", orders_of, delete=delete_orders, parts={"all": lambda _: orders_of("a")})
            )

    def test_a_stranger_has_nothing(self, db: Session) -> None:
        assert [pages(db, items, "eve") for items in PERSONAL.items] == [[], [], []]


@pytest.mark.req("X15")
class TestErasure:
    def test_all_goes_but_what_stays_and_what_is_anothers(self, db: Session) -> None:
        erasure = db.run(PERSONAL.erase("ann"))
        assert (dict(erasure.erased), erasure.more) == ({"orders": 120, "profile": 1}, False)
        assert partitions(db) == {**BOBS, "USER#ann INVOICE": 1, "ERASED#ann METADATA": 1}
        assert PERSONAL.stays == {"invoices": KEPT}

    def test_it_is_bounded_and_goes_on(self, db: Session) -> None:
        erasures = [db.run(PERSONAL.erase("ann", limit=50)) for _ in range(3)]
        assert [sum(erasure.erased.values()) for erasure in erasures] == [50, 50, 21]
        assert [erasure.more for erasure in erasures] == [True, True, False]
        assert partitions(db) == {**BOBS, "USER#ann INVOICE": 1, "ERASED#ann METADATA": 1}

    def test_a_procedure_that_stops_early_is_called_again(self, db: Session) -> None:
        left = [2, 1]

        def forget_some(user_id: str) -> Procedure[Removal]:
            yield from profile_of(user_id)
            return Removal(left.pop(), more=bool(left))

        personal = PersonalData(PersonalItems("profile", profile_of, erase=forget_some), record=Erased)
        erasures = [db.run(personal.erase("ann")) for _ in range(2)]
        assert [(erasure.erased["profile"], erasure.more) for erasure in erasures] == [(1, True), (2, False)]

    def test_that_a_user_was_erased_is_written_when_it_is_done(self, db: Session, fake_clock: FakeClock) -> None:
        db.run(PERSONAL.erase("ann", limit=50))
        assert "ERASED#ann METADATA" not in partitions(db)
        db.run(PERSONAL.erase("ann"))
        (record,) = [i for i in db.store.execute(ScanTable("shop")).items if i["PK"] == "ERASED#ann"]
        now = int(fake_clock())
        assert (record["erased_at"], record["ttl"]) == (now, now + 30 * 86_400)

    @pytest.mark.parametrize("nth", [1, 2, 3, 6])
    def test_cut_off_anywhere_it_is_called_again(self, db: Session, store: FaultyStore, nth: int) -> None:
        store.crash_before(nth)
        with pytest.raises(Crash):
            db.run(PERSONAL.erase("ann"))
        db.run(PERSONAL.erase("ann"))
        assert partitions(db) == {**BOBS, "USER#ann INVOICE": 1, "ERASED#ann METADATA": 1}

    def test_twice_does_no_harm(self, db: Session) -> None:
        db.run(PERSONAL.erase("ann"))
        again = db.run(PERSONAL.erase("ann"))
        assert (dict(again.erased), again.more) == ({"orders": 0, "profile": 0}, False)

    def test_a_lake_finds_the_rows_by_their_owner(self) -> None:
        assert PERSONAL.owners == {"Order": "user_id", "Profile": "user_id"}


class TestDeclaring:
    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ({}, "are they erased, or why are they kept"),
            ({"delete": delete_orders, "stays": "because"}, "are they erased, or why are they kept"),
            ({"delete": delete_orders, "owner": "nobody"}, "no field 'nobody'"),
        ],
    )
    def test_it_must_be_said_how_items_go(self, given: dict[str, Any], message: str) -> None:
        with pytest.raises(ModelError, match=message):
            PersonalData(PersonalItems("orders", orders_of, **given))

    def test_one_item_is_not_deleted_by_a_batch(self) -> None:
        with pytest.raises(ModelError, match="delete=… cannot erase"):
            PersonalData(PersonalItems("profile", profile_of, delete=delete_orders))

    def test_two_kinds_have_two_names(self) -> None:
        items = PersonalItems("orders", orders_of, delete=delete_orders)
        with pytest.raises(ModelError, match="the same name"):
            PersonalData(items, items)

    def test_another_entity_must_name_its_user(self) -> None:
        class Nobodys(Entity, table=Table("nobodys", registry=Registry())):
            primary: ClassVar = Key("NOBODY#{number}", "X")
            number: int

        items = PersonalItems("profile", profile_of, erase=forget_profile, also=(Nobodys,))
        with pytest.raises(ModelError, match="which identifies its user"):
            PersonalData(items).owners  # noqa: B018 - it raises

    def test_the_record_is_found_by_the_user_and_expires(self) -> None:
        class Wrong(ErasureRecord, table=Table("wrong", ttl="ttl", registry=Registry())):
            primary: ClassVar = Key("ERASED#{erased_at}", "{user_id}")

        class Kept(ErasureRecord, table=Table("kept", registry=Registry())):
            primary: ClassVar = Key("ERASED#{user_id}", "X")

        with pytest.raises(ModelError, match="the user's id alone"):
            PersonalData(record=Wrong)
        with pytest.raises(ModelError, match="never expire"):
            PersonalData(record=Kept)


def test_it_says_what_remains_and_until_when() -> None:
    remains = PERSONAL.remains(0.0)
    assert remains["backups"].startswith("those made before 1970-01-01T00:00:00Z")
    assert ("change stream" in remains) is (TABLE.schema.stream is not None)
    streaming = Table("streaming", stream="NEW_AND_OLD_IMAGES", registry=Registry())

    class Note(Entity, table=streaming):
        primary: ClassVar = Key("USER#{user_id}", "NOTE")
        user_id: str

    @get(Note)
    def note_of(user_id: str) -> None:
        """A user's note."""

    def forget(user_id: str) -> Procedure[int]:
        return int((yield from delete(note_of(user_id))) is not None)

    told = PersonalData(PersonalItems("notes", note_of, erase=forget), queues=False).remains(0.0)
    assert told["change stream"] == "old images, until 1970-01-02T00:00:00Z"
    assert told["continuous backups"] == "if they are on: earlier items, until 1970-02-05T00:00:00Z at the latest"
    assert "queues" not in told
    kept = PersonalData(PersonalItems("notes", note_of, stays="because")).remains(0.0)
    assert {"change stream", "lakes"}.isdisjoint(kept)
    assert told["lakes"] == "forever, because no record notifies them"
