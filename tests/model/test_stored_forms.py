"""Compressed and encrypted fields: their stored form, and the declarations that are refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from tests.model.sample import steady

from partita import (
    Compressed,
    Encrypted,
    Entity,
    Index,
    Key,
    Rcu,
    Registry,
    Session,
    Table,
    Version,
    Wcu,
    explain,
    f,
    get,
    insert,
    put,
    query,
    update,
    upsert,
)
from partita.errors import InvalidItem, ModelError, OperationError
from partita.model import schema_of
from partita.operations import scan_items
from partita.store import PutItem
from partita.values import item_size

TABLE = Table("forms", indexes=[Index("GSI1")], ttl="expires_at", registry=Registry())


class Part(BaseModel):
    name: str
    day: date | None = None


class Page(Entity, table=TABLE):
    primary: ClassVar = Key("PAGE#{name}", "PAGE")
    by_state: ClassVar = Key("STATE#{state}", "PAGE#{name}", index="GSI1")

    name: str
    state: str = "draft"
    body: Compressed[str] = ""
    parts: Compressed[list[Part]] = Field(default_factory=list)
    raw: Compressed[bytes | None] = None
    table: Compressed[dict[str, Decimal]] = Field(default_factory=dict)
    secret: Encrypted[str | None] = None
    version: Version = 0


class Excerpt(BaseModel):
    """A view that declares the body as a plain string, without its stored form."""

    name: str
    body: str


@get(Page)
def page(name: str) -> None:
    """One page."""


@query(Page, Page.by_state, view=Excerpt, budget=Rcu(1))
def excerpts(state: str) -> None:
    """The bodies of pages in one state."""


@pytest.fixture
def db(partita_db: Session) -> Session:
    partita_db.create_tables([TABLE])
    return partita_db


def stored(db: Session) -> dict[str, Any]:
    (item,) = db.maintenance("look").run(scan_items(TABLE))
    return item


def test_a_large_field_is_stored_small_and_read_whole(db: Session) -> None:
    long = Page(name="p", body="All work and no play. " * 2_000, parts=[Part(name="a", day=date(2026, 1, 1))] * 200)
    saved = db.run(insert(long))
    item = stored(db)
    assert len(item["body"]) < 400
    assert len(item["parts"]) < 400
    assert db.run(page("p")) == saved
    assert db.run(excerpts("draft")).items == (Excerpt(name="p", body=long.body),)
    assert explain(put(saved)).predicted == Wcu(2)


def test_a_small_field_stays_as_it_is(db: Session) -> None:
    saved = db.run(insert(Page(name="p", body="short", parts=[Part(name="a")])))
    assert (stored(db)["body"], db.run(page("p"))) == ("short", saved)
    assert item_size(schema_of(Page).item(saved)) < 200


values = st.builds(
    Page,
    name=st.just("p"),
    body=st.text(max_size=300),
    parts=st.lists(st.builds(Part, name=st.text(max_size=5), day=st.none() | st.dates()), max_size=20),
    raw=st.none() | st.binary(max_size=100) | st.just(b"\x00PZ1"),
    table=st.dictionaries(st.text(min_size=1, max_size=3), st.decimals(-9, 9, places=2), max_size=5),
)


@steady
@given(values)
def test_whatever_is_compressed_reads_back(value: Page) -> None:
    schema = schema_of(Page)
    assert schema.entity(schema.item(value)) == value


def test_a_compressed_field_is_changed_as_a_whole(db: Session) -> None:
    saved = db.run(insert(Page(name="p")))
    changed = db.run(update(saved, f(Page.body).set("x" * 5_000), f(Page.parts).set([Part(name="a")])))
    assert (len(stored(db)["body"]) < 100, changed.body) == (True, "x" * 5_000)
    assert db.run(upsert(page("p"), f(Page.raw).set_if_missing(b"abc"))).raw == b"abc"
    assert db.run(update(page("p"), f(Page.raw).remove())).raw is None
    assert saved.with_changes(f(Page.body).set("y" * 500)).body == "y" * 500


def test_an_item_from_before_the_field_was_compressed_is_read(db: Session) -> None:
    db.store.execute(PutItem("forms", {"PK": "PAGE#p", "SK": "PAGE", "name": "p", "body": "plain", "raw": b"plain"}))
    assert db.run(page("p")) == Page(name="p", body="plain", raw=b"plain")


@pytest.mark.parametrize("damaged", [b"\x00PZ1", b"\x00PZ1garbage", b"\x00PZ1\x78\x9c\x03"])
def test_a_damaged_field_is_named(db: Session, damaged: bytes) -> None:
    db.store.execute(PutItem("forms", {"PK": "PAGE#p", "SK": "PAGE", "name": "p", "body": damaged}))
    with pytest.raises(InvalidItem, match=r"Page\.body cannot be decompressed"):
        db.run(page("p"))


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (lambda: put(Page(name="p")).when(f(Page.body).eq("x")), "body is compressed"),
        (lambda: put(Page(name="p")).when(f(Page.secret).begins_with("x")), "secret is encrypted"),
        (lambda: excerpts("draft").where(f(Page.parts).size().gt(3)), "parts is compressed"),
        (lambda: update(page("p"), f(Page.parts).append([Part(name="a")])), "parts is compressed"),
        (lambda: update(page("p"), f(Page.parts[0]).remove()), "parts is compressed"),
        (lambda: update(page("p"), f(Page.state).set(f(Page.body))), "body is compressed"),
        (lambda: update(page("p"), f(Page.state).set(f(Page.body).or_default("x"))), "body is compressed"),
        (lambda: upsert(page("p"), f(Page.body).set(f(Page.state))), "body is compressed"),
    ],
)
def test_the_store_cannot_look_into_such_a_field(made: Callable[[], Any], name: str) -> None:
    with pytest.raises(OperationError, match=f"Page.{name}"):
        made()


def test_whether_there_is_a_value_may_be_asked() -> None:
    put(Page(name="p")).when(f(Page.secret).exists())
    excerpts("draft").where(f(Page.raw).missing())


def test_a_key_cannot_be_made_of_it() -> None:
    with pytest.raises(ModelError, match=r"compressed or encrypted, so it cannot be in the key Made\.by_mail"):

        class Made(Entity, table=Table("declared", indexes=[Index("GSI1")], registry=Registry())):
            primary: ClassVar = Key("X#{name}", "X")
            by_mail: ClassVar = Key("MAIL#{mail}", "X#{name}", index="GSI1")
            name: str
            mail: Encrypted[str]

    with pytest.raises(ModelError, match=r"so it cannot be in the key Long\.by_text"):

        class Long(Entity, table=Table("declared", indexes=[Index("GSI1")], registry=Registry())):
            primary: ClassVar = Key("X#{name}", "X")
            by_text: ClassVar = Key("TEXT#{text}", "X#{name}", index="GSI1")
            name: str
            text: Compressed[str]


def test_nor_the_primary_key_nor_the_ttl() -> None:
    with pytest.raises(ModelError, match=r"cannot be in the key Made\.primary"):

        class Made(Entity, table=Table("declared", registry=Registry())):
            primary: ClassVar = Key("X#{name}", "X")
            name: Encrypted[str]

    with pytest.raises(ModelError, match="is read by the store"):

        class Gone(Entity, table=Table("declared", ttl="expires_at", registry=Registry())):
            primary: ClassVar = Key("X#{name}", "X")
            name: str
            expires_at: Encrypted[datetime] = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_part_of_a_field_cannot_be_marked() -> None:
    with pytest.raises(ModelError, match="only a whole field") as caught:

        class Made(Entity, table=Table("declared", registry=Registry())):
            primary: ClassVar = Key("X#{name}", "X")
            name: str
            secret: Encrypted[str] | None = None

    assert "Encrypted[str | None]" in str(caught.value)
