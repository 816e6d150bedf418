"""Responses of the Accounts API: accounts, entries, statements, versions and grants, as JSON and CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from datetime import datetime
from io import StringIO
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, Field

from partita.http import Instant, describe_problems
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
    """An account, with all fields on one level."""

    pk: str = Field(examples=["acc-1001"])
    name: str = Field(examples=["Ada Lovelace"])
    balance: int = Field(examples=[125_000], description=_MINOR)
    owner: str | None = Field(examples=["ada"], description="null if the account has no owner")
    data_version: int = Field(examples=[2], description="the data version that the account is shown in")
    last_write: int = Field(examples=[1_767_268_800_000], description="the version, to send in `If-Match`")

    @classmethod
    def of(cls, account: Account) -> Self:
        """Return the account as the API shows it."""
        data = account.data.model_dump(exclude={"opened"})
        return cls(**data, data_version=account.data_version, last_write=account.last_write)


class ReachedAccount(AccountView):
    """An account, and what the caller may do with it."""

    access: Literal["view", "use", "own"] = Field(
        description="what the caller may do with it; each value includes the ones before it"
    )

    @classmethod
    def reached(cls, account: Account, right: Right) -> Self:
        """Return the account as the API shows it to a user with this right."""
        return cls(**AccountView.of(account).model_dump(), access=_ACCESS[right])


class AccountSummary(BaseModel):
    """An account in a list."""

    pk: str = Field(examples=["acc-1001"])
    name: str = Field(examples=["Ada Lovelace"])
    balance: int = Field(examples=[125_000], description=_MINOR)
    owner: str | None = Field(examples=["ada"], description="null if the account has no owner")

    @classmethod
    def of(cls, account: Any) -> Self:
        """Return the account as lists show it."""
        return cls(pk=account.pk, name=account.name, balance=account.balance, owner=account.owner)


class EntryView(BaseModel):
    """Money that came into an account or left it."""

    entry_id: str = Field(examples=[_IDENTIFIER], description="both entries of a transfer have the same id")
    account: str = Field(examples=["acc-1001"])
    at: Instant
    kind: Kind
    amount: int = Field(examples=[-2_500], description=f"{_MINOR}; negative if money leaves the account")
    by: str | None = Field(examples=["ada"], description="who requested it; null if that is hidden from the reader")
    counterpart: str | None = Field(examples=["acc-1002"], description="the other account of a transfer")
    memo: str | None = Field(examples=["rent for May"])

    @classmethod
    def of(cls, entry: Entry) -> Self:
        """Return the entry as the API shows it."""
        return cls(**entry.model_dump(exclude={"opened"}))


class StatementView(BaseModel):
    """The statement of a month. The closing balance is the opening balance plus `received` minus `spent`."""

    month: str = Field(examples=["2026-05"])
    opening: int = Field(examples=[125_000], description=_MINOR)
    received: int = Field(examples=[5_000])
    spent: int = Field(examples=[2_500])
    closing: int = Field(examples=[127_500])
    entries: int = Field(examples=[3], description="the number of entries")

    @classmethod
    def of(cls, statement: Statement) -> Self:
        """Return the statement as the API shows it."""
        return cls(
            month=statement.month,
            opening=statement.opening,
            received=statement.received,
            spent=statement.spent,
            closing=statement.closing,
            entries=statement.entries,
        )


class Statements(BaseModel):
    """The statements of the months in which money moved, newest first."""

    items: tuple[StatementView, ...]


class VersionView(BaseModel):
    """The content of an account after a write, and who wrote it."""

    last_write: int = Field(examples=[1_767_268_800_000], description="when it was written, in milliseconds")
    name: str = Field(examples=["Ada Lovelace"])
    balance: int = Field(examples=[125_000], description=_MINOR)
    owner: str | None = Field(examples=["ada"])
    by: str = Field(examples=["ada"])

    @classmethod
    def of(cls, version: AccountVersion) -> Self:
        """Return the version as the API shows it."""
        return cls(**version.model_dump(exclude={"account", "opened"}))


class GrantView(BaseModel):
    """What a user who is not the owner may do with an account."""

    account: str = Field(examples=["acc-1001"])
    user_id: str = Field(examples=["bob"])
    access: Access
    granted_by: str = Field(examples=["ada"])
    granted_at: Instant

    @classmethod
    def of(cls, grant: Grant) -> Self:
        """Return the grant as the API shows it."""
        return cls(**grant.model_dump(exclude={"opened"}))


def describe_conflict() -> dict[int | str, dict[str, Any]]:
    """The 409 of a route for the OpenAPI description; its problem contains the current account."""
    described = describe_problems(409)
    described[409]["description"] = "Conflict; `current` is the current account"
    (content,) = described[409]["content"].values()
    current = {"properties": {"current": {"$ref": "#/components/schemas/AccountView"}}}
    content["schema"] = {"allOf": [content["schema"], current]}
    return described


COLUMNS: Final = ("at", "entry_id", "kind", "counterpart", "memo", "by", "amount", "balance")
"""The columns of a statement as CSV."""

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet evaluates a cell that begins with one of these. Text from users must not be evaluated."""


class StatementCsv:
    """A statement as CSV (RFC 4180), page by page, with the balance after each entry."""

    def __init__(self, opening: int) -> None:
        self._balance = opening

    def header(self) -> str:
        """Return the line with the column names."""
        return _lines([COLUMNS])

    def lines(self, entries: Iterable[Entry]) -> str:
        """Return the lines of the next entries."""
        return _lines(self._row(entry) for entry in entries)

    def _row(self, entry: Entry) -> tuple[Any, ...]:
        self._balance += entry.amount
        texts = (entry.entry_id, entry.kind.value, entry.counterpart, entry.memo, entry.by)
        return (_time(entry.at), *map(_cell, texts), entry.amount, self._balance)


def _time(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def _cell(value: str | None) -> str:
    """Return the text, with a leading apostrophe if a spreadsheet would treat it as a formula."""
    return "" if value is None else f"'{value}" if value.startswith(FORMULA) else value


def _lines(rows: Iterable[Iterable[Any]]) -> str:
    text = StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()
