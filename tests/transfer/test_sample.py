"""Small copies for development: whole partitions, and masks that keep related values equal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.transfer.support import OUTSIDE, contents, fill

from partita import EmbeddedStore, Entity, Key, Registry, Session, Table, get, put
from partita.errors import CopyRefused
from partita.recipes.personal import PersonalData, PersonalItems
from partita.service import Service
from partita.store import PutItem, ScanTable
from partita.transfer import Mask, PersonalMask, Sample, Side, copy_sample

TABLE = Table("people", registry=Registry())


class Person(Entity, table=TABLE):
    """A person."""

    primary: ClassVar = Key("USER#{user_id}", "PROFILE")

    user_id: str
    email: str
    points: int


class Address(Entity, table=TABLE):
    """The owner of an email address."""

    primary: ClassVar = Key("EMAIL#{email}", "CLAIM")

    email: str
    user_id: str


@get(Person)
def person_of(user_id: str) -> None:
    """A person by id."""


PERSONAL = PersonalData(
    PersonalItems("profile", person_of, stays="for the test", fields=("email",), also=(Address,)),
)
SERVICE: Service = Service("people", "People", "Somebody.", (TABLE,), personal=PERSONAL)


@pytest.fixture
def source(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(tmp_path / "source.db", durable=False) as store:
        yield store


@pytest.fixture
def target(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(tmp_path / "target.db", durable=False) as store:
        yield store


def sampled(
    source: EmbeddedStore, target: EmbeddedStore, *tables: str, count: int = 3, mask: bool = False
) -> list[Sample]:
    masks = PersonalMask([SERVICE], b"secret") if mask else None
    return copy_sample(Side(source), Side(target), tables, count, mask=masks, outside=OUTSIDE)


def test_partitions_are_copied_whole(source: EmbeddedStore, target: EmbeddedStore) -> None:
    fill(source, 120)
    (sample,) = sampled(source, target, "orders")
    found = contents(target)
    customers = {customer for customer, _ in found}
    assert (len(customers), sample.partitions, sample.items) == (3, 3, len(found))
    assert found == {key: item for key, item in contents(source).items() if key[0] in customers}


def test_a_target_that_is_not_empty_is_refused(source: EmbeddedStore, target: EmbeddedStore) -> None:
    fill(source, 5)
    fill(target, 1)
    with pytest.raises(CopyRefused, match="is not empty"):
        sampled(source, target, "orders")


def test_personal_fields_and_the_keys_made_from_them_are_masked(source: EmbeddedStore, target: EmbeddedStore) -> None:
    db = Session(source)
    db.create_tables([TABLE])
    for number in range(20):
        email = f"ann{number}@example.org"
        db.run(put(Person(user_id=f"user-{number}", email=email, points=number)))
        db.run(put(Address(email=email, user_id=f"user-{number}")))
    source.execute(PutItem("people", {"PK": "SOMETHING", "SK": "ELSE", "email": "ann@example.org"}))
    (sample,) = sampled(source, target, "people", count=1_000, mask=True)
    assert (sample.items, sample.left_out) == (40, 1)
    items = target.execute(ScanTable("people")).items
    assert "example" not in repr(items)
    assert not {f"USER#user-{number}" for number in range(20)} & {item["PK"] for item in items}
    people = {item["user_id"]: item for item in items if item["SK"] == "PROFILE"}
    claims = {item["email"]: item for item in items if item["SK"] == "CLAIM"}
    assert sorted(person["points"] for person in people.values()) == list(range(20))
    for person in people.values():
        assert person["PK"] == f"USER#{person['user_id']}"
        assert claims[person["email"]]["user_id"] == person["user_id"]
        assert claims[person["email"]]["PK"] == f"EMAIL#{person['email']}"


@given(st.text(st.characters(codec="ascii"), max_size=12))
def test_a_mask_keeps_the_shape_and_is_always_the_same(text: str) -> None:
    masked = Mask(b"secret")(text)
    assert masked == Mask(b"secret")(text)
    assert len(masked) == len(text)
    for one, other in zip(text, masked, strict=True):
        assert (one.islower(), one.isupper(), one.isdigit()) == (other.islower(), other.isupper(), other.isdigit())
        assert one.isalnum() or one == other


def test_no_two_values_of_one_shape_become_one() -> None:
    mask = Mask(b"secret")
    texts = [f"u{number:03}" for number in range(1_000)]
    assert len({mask(text) for text in texts}) == 1_000
    assert mask("user-1") != Mask(b"other")("user-1")


def test_a_mask_goes_into_lists_and_maps() -> None:
    mask = Mask(b"secret")
    assert mask({"a": ["ann", 5, None]}) == {"a": [mask("ann"), 5, None]}
