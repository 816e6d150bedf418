"""Encrypted fields: the store never sees them, sessions with keys read them, and they cannot be moved or altered."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.encryption.sample import ADA, PEOPLE, Card, FixedKeys, Old, Person, old, people_in, person

from partita import (
    AsyncSession,
    EmbeddedStore,
    Put,
    Session,
    Wcu,
    batch_get,
    batch_write,
    delete,
    explain,
    f,
    insert,
    pattern,
    put,
    transact_get,
    update,
    upsert,
)
from partita.encryption import FieldKeys
from partita.errors import (
    AlreadyExists,
    FieldSealed,
    StoreUnavailable,
    TransactionCancelled,
    ValidationFailed,
    VersionConflict,
)
from partita.model import schema_of
from partita.operations import scan, scan_items
from partita.store import BatchWriteItem, PutItem
from partita.testing import FakeClock, FaultyStore, assert_budget
from partita.values import item_size

SECRETS = (b"DE02", b"4111", b"vip", b"dear")


@pytest.fixture
def keys() -> FixedKeys:
    return FixedKeys()


@pytest.fixture
def db(partita_store: EmbeddedStore, keys: FixedKeys, fake_clock: FakeClock) -> Session:
    session = Session(partita_store, keys=keys, clock=fake_clock)
    session.create_tables([PEOPLE])
    return session


@pytest.fixture
def plain(partita_store: EmbeddedStore, db: Session) -> Session:
    """A session without keys."""
    return Session(partita_store)


def stored(plain: Session) -> dict[str, Any]:
    (item,) = plain.maintenance("look").run(scan_items(PEOPLE))
    return item


@pattern(budget=Wcu(2))
def add_person(who: Person) -> Put[Person]:
    """Add a person."""
    return insert(who)


# --- what is stored, and what is read ---


def test_the_store_never_sees_a_secret(db: Session, plain: Session) -> None:
    saved = db.run(insert(ADA))
    item = stored(plain)
    for name in ("iban", "card", "tags", "letters"):
        assert item[name].startswith(b"\x00PE1")
        assert not any(secret in item[name] for secret in SECRETS)
    assert db.run(person("ada")) == saved == ADA.model_copy(update={"version": 1})


def test_every_way_of_reading_opens(db: Session) -> None:
    saved = db.run(insert(ADA))
    assert db.run(people_in("Rome")).items == (saved,)
    assert db.run(people_in("Rome").first()) == saved
    assert list(db.stream(people_in("Rome"), max_items=9)) == [saved]
    assert db.run(batch_get([person("ada"), person("none")])) == (saved, None)
    assert db.run(transact_get(person("ada"), old("none"))) == (saved, None)
    assert db.maintenance("look").run(scan(Person)).items == (saved,)
    assert db.run(delete(saved)) == saved


def test_every_way_of_writing_seals(db: Session, plain: Session) -> None:
    db.run(batch_write([put(Old(name="b", pin="1234"))]))
    db.transact(put(Old(name="c", pin="1234")), update(old("b"), f(Old.pin).set("9999")))
    db.run(upsert(old("d"), f(Old.pin).set("1234")))
    db.run(upsert(old("e"), f(Old.pin).set_if_missing("1234")))
    pins = [item["pin"] for item in plain.maintenance("look").run(scan_items(PEOPLE))]
    assert len(pins) == 4
    assert all(pin.startswith(b"\x00PE1") for pin in pins)
    assert [db.run(old(name)) for name in "bcde"] == [
        Old(name=name, pin="9999" if name == "b" else "1234") for name in "bcde"
    ]


def test_changes_and_images(db: Session) -> None:
    saved = db.run(insert(ADA))
    images = db.run(update(saved, f(Person.iban).set("FR14"), f(Person.card).set(Card(number="5"))).images())
    assert (images.old, images.new.iban, images.new.card) == (saved, "FR14", Card(number="5"))
    assert db.run(person("ada")) == images.new
    gone = db.run(update(images.new, f(Person.iban).set(None)))
    assert gone.iban is None


def test_an_error_shows_the_item_opened(db: Session) -> None:
    saved = db.run(insert(ADA))
    with pytest.raises(AlreadyExists) as exists:
        db.run(insert(ADA))
    assert exists.value.current == saved
    db.run(update(saved, f(Person.city).set("Bern")))
    with pytest.raises(VersionConflict) as conflict:
        db.run(update(saved, f(Person.city).set("Graz")))
    assert conflict.value.current.iban == ADA.iban
    with pytest.raises(TransactionCancelled) as cancelled:
        db.transact(insert(ADA))
    assert cancelled.value.reasons[0].error is not None
    assert cancelled.value.reasons[0].error.current.card == ADA.card


def test_what_a_batch_leaves_is_named_as_it_was_given(partita_store: EmbeddedStore, db: Session) -> None:
    store = FaultyStore(partita_store)
    clock = FakeClock()
    session = Session(store, keys=FixedKeys(), sleep=clock.advance)
    store.unprocessed(1, count=1)
    session.run(batch_write([put(Old(name="a", pin="1")), put(Old(name="b", pin="2"))]))
    assert [len(each.writes) for each in store.requests if isinstance(each, BatchWriteItem)] == [2, 1]
    assert session.run(old("b")) == Old(name="b", pin="2")


# --- without keys, with other keys, in another place ---


def test_without_keys_nothing_is_written_or_read(db: Session, plain: Session) -> None:
    with pytest.raises(ValidationFailed, match="An encrypted field would be stored as plain text"):
        plain.run(insert(ADA))
    db.run(insert(ADA))
    with pytest.raises(FieldSealed, match=r"Person\.iban is encrypted, and there are no keys"):
        plain.run(person("ada"))
    assert plain.run(people_in("Rome").skipping_invalid()).items == ()


def test_other_keys_do_not_open(partita_store: EmbeddedStore, db: Session) -> None:
    db.run(insert(ADA))
    stranger = Session(partita_store, keys=FixedKeys(b"two"))
    with pytest.raises(FieldSealed, match=r"Person\.iban cannot be opened: There is no key 'one'"):
        stranger.run(person("ada"))


def test_a_sealed_value_opens_nowhere_else(db: Session, plain: Session) -> None:
    """It does not open in another item, in another attribute of the same item, or after it was altered or truncated."""
    db.run(insert(ADA))
    item = stored(plain)
    flipped = item["iban"][:-1] + bytes([item["iban"][-1] ^ 1])
    for moved in (
        {**item, "PK": "PERSON#eve", "name": "eve"},
        {**item, "iban": item["card"]},
        {**item, "iban": flipped},
        {**item, "iban": item["iban"][:20]},
    ):
        plain.store.execute(PutItem("people", moved))
        with pytest.raises(FieldSealed, match="cannot be opened"):
            db.run(person(moved["name"]))


def test_plain_text_in_the_place_of_a_secret_is_refused(db: Session, plain: Session) -> None:
    db.run(insert(ADA))
    plain.store.execute(PutItem("people", {**stored(plain), "iban": "DE99"}))
    with pytest.raises(FieldSealed, match="should be encrypted, but is stored as plain text"):
        db.run(person("ada"))


def test_items_from_before_are_read_where_that_was_said(db: Session, plain: Session) -> None:
    plain.store.execute(PutItem("people", {"PK": "OLD#a", "SK": "OLD", "name": "a", "pin": "1234"}))
    found = db.run(old("a"))
    assert found == Old(name="a", pin="1234")
    db.run(put(found))
    assert stored(plain)["pin"].startswith(b"\x00PE1")
    assert db.run(old("a")) == found


# --- data keys ---


def test_one_data_key_serves_for_an_hour(db: Session, keys: FixedKeys, fake_clock: FakeClock) -> None:
    db.run(insert(ADA))
    db.run(put(Old(name="a", pin="1")))
    db.run(person("ada"))
    assert keys.calls == ["new"]
    fake_clock.advance(3_601)
    db.run(put(Old(name="a", pin="2")))
    assert keys.calls == ["new", "new"]


def test_a_data_key_is_unwrapped_once(partita_store: EmbeddedStore, db: Session) -> None:
    db.run(insert(ADA))
    keys = FixedKeys()
    other = Session(partita_store, keys=keys)
    for _ in range(3):
        other.run(person("ada"))
    assert keys.calls == ["unwrap"]


def test_the_same_value_is_sealed_the_same(db: Session, plain: Session) -> None:
    """Otherwise writing an item again would be a change, and a transaction with a token could not be sent again."""
    saved = db.run(put(Old(name="a", pin="1")))
    before = stored(plain)
    db.run(put(saved))
    assert stored(plain) == before
    for _ in range(2):
        db.transact(put(Old(name="a", pin="2")), token="once")


def test_keys_that_cannot_be_had_are_an_error(partita_store: EmbeddedStore, db: Session) -> None:
    class Away(FixedKeys):
        def unwrap(self, wrapped: bytes) -> bytes:  # noqa: ARG002 - no key can be unwrapped
            raise StoreUnavailable("The keys cannot be reached.")

    db.run(insert(ADA))
    with pytest.raises(StoreUnavailable):
        Session(partita_store, keys=Away()).run(person("ada"))


def test_async_sessions_ask_for_keys_in_a_thread(partita_store: EmbeddedStore, db: Session) -> None:
    async def write_and_read() -> Person | None:
        adb = AsyncSession(partita_store, keys=FixedKeys())
        await adb.run(insert(ADA))
        return await adb.run(person("ada"))

    assert asyncio.run(write_and_read()) == ADA.model_copy(update={"version": 1})


# --- sizes and budgets ---


def test_sizes_and_budgets_count_what_is_stored(db: Session, plain: Session) -> None:
    assert_budget(db, add_person(ADA))
    explained = explain(insert(ADA))
    item = stored(plain)
    assert explained.predicted == Wcu(2)  # one for the item, one for its index
    big = Old(name="big", pin="x" * 2_000)
    assert explain(put(big)).predicted == Wcu(3)
    db.run(put(big))
    sealed = next(each for each in plain.maintenance("look").run(scan_items(PEOPLE)) if each["name"] == "big")
    assert 2_048 < item_size(sealed) < 3 * 1_024
    assert item_size(item) < 1_024, "the story of 1,800 bytes and the letters are compressed"


def test_explaining_shows_no_secret() -> None:
    assert not any(secret.decode() in str(explain(insert(ADA))) for secret in SECRETS)
    assert "DE02" not in repr(schema_of(Person).item(ADA)["iban"])


def test_a_change_is_opened_by_who_has_the_keys(db: Session, plain: Session, fake_clock: FakeClock) -> None:
    from partita.change import ItemChange
    from partita.store import DescribeStream, ReadStream

    saved = db.run(insert(ADA))
    (shard,) = plain.store.execute(DescribeStream("people")).shards
    (record,) = plain.store.execute(ReadStream("people", shard.id)).records
    change = ItemChange(PEOPLE, record, shard.id)
    with pytest.raises(FieldSealed):
        _ = change.new
    assert change.problem is not None
    assert change.new_item is not None
    assert change.new_item["iban"].startswith(b"\x00PE1")
    assert change.opened_by(FieldKeys(FixedKeys(), fake_clock)).new == saved
    assert change.opened_by(FieldKeys(FixedKeys(b"two"), fake_clock)).problem is not None


@pytest.mark.parametrize("held", [None, b"two"], ids=["no keys", "other keys"])
def test_a_projection_stops_at_changes_that_it_does_not_open(
    db: Session, plain: Session, fake_clock: FakeClock, tmp_path: Path, held: bytes | None
) -> None:
    """Otherwise it would set aside every change, and be empty. A value that its keys cannot open is set aside."""
    from partita.change import Consumer, ItemChange, SqliteProjection

    def apply(_: apsw.Connection, change: ItemChange) -> None:
        opened = change if held is None else change.opened_by(FieldKeys(FixedKeys(held), fake_clock))
        assert opened.new is not None

    db.run(insert(ADA))
    projection = SqliteProjection(tmp_path / "names.db", tables="CREATE TABLE names (name TEXT)", apply=apply)
    consumer = Consumer(plain.store, PEOPLE, projection)
    if held is None:
        with pytest.raises(FieldSealed, match="opened_by"):
            consumer.catch_up()
    else:
        consumer.catch_up()
    assert len(projection.set_aside()) == (0 if held is None else 1)
    projection.close()


def test_who_has_no_keys_can_read_the_rest(db: Session, plain: Session) -> None:
    db.run(insert(ADA))
    shown = schema_of(Person).without_secrets(stored(plain))
    assert (shown.name, shown.story, shown.iban, shown.tags) == ("ada", ADA.story, None, None)  # type: ignore[attr-defined]


def test_a_sealed_value_opens_in_no_other_table(db: Session, plain: Session, fake_clock: FakeClock) -> None:
    db.run(insert(ADA))
    keys, item = FieldKeys(FixedKeys(), fake_clock), stored(plain)
    assert schema_of(Person).entity(keys.open_item("people", item)).iban == ADA.iban
    with pytest.raises(FieldSealed, match="sealed for another item, attribute or table"):
        schema_of(Person).entity(keys.open_item("others", item))
