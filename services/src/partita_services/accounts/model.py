"""The Accounts data model: one versioned table, the remembered requests, the limits of callers, and every pattern.

Budgets are for items of up to 1 KB. In a transaction every write costs twice as much.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, TypeAlias

from pydantic import Field, StringConstraints

from partita import Entity, Key, Rcu, Table, Wcu, get, pattern
from partita.recipes.idempotency import Idempotency, IdempotencyRecord
from partita.recipes.rate_limit import Rate, RateBucket, RateLimits
from partita.recipes.versioned import (
    Versioned,
    VersionedDelete,
    VersionedInsert,
    VersionedRead,
    VersionedTable,
    VersionedUpdate,
)

TABLE: Final = Table("accounts", hash="pk", range=None)
REQUESTS_TABLE: Final = Table("account-requests", hash="PK", range=None, ttl="ttl")
LIMITS_TABLE: Final = Table("account-limits", hash="PK", range=None, ttl="ttl")

MAX_BALANCE: Final = 1_000_000_000_000_000
"""So that a balance is exact in every JSON reader."""

AccountId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._~-]{0,63}$")]
Name = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"\S", max_length=100)]
Balance = Annotated[int, Field(ge=0, le=MAX_BALANCE)]
Amount = Annotated[int, Field(ge=1, le=MAX_BALANCE)]


class AccountData(Entity, table=TABLE):
    """Someone's money, in minor units (cents)."""

    primary: ClassVar = Key("{pk}")

    pk: AccountId
    name: Name
    balance: Balance


class AccountRequest(IdempotencyRecord, table=REQUESTS_TABLE):
    """A request and its response, so that the same one is not carried out twice."""

    primary: ClassVar = Key("REQUEST#{scope}#{key}")


class CallerBucket(RateBucket, table=LIMITS_TABLE):
    """What is left of a caller's requests."""

    primary: ClassVar = Key("RATE#{caller}")


@get(AccountData, budget=Rcu(0.5))
def account_by_pk(pk: str) -> None:
    """One account; an eventually consistent read."""


ACCOUNTS: Final = VersionedTable(
    account_by_pk,
    data_version=1,
    example=AccountData(pk="acc-1001", name="Ada Lovelace", balance=125_000),
)
REQUESTS: Final = Idempotency(AccountRequest, budget=Rcu(1))
LIMITS: Final = RateLimits(CallerBucket, Rate(burst=600, per_second=100))

Account: TypeAlias = Versioned[AccountData]


@pattern(budget=Rcu(1))
def account_now(pk: str) -> VersionedRead[AccountData]:
    """One account; a strongly consistent read."""
    return ACCOUNTS.read_strong(pk)


@pattern(budget=Wcu(1))
def open_account(data: AccountData) -> VersionedInsert[AccountData]:
    """Write a new account."""
    return ACCOUNTS.insert(data)


@pattern(budget=Wcu(1))
def save_account(account: Versioned[AccountData]) -> VersionedUpdate[AccountData]:
    """Write an account over the version that was read."""
    return ACCOUNTS.update(account)


@pattern(budget=Wcu(1))
def close_account(pk: str, last_write: int) -> VersionedDelete[AccountData]:
    """Delete an account in the version that was written at `last_write`."""
    return ACCOUNTS.delete_at(last_write, pk)
