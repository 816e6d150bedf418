"""Wallets: money moves in one transaction, every movement is recorded, and nobody can spend more than they have.

    pip install partita
    python wallets.py

It prints:

    ada has 70, ben has 30
    in ada's wallet, newest first: -30, +100
    refused: 99 of Wallet.cents requested, 70 left.
    the query behind the list: #0 = :0 AND begins_with(#1, :1)
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from partita import (
    EmbeddedStore,
    Entity,
    Key,
    Rcu,
    Session,
    Table,
    Ulids,
    explain,
    f,
    get,
    insert,
    query,
)
from partita.errors import TransactionCancelled
from partita.recipes.counter import Counter

TABLE = Table("wallets")
IDS = Ulids()


class Wallet(Entity, table=TABLE):
    """The balance of an owner."""

    primary: ClassVar = Key("WALLET#{owner}", "WALLET")

    owner: str
    title: str
    cents: int = 0


class Entry(Entity, table=TABLE):
    """One movement of money, in the partition of its wallet; the entries sort by time."""

    primary: ClassVar = Key("WALLET#{owner}", "ENTRY#{entry_id}")

    owner: str
    entry_id: str = Field(default_factory=IDS)
    cents: int


@get(Wallet, budget=Rcu(0.5))
def wallet_of(owner: str) -> None:
    """The wallet of an owner."""


@query(Entry, Entry.primary, newest_first=True, budget=Rcu(5))
def entries_of(owner: str) -> None:
    """The movements in a wallet, newest first."""


CENTS = Counter(Wallet, f(Wallet.cents), floor=0)


def move(db: Session, giver: str, taker: str, cents: int) -> None:
    """Move money: both wallets change and both entries are written, or nothing happens."""
    db.transact(
        CENTS.down(wallet_of(giver), cents),
        CENTS.up(wallet_of(taker), cents),
        insert(Entry(owner=giver, cents=-cents)),
        insert(Entry(owner=taker, cents=cents)),
    )


def main() -> None:
    """Move money between two wallets, and print the results."""
    db = Session(EmbeddedStore(":memory:"))
    db.create_tables([TABLE])
    for owner in ("ada", "ben"):
        db.run(insert(Wallet(owner=owner, title=f"{owner}'s wallet")))
    db.transact(CENTS.up(wallet_of("ada"), 100), insert(Entry(owner="ada", cents=100)))

    move(db, "ada", "ben", 30)
    balances = {owner: wallet.cents for owner in ("ada", "ben") if (wallet := db.run(wallet_of(owner)))}
    print(", ".join(f"{owner} has {cents}" for owner, cents in balances.items()))
    print("in ada's wallet, newest first:", ", ".join(f"{entry.cents:+}" for entry in db.run(entries_of("ada"))))

    try:
        move(db, "ada", "ben", 99)
    except TransactionCancelled as cancelled:
        print("refused:", cancelled.cause)
    print("the query behind the list:", explain(entries_of("ada")).request["KeyConditionExpression"])


if __name__ == "__main__":
    main()
