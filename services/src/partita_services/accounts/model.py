"""The Accounts data model: a versioned table of accounts, their ledgers, their grants, and every access pattern.

| table | item | partition key | sort key |
| --- | --- | --- | --- |
| `accounts` | account | its key | |
| `account-ledger` | entry | `LEDGER#<account>#<opened>` | `ENTRY#<instant>#<id>` |
| | total of a month | | `MONTH#<month>` |
| | version of the account | | `VERSION#<last write>` |
| `account-grants` | grant | `ACCOUNT#<account>` | `USER#<user>` |

An account that is closed and opened again is a new account: `opened` is part of the key of its ledger.

Budgets are for items of up to 1 KB. In a transaction every write costs twice as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final, TypeAlias

from pydantic import Field, StringConstraints

from partita import (
    BatchGet,
    BatchWrite,
    Change,
    Delete,
    Entity,
    Index,
    Key,
    Put,
    Rcu,
    Span,
    Table,
    Wcu,
    batch_get,
    batch_write,
    delete,
    get,
    insert,
    pattern,
    put,
    query,
)
from partita.recipes.idempotency import Idempotency, IdempotencyRecord
from partita.recipes.rate_limit import Rate, RateBucket, RateLimits
from partita.recipes.tally import Addition, Tally
from partita.recipes.versioned import (
    Migrations,
    Versioned,
    VersionedAdjust,
    VersionedDelete,
    VersionedInsert,
    VersionedRead,
    VersionedTable,
    VersionedUpdate,
)
from partita.store import BatchWriteItem

TABLE: Final = Table(
    "accounts",
    hash="pk",
    range=None,
    indexes=[Index("GSI-Owner", hash="owner", range="pk")],
    stream="NEW_AND_OLD_IMAGES",
)
LEDGER_TABLE: Final = Table("account-ledger")
GRANTS_TABLE: Final = Table("account-grants", indexes=[Index("GSI-User")])
REQUESTS_TABLE: Final = Table("account-requests", hash="PK", range=None, ttl="ttl")
LIMITS_TABLE: Final = Table("account-limits", hash="PK", range=None, ttl="ttl")

MAX_BALANCE: Final = 1_000_000_000_000_000
"""The limit keeps balances exact in every JSON parser."""

PAGE: Final = Rcu(13)
"""A page of 100 items of up to 1 KB; most are a tenth of that."""

AccountId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._~-]{0,63}$")]
UserId = Annotated[str, StringConstraints(min_length=1, max_length=128)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"\S", max_length=100)]
Memo = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"\S", max_length=140)]
Month = Annotated[str, StringConstraints(pattern=r"^[12][0-9]{3}-(0[1-9]|1[0-2])$")]
"""A month of the years 1000 to 2999, so that its days and those of the next month are dates."""
Balance = Annotated[int, Field(ge=0, le=MAX_BALANCE)]
Amount = Annotated[int, Field(ge=1, le=MAX_BALANCE)]


class AccountData(Entity, table=TABLE):
    """Someone's money, in minor units (cents)."""

    primary: ClassVar = Key("{pk}")
    by_owner: ClassVar = Key("{owner}", "{pk}", index="GSI-Owner")

    pk: AccountId
    name: Name
    balance: Balance
    owner: UserId | None = None
    """The owner's user id; None if the account was stored before accounts had owners: only operators may use it."""
    opened: int | None = None
    """When it was opened, in milliseconds; this distinguishes it from an earlier account with the same key."""

    @property
    def ledger(self) -> tuple[str, int]:
        """The values that form the key of its ledger."""
        return self.pk, self.opened or 0


class Kind(StrEnum):
    """The kind of a ledger entry."""

    OPENING = "opening"
    DEPOSIT = "deposit"
    WITHDRAWAL = "withdrawal"
    TRANSFER_IN = "transfer_in"
    TRANSFER_OUT = "transfer_out"
    ADJUSTMENT = "adjustment"
    CLOSING = "closing"


class Entry(Entity, table=LEDGER_TABLE):
    """Money that came into an account or left it. The balance of an account is the sum of its entries."""

    primary: ClassVar = Key("LEDGER#{account}#{opened}", "ENTRY#{at}#{entry_id}")

    account: AccountId
    opened: int
    at: datetime
    entry_id: str
    """The two entries of a transfer have the same id."""
    kind: Kind
    amount: int
    """Negative if money leaves the account."""
    by: str | None = None
    """Who requested the movement. Of a transfer, only the sender's entry has it."""
    counterpart: str | None = None
    """The other account of a transfer."""
    memo: str | None = None


class MonthTotal(Entity, table=LEDGER_TABLE):
    """The sums over the entries of a month."""

    primary: ClassVar = Key("LEDGER#{account}#{opened}", "MONTH#{month}")

    account: AccountId
    opened: int
    month: Month
    entries: int = 0
    received: int = 0
    spent: int = 0


class AccountVersion(Entity, table=LEDGER_TABLE):
    """The content of an account after a write. Movements of money are entries instead."""

    primary: ClassVar = Key("LEDGER#{account}#{opened}", "VERSION#{last_write:016}")

    account: AccountId
    opened: int
    last_write: int
    name: Name
    balance: int
    owner: str | None = None
    by: str


class Access(StrEnum):
    """The access that a grant gives."""

    VIEW = "view"
    USE = "use"


class Grant(Entity, table=GRANTS_TABLE):
    """The permission of a user to see or use someone else's account."""

    primary: ClassVar = Key("ACCOUNT#{account}", "USER#{user_id}")
    by_user: ClassVar = Key("USER#{user_id}", "ACCOUNT#{account}", index="GSI-User")

    account: AccountId
    user_id: UserId
    opened: int
    """The `opened` of the account that the grant is for; a later account with the same key has another."""
    access: Access
    granted_by: str
    granted_at: datetime


class AccountRequest(IdempotencyRecord, table=REQUESTS_TABLE):
    """A request and its response, so that the same request is not executed twice."""

    primary: ClassVar = Key("REQUEST#{scope}#{key}")


class CallerBucket(RateBucket, table=LIMITS_TABLE):
    """The remaining requests of a caller's rate limit."""

    primary: ClassVar = Key("RATE#{caller}")


@get(AccountData, budget=Rcu(0.5))
def account_by_pk(pk: str) -> None:
    """One account; an eventually consistent read."""


def _without_owner(item: dict[str, Any]) -> dict[str, Any]:
    """Accounts of version 1 have no owner; `partita accounts audit --carry-forward` writes their first entry."""
    return item


ACCOUNTS: Final = VersionedTable(
    account_by_pk,
    data_version=2,
    migrations=Migrations({1: _without_owner}),
    example=AccountData(pk="acc-1001", name="Ada Lovelace", balance=125_000, owner="demo", opened=1_767_268_800_000),
)
MONTHS: Final = Tally(MonthTotal)
REQUESTS: Final = Idempotency(AccountRequest, budget=Rcu(1))
LIMITS: Final = RateLimits(CallerBucket, Rate(burst=600, per_second=100))

Account: TypeAlias = Versioned[AccountData]


@pattern(budget=Rcu(1))
def account_now(pk: str) -> VersionedRead[AccountData]:
    """One account; a strongly consistent read."""
    return ACCOUNTS.read_strong(pk)


@query(AccountData, AccountData.by_owner, budget=PAGE)
def accounts_of(owner: str) -> None:
    """A user's own accounts, by key."""


@pattern(budget=Rcu(50))
def accounts_by_pk(pks: Sequence[str]) -> BatchGet[AccountData]:
    """Up to 100 accounts in one request; None for each that does not exist."""
    return batch_get([account_by_pk(pk) for pk in pks])


@pattern(budget=Wcu(2))
def open_account(data: AccountData) -> VersionedInsert[AccountData]:
    """Write a new account."""
    return ACCOUNTS.insert(data)


@pattern(budget=Wcu(2))
def save_account(account: Account) -> VersionedUpdate[AccountData]:
    """Replace the version of an account that was read."""
    return ACCOUNTS.update(account)


@pattern(budget=Wcu(2))
def move_money(account: Account, *changes: Change) -> VersionedAdjust[AccountData]:
    """Add to a balance or subtract from it, regardless of who wrote the account last."""
    return ACCOUNTS.adjust(account, *changes, since=1)


@pattern(budget=Wcu(2))
def close_account(pk: str, last_write: int) -> VersionedDelete[AccountData]:
    """Delete the version of an account that was written at `last_write`."""
    return ACCOUNTS.delete_at(last_write, pk)


@pattern(budget=Wcu(1))
def write_entry(entry: Entry) -> Put[Entry]:
    """Write a new entry of a ledger."""
    return insert(entry)


@pattern(budget=Wcu(1))
def add_to_month(numbers: MonthTotal) -> Addition[MonthTotal]:
    """Add an entry to the total of its month."""
    return MONTHS.add(numbers)


@query(Entry, Entry.primary, budget=PAGE)
def entries_within(account: str, opened: int, at: Span[datetime]) -> None:
    """The entries of a ledger within a span of time, oldest first."""


@query(Entry, Entry.primary, newest_first=True, budget=PAGE)
def latest_entries(account: str, opened: int) -> None:
    """The entries of a ledger, newest first."""


@query(MonthTotal, MonthTotal.primary, newest_first=True, budget=PAGE)
def months_of(account: str, opened: int) -> None:
    """The totals of a ledger's months, newest first."""


@pattern(budget=Wcu(1))
def keep_version(version: AccountVersion) -> Put[AccountVersion]:
    """Store the present content of an account as a version."""
    return insert(version)


@query(AccountVersion, AccountVersion.primary, newest_first=True, budget=PAGE)
def versions_of(account: str, opened: int) -> None:
    """The versions of an account, newest first."""


@get(Grant, budget=Rcu(1))
def grant_of(account: str, user_id: str) -> None:
    """The grant of a user on someone else's account."""


@query(Grant, Grant.primary, budget=PAGE)
def grants_on(account: str) -> None:
    """The grants on an account, by user."""


@query(Grant, Grant.by_user, budget=PAGE)
def grants_to(user_id: str) -> None:
    """The grants of a user on accounts of others."""


@pattern(budget=Wcu(2))
def write_grant(grant: Grant) -> Put[Grant]:
    """Write a grant, which lets a user see or use an account."""
    return put(grant)


@pattern(budget=Wcu(100), writes={Grant: (BatchWriteItem,)})
def delete_grants(deletes: Sequence[Delete[Grant]]) -> BatchWrite:
    """Delete up to 25 grants of a user whose data is erased."""
    return batch_write(deletes)


@pattern(budget=Wcu(2))
def remove_grant(account: str, user_id: str) -> Delete[Grant]:
    """Remove a user's grant on an account."""
    return delete(grant_of(account, user_id))
