"""Statements by month: the opening balance of an account, what it received and spent, and the closing balance."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from partita import Procedure, Query, Span
from partita_services.accounts.model import AccountData, Entry, MonthTotal, entries_within, months_of

MAX_MONTHS: Final = 12 * 100
"""How many months of a ledger are read at most."""


class Statement(Struct, frozen=True):
    """The statement of a month."""

    month: str
    opening: int
    received: int
    spent: int
    entries: int

    @property
    def closing(self) -> int:
        """The balance at the end of the month, or now."""
        return self.opening + self.received - self.spent


def statements(account: AccountData) -> Procedure[tuple[Statement, ...]]:
    """The statements of all months in which money moved, newest first."""
    totals = yield from months_of(*account.ledger).walk(max_items=MAX_MONTHS)
    return tuple(reversed(_statements(reversed(totals.items))))


def statement(account: AccountData, month: str) -> Procedure[Statement]:
    """The statement of one month, even if no money moved in it."""
    found = yield from statements(account)
    before = next((each for each in found if each.month <= month), None)
    if before is not None and before.month == month:
        return before
    return Statement(month, 0 if before is None else before.closing, 0, 0, 0)


def entries_of(account: AccountData, month: str) -> Query[Entry]:
    """The entries of a month, oldest first."""
    first = datetime.fromisoformat(f"{month}-01").replace(tzinfo=UTC)
    after = (first + timedelta(days=31)).replace(day=1)
    return entries_within(*account.ledger, Span.between(first, after - timedelta(microseconds=1)))


def _statements(totals: Iterable[MonthTotal]) -> list[Statement]:
    found: list[Statement] = []
    balance = 0
    for total in totals:
        found.append(Statement(total.month, balance, total.received, total.spent, total.entries))
        balance = found[-1].closing
    return found
