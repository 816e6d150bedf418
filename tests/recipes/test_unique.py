"""Unique fields: no two entities have the same value, in every order of concurrent writers and with crashes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.recipes.interleaving import CRASHED, empty_db, every_schedule, play

from partita import Entity, Key, Rcu, Registry, Session, Table, Version, delete, f, get, update
from partita.errors import AlreadyExists, InvalidKey, ItemMissing, ModelError, UniqueTaken, VersionConflict
from partita.operations import scan
from partita.recipes.unique import Claim, Unique, UniqueFields

TABLES = Registry()
TABLE = Table("people", registry=TABLES)


class Person(Entity, table=TABLE):
    primary: ClassVar = Key("PERSON#{person_id}", "PROFILE")

    person_id: str
    email: str
    nickname: str | None = None
    age: int = 0
    version: Version = 0


class UniqueClaim(Claim, table=TABLE):
    primary: ClassVar = Key("UNIQUE#{field}#{value}", "CLAIM")


@get(UniqueClaim, budget=Rcu(0.5))
def claim_on(field: str, value: str) -> None:
    """The claim on a value."""


@get(Person)
def person_by_id(person_id: str) -> None:
    """One person."""


EMAIL = Unique(claim_on, Person, f(Person.email), owner=f(Person.person_id), fold=str.casefold)
NICKNAME = Unique(claim_on, Person, f(Person.nickname), owner=f(Person.person_id))
PEOPLE = UniqueFields(EMAIL, NICKNAME)


@pytest.fixture
def db() -> Iterator[Session]:
    with empty_db(TABLES) as session:
        yield session


def ada(**fields: Any) -> Person:
    return Person(**{"person_id": "ada", "email": "ada@example.com", **fields})


def test_an_insert_takes_the_values_and_names_their_owner(db: Session) -> None:
    db.run(PEOPLE.insert(ada(nickname="countess")).run())
    assert db.run(EMAIL.claim("ADA@example.com")) == UniqueClaim(field="email", value="ada@example.com", owner="ada")
    assert db.run(NICKNAME.claim("countess")) == UniqueClaim(field="nickname", value="countess", owner="ada")


def test_a_taken_value_says_which_field_and_whose_and_nothing_is_written(db: Session) -> None:
    db.run(PEOPLE.insert(ada()).run())
    with pytest.raises(UniqueTaken) as refused:
        db.run(PEOPLE.insert(Person(person_id="eve", email="Ada@Example.com", nickname="e")).run())
    assert (refused.value.field, refused.value.value, refused.value.owner) == ("email", "ada@example.com", "ada")
    assert str(refused.value) == "The email 'ada@example.com' is taken. Choose another value."
    assert db.run(person_by_id("eve")) is None
    assert db.run(NICKNAME.claim("e")) is None


def test_a_second_insert_of_the_same_entity_is_refused_as_such(db: Session) -> None:
    db.run(PEOPLE.insert(ada()).run())
    with pytest.raises(AlreadyExists) as refused:
        db.run(PEOPLE.insert(ada(email="other@example.com")).run())
    assert refused.value.code == "already_exists"


def test_a_rename_frees_the_old_value_for_others(db: Session) -> None:
    first = db.run(PEOPLE.insert(ada()).run())
    renamed = db.run(PEOPLE.update(first, f(Person.email).set("lovelace@example.com")).run())
    assert db.run(person_by_id("ada")) == renamed
    eve = db.run(PEOPLE.insert(Person(person_id="eve", email="ada@example.com")).run())
    assert claims(db)["ada@example.com"] == "eve"
    with pytest.raises(UniqueTaken):
        db.run(PEOPLE.update(eve, f(Person.email).set("lovelace@example.com")).run())


def test_a_change_of_case_alone_keeps_the_claim(db: Session) -> None:
    first = db.run(PEOPLE.insert(ada()).run())
    assert len(PEOPLE.update(first, f(Person.email).set("Ada@Example.com")).actions) == 1


def test_a_value_that_is_removed_becomes_free_and_none_is_never_claimed(db: Session) -> None:
    first = db.run(PEOPLE.insert(ada(nickname="countess")).run())
    db.run(PEOPLE.update(first, f(Person.nickname).set(None)).run())
    assert db.run(NICKNAME.claim("countess")) is None
    db.run(PEOPLE.insert(Person(person_id="eve", email="eve@example.com")).run())


def test_a_delete_frees_all_values(db: Session) -> None:
    first = db.run(PEOPLE.insert(ada(nickname="countess")).run())
    db.run(PEOPLE.delete(first).run())
    assert len(db.maintenance("count").run(scan(UniqueClaim).page(10))) == 0


def test_a_change_from_an_outdated_copy_is_a_conflict(db: Session) -> None:
    first = db.run(PEOPLE.insert(ada()).run())
    later = db.run(PEOPLE.update(first, f(Person.email).set("lovelace@example.com")).run())
    for outdated in (PEOPLE.update(first, f(Person.email).set("third@example.com")), PEOPLE.delete(first)):
        with pytest.raises(VersionConflict):
            db.run(outdated.run())
    assert db.run(person_by_id("ada")) == later


def test_a_release_notices_that_the_claim_is_anothers(db: Session) -> None:
    first = db.run(PEOPLE.insert(ada()).run())
    db.run(update(claim_on("email", "ada@example.com"), f(UniqueClaim.owner).set("eve")))
    with pytest.raises(VersionConflict, match=r"The email is no longer 'ada@example\.com'"):
        db.run(PEOPLE.delete(first).run())


def test_a_change_of_what_was_deleted_is_refused(db: Session) -> None:
    first = db.run(PEOPLE.insert(ada()).run())
    db.run(delete(first))
    with pytest.raises(ItemMissing):
        db.run(PEOPLE.update(first, f(Person.age).set(36)).run())


def test_an_empty_value_is_refused(db: Session) -> None:
    with pytest.raises(InvalidKey):
        PEOPLE.insert(ada(email=""))


def test_what_it_costs_is_what_the_page_says(db: Session) -> None:
    with db.meter.watch() as seen:
        first = db.run(PEOPLE.insert(ada()).run())
        same = db.run(PEOPLE.update(first, f(Person.age).set(36)).run())
        renamed = db.run(PEOPLE.update(same, f(Person.email).set("lovelace@example.com")).run())
        db.run(PEOPLE.delete(renamed).run())
        db.run(EMAIL.claim("ada@example.com"))
    assert [(run.read, run.write) for run in seen] == [(0, 4), (0, 1), (0, 6), (0, 4), (0.5, 0)]


class Unversioned(Entity, table=TABLE):
    primary: ClassVar = Key("UNVERSIONED#{person_id}", "PROFILE")

    person_id: str
    email: str


class Misplaced(Claim, table=TABLE):
    primary: ClassVar = Key("MISPLACED#{field}#{value}", "{owner_name}")

    owner_name: str = "x"


@get(Misplaced)
def misplaced(field: str, value: str, owner_name: str = "x") -> None:
    """A claim whose key needs more than its field and value."""


def test_a_wrong_declaration_is_refused_when_it_is_made() -> None:
    with pytest.raises(ModelError, match="has no version"):
        UniqueFields(Unique(claim_on, Unversioned, f(Unversioned.email), owner=f(Unversioned.person_id)))
    with pytest.raises(ModelError, match="could change"):
        Unique(claim_on, Person, f(Person.email), owner=f(Person.email))
    with pytest.raises(ModelError, match="has no field"):
        Unique(claim_on, Unversioned, f(Person.nickname), owner=f(Unversioned.person_id))
    with pytest.raises(ModelError, match="not a Claim with a key of field and value"):
        Unique(misplaced, Person, f(Person.email), owner=f(Person.person_id))


def holders(db: Session) -> dict[str, str]:
    """Return the person of each address, read from the people; check that no two people have the same address."""
    people = db.maintenance("compare").run(scan(Person).page(100)).items
    found = {person.email.casefold(): person.person_id for person in people}
    assert len(found) == len(people), "two people have one address"
    return found


def claims(db: Session) -> dict[str, str]:
    found = db.maintenance("compare").run(scan(UniqueClaim).page(100)).items
    return {claim.value: str(claim.owner) for claim in found if claim.field == "email"}


def test_every_order_and_crash_of_three_writers_keeps_claims_and_people_consistent() -> None:
    schedules = 0
    for choose in every_schedule():
        with empty_db(TABLES) as db:
            first = db.run(PEOPLE.insert(ada()).run())
            results = play(
                db,
                [
                    PEOPLE.update(first, f(Person.email).set("new@example.com")).run(),
                    PEOPLE.insert(Person(person_id="eve", email="new@example.com")).run(),
                    PEOPLE.delete(first).run(),
                ],
                choose,
                crashes=1,
            )
            assert claims(db) == holders(db)
            assert {type(result) for result in results} <= {Person, UniqueTaken, VersionConflict, ItemMissing, str}
            assert results.count(CRASHED) <= 1
        schedules += 1
    assert schedules > 6


moves = st.lists(
    st.tuples(
        st.sampled_from(["insert", "rename", "delete"]),
        st.sampled_from(["ada", "eve", "bob"]),
        st.sampled_from(["x@a", "X@a", "y@a", "z@a"]),
    ),
    max_size=15,
)


@settings(max_examples=60, deadline=None)
@given(moves)
def test_random_changes_keep_claims_and_people_consistent(changes: list[tuple[str, str, str]]) -> None:
    with empty_db(TABLES) as db:
        for change, person_id, email in changes:
            stored = db.run(person_by_id(person_id))
            taken = holders(db).get(email.casefold(), person_id) != person_id
            try:
                if change == "insert":
                    db.run(PEOPLE.insert(Person(person_id=person_id, email=email)).run())
                elif stored is not None and change == "rename":
                    db.run(PEOPLE.update(stored, f(Person.email).set(email)).run())
                elif stored is not None:
                    db.run(PEOPLE.delete(stored).run())
            except UniqueTaken:
                assert taken
            except AlreadyExists:
                assert stored is not None
            assert claims(db) == holders(db)
