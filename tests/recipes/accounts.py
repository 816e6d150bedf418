"""Versioned accounts in three generations of one program, shared by the tests of several recipes."""

from __future__ import annotations

from typing import Any, ClassVar

from partita import Entity, Get, Index, Key, Rcu, Registry, Session, Table, get
from partita.recipes.versioned._migrations import Migrations
from partita.recipes.versioned._table import VersionedTable
from partita.store._requests import PutItem
from partita.values._attribute_values import Item

GENERATIONS = [Registry(), Registry(), Registry()]


def _table(generation: int) -> Table:
    return Table("accounts", indexes=[Index("GSI1")], registry=GENERATIONS[generation - 1])


def name_from_owner(item: Item) -> Item:
    """Migrate to version 2, which renames `owner` to `name`."""
    return {**{name: value for name, value in item.items() if name != "owner"}, "name": item["owner"]}


def cents_from_units(item: Item) -> Item:
    """Migrate to version 3, which stores the balance in cents."""
    return item | {"balance": item["balance"] * 100}


class FirstAccount(Entity, table=_table(1)):
    """An account in version 1."""

    primary: ClassVar = Key("ACCOUNT#{pk}", "DATA")
    by_owner: ClassVar = Key("OWNER#{owner}", "ACCOUNT#{pk}", index="GSI1")
    pk: str
    owner: str
    balance: int = 0


class SecondAccount(Entity, table=_table(2)):
    """An account in version 2."""

    primary: ClassVar = Key("ACCOUNT#{pk}", "DATA")
    by_owner: ClassVar = Key("OWNER#{name}", "ACCOUNT#{pk}", index="GSI1")
    pk: str
    name: str
    balance: int = 0


class Account(Entity, table=_table(3)):
    """An account in the current version."""

    primary: ClassVar = Key("ACCOUNT#{pk}", "DATA")
    by_owner: ClassVar = Key("NAME#{name}", "ACCOUNT#{pk}", index="GSI1")
    pk: str
    name: str
    balance: int = 0


@get(FirstAccount)
def first_account_by_pk(pk: str) -> None:
    """One account, in version 1."""


@get(SecondAccount)
def second_account_by_pk(pk: str) -> None:
    """One account, in version 2."""


@get(Account, budget=Rcu(0.5))
def account_by_pk(pk: str) -> None:
    """One account."""


FIRST = VersionedTable(
    first_account_by_pk, data_version=1, example=FirstAccount(pk="a1", owner="Ada Lovelace", balance=12)
)
SECOND = VersionedTable(
    second_account_by_pk,
    data_version=2,
    example=SecondAccount(pk="a1", name="Ada Lovelace", balance=12),
    migrations=Migrations({1: name_from_owner}),
)
ACCOUNTS = VersionedTable(
    account_by_pk,
    data_version=3,
    example=Account(pk="a1", name="Ada Lovelace", balance=1_200),
    migrations=Migrations({1: name_from_owner, 2: cents_from_units}),
)
TABLES = list(GENERATIONS[2])


def mapped(**fields: Any) -> Account:
    """Return an account with these fields, and defaults for the others."""
    return Account.model_validate({"pk": "a1", "name": "Ada", "balance": 0} | fields)


def stored(db: Session, pk: str = "a1") -> Item:
    """Return the stored item of an account."""
    request: Get[Account] = account_by_pk(pk)
    item = db.store.execute(request.request()).item
    assert item is not None
    return item


def place(db: Session, item: Item) -> None:
    """Put an item into the table, as any other code could."""
    db.store.execute(PutItem("accounts", item))


def deposited(amount: int) -> Any:
    """Return a change that adds to the balance."""
    return lambda account: account.model_copy(update={"balance": account.balance + amount})
