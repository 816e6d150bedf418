"""Responses of the Accounts API: accounts, entries, statements, versions and grants, as JSON and CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from datetime import datetime
from io import StringIO
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, Field

from partita.http import Instant
from partita_services.accounts.access import Right
from partita_services.accounts.model import Access, Account, AccountVersion, Entry, Grant, Kind
from partita_services.accounts.statements import Statement

_MINOR: Final = "in minor units, such as cents"
_IDENTIFIER: Final = "01K9ZQ3V7M2Y8R4C6T1XWNB5HD"
_ACCESS: Final[dict[Right, Literal["view", "use", "own"]]] = {
    Right.VIEW: "view",
    Right.USE: "use",
    Right.OWN: "own",
}


class AccountView(BaseModel):
    """An account, as flat as it is stored."""

    pk: str = Field(examples=["acc-1001"])
    name: str = Field(examples=["Ada Lovelace"])
    balance: int = Field(examples=[125_000], description=_MINOR)
    owner: str | None = Field(examples=["ada"], description="null where it is nobody's")
    data_version: int = Field(examples=[2], description="the schema that the account is shown in")
    last_write: int = Field(examples=[1_767_268_800_000], description="what `If-Match` names")

    @classmethod
    def of(cls, account: Account) -> Self:
        """The account as it is shown."""
        data = account.data.model_dump(exclude={"opened"})
        return cls(**data, data_version=account.data_version, last_write=account.last_write)


class ReachedAccount(AccountView):
    """An account that was asked for."""

    access: Literal["view", "use", "own"] = Field(
        description="what the caller may do with it; each includes the former"
    )

    @classmethod
    def reached(cls, account: Account, right: Right) -> Self:
        """The account as it is shown to somebody."""
        return cls(**AccountView.of(account).model_dump(), access=_ACCESS[right])


class AccountSummary(BaseModel):
    """An account in a list."""

    pk: str = Field(examples=["acc-1001"])
    name: str = Field(examples=["Ada Lovelace"])
    balance: int = Field(examples=[125_000], description=_MINOR)
    owner: str | None = Field(examples=["ada"], description="null where it is nobody's")

    @classmethod
    def of(cls, account: Any) -> Self:
        """The account as it is listed."""
        return cls(pk=account.pk, name=account.name, balance=account.balance, owner=account.owner)


class EntryView(BaseModel):
    """Money that came into an account or left it."""

    entry_id: str = Field(examples=[_IDENTIFIER], description="that of a transfer, for both of its entries")
    account: str = Field(examples=["acc-1001"])
    at: Instant
    kind: Kind
    amount: int = Field(examples=[-2_500], description=f"{_MINOR}; below zero where money leaves")
    by: str | None = Field(examples=["ada"], description="who asked for it; null where that is not for the reader")
    counterpart: str | None = Field(examples=["acc-1002"], description="the other account of a transfer")
    memo: str | None = Field(examples=["rent for May"])

    @classmethod
    def of(cls, entry: Entry) -> Self:
        """The entry as it is shown."""
        return cls(**entry.model_dump(exclude={"opened"}))


class StatementView(BaseModel):
    """What a month was like. The closing balance is the opening one, and what was received, without what was spent."""

    month: str = Field(examples=["2026-05"])
    opening: int = Field(examples=[125_000], description=_MINOR)
    received: int = Field(examples=[5_000])
    spent: int = Field(examples=[2_500])
    closing: int = Field(examples=[127_500])
    entries: int = Field(examples=[3], description="how many there are")

    @classmethod
    def of(cls, statement: Statement) -> Self:
        """The statement as it is shown."""
        return cls(
            month=statement.month,
            opening=statement.opening,
            received=statement.received,
            spent=statement.spent,
            closing=statement.closing,
            entries=statement.entries,
        )


class Statements(BaseModel):
    """The months in which money moved, the last one first."""

    items: tuple[StatementView, ...]


class VersionView(BaseModel):
    """What an account said from a write on, and who wrote it."""

    last_write: int = Field(examples=[1_767_268_800_000], description="when, in milliseconds")
    name: str = Field(examples=["Ada Lovelace"])
    balance: int = Field(examples=[125_000], description=_MINOR)
    owner: str | None = Field(examples=["ada"])
    by: str = Field(examples=["ada"])

    @classmethod
    def of(cls, version: AccountVersion) -> Self:
        """The version as it is shown."""
        return cls(**version.model_dump(exclude={"account", "opened"}))


class GrantView(BaseModel):
    """What someone else may do with an account."""

    account: str = Field(examples=["acc-1001"])
    user_id: str = Field(examples=["bob"])
    access: Access
    granted_by: str = Field(examples=["ada"])
    granted_at: Instant

    @classmethod
    def of(cls, grant: Grant) -> Self:
        """The grant as it is shown."""
        return cls(**grant.model_dump(exclude={"opened"}))


COLUMNS: Final = ("at", "entry_id", "kind", "counterpart", "memo", "by", "amount", "balance")
"""The columns of a statement as CSV."""

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet computes a cell that begins with one of these. What users have written must not be computed."""


class StatementCsv:
    """A statement as CSV (RFC 4180), page by page, with the balance after each entry."""

    def __init__(self, opening: int) -> None:
        self._balance = opening

    def header(self) -> str:
        """The names of the columns."""
        return _lines([COLUMNS])

    def lines(self, entries: Iterable[Entry]) -> str:
        """Some entries, after those before."""
        return _lines(self._row(entry) for entry in entries)

    def _row(self, entry: Entry) -> tuple[Any, ...]:
        self._balance += entry.amount
        texts = (entry.entry_id, entry.kind.value, entry.counterpart, entry.memo, entry.by)
        return (_time(entry.at), *map(_cell, texts), entry.amount, self._balance)


def _time(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def _cell(value: str | None) -> str:
    """Text that a spreadsheet would take for a formula has an apostrophe before it."""
    return "" if value is None else f"'{value}" if value.startswith(FORMULA) else value


def _lines(rows: Iterable[Iterable[Any]]) -> str:
    text = StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()
