"""The audit of the ledgers: it checks that every balance and every total of a month is the sum of its entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, TypeAlias, TypeVar

from msgspec import Struct

from partita import Entity, Procedure, Session, new_ulid
from partita.errors import VersionConflict
from partita.operations import Scan, scan
from partita.recipes.idempotency import Plan
from partita_services.accounts.access import Actor
from partita_services.accounts.model import (
    Account,
    AccountData,
    Entry,
    Kind,
    MonthTotal,
    account_now,
    latest_entries,
    months_of,
    save_account,
)
from partita_services.accounts.movements import Occasion, entered, month_of

E = TypeVar("E", bound=Entity)

TRIES: Final = 5
"""How often an account is added up if it is written at the same time."""
_PAGE: Final = 1_000
_AUDITOR: Final = Actor("partita accounts audit", is_operator=True)

Ledger: TypeAlias = tuple[str, int]


class Finding(Struct, frozen=True):
    """An account whose ledger does not add up, or could not be added up."""

    account: str
    what: str
    balance: int
    entries: int
    can_be_carried_forward: bool = False


class AuditReport(Struct, frozen=True):
    """The result of an audit."""

    accounts: int
    entries: int
    findings: tuple[Finding, ...]


class _Sums(Struct, frozen=True):
    entries: int
    total: int
    by_month: dict[str, int]


def audit(session: Session) -> AuditReport:
    """Add up every ledger, including those of closed accounts. The service may run at the same time."""
    ledgers = _ledgers(session)
    findings: list[Finding] = []
    entries = 0
    for pk, opened in ledgers:
        count, found = session.run(check_ledger(pk, opened))
        entries += count
        findings += found
    return AuditReport(len(ledgers), entries, tuple(findings))


def check_ledger(pk: str, opened: int) -> Procedure[tuple[int, list[Finding]]]:
    """The number of entries of a ledger, and its findings. It is added up again if it is written in the meantime."""
    for _ in range(TRIES):
        before = _of(opened, (yield from account_now(pk)))
        sums = yield from _added_up(pk, opened)
        totals = yield from months_of(pk, opened).consistent().walk(max_items=_PAGE * 10)
        after = _of(opened, (yield from account_now(pk)))
        if (before and before.last_write) == (after and after.last_write):
            return sums.entries, list(_findings(pk, after, sums, totals.items))
    return 0, [Finding(pk, "it was written during every try", 0, 0)]


def carry_forward(session: Session, pk: str) -> None:
    """Write the first entry of an account that was stored before ledgers existed.

    Raises:
        VersionConflict: the account was written in the meantime.
    """
    account = session.run(account_now(pk))
    if account is None:
        raise VersionConflict(f"The account {pk!r} was closed in the meantime.")
    occasion = Occasion(_AUDITOR, session.context.clock(), new_ulid())
    _, opened = account.data.ledger
    entry = Entry(
        account=pk,
        opened=opened,
        at=occasion.at,
        entry_id=occasion.entry_id,
        kind=Kind.OPENING,
        amount=account.data.balance,
        by=occasion.actor.user_id,
    )
    session.run(carried(account, entry))


def carried(account: Account, entry: Entry) -> Procedure[None]:
    """Write the first entry of a ledger, if the account has not changed."""
    yield from Plan(None, save_account(account), *entered(entry)).run()


def _ledgers(session: Session) -> list[Ledger]:
    """Every ledger that has an account or a total of a month."""
    maintenance = session.maintenance("an audit adds up every account")
    of_accounts = {account.ledger for account in _all(maintenance, scan(AccountData))}
    return sorted(of_accounts | {(total.account, total.opened) for total in _all(maintenance, scan(MonthTotal))})


def _all(maintenance: Session, scanned: Scan[E]) -> Iterator[E]:
    cursor = None
    while True:
        page = maintenance.run(scanned.page(_PAGE, after=cursor))
        yield from page
        cursor = page.next_cursor
        if cursor is None:
            return


def _of(opened: int, account: Account | None) -> Account | None:
    """Return the account if the ledger belongs to it and not to an earlier account with the same key."""
    return account if account is not None and (account.data.opened or 0) == opened else None


def _added_up(pk: str, opened: int) -> Procedure[_Sums]:
    count, by_month, cursor = 0, Counter[str](), None
    while True:
        page = yield from latest_entries(pk, opened).consistent().page(_PAGE, after=cursor)
        for entry in page:
            count += 1
            by_month[month_of(entry.at)] += entry.amount
        cursor = page.next_cursor
        if cursor is None:
            return _Sums(count, sum(by_month.values()), dict(by_month))


def _findings(pk: str, account: Account | None, sums: _Sums, totals: tuple[MonthTotal, ...]) -> Iterator[Finding]:
    balance = account.data.balance if account is not None else 0
    if balance != sums.total:
        is_new = sums.entries == 0 and account is not None
        what = "it has no entries" if is_new else "its balance is not the sum of its entries"
        yield Finding(pk, what, balance, sums.total, can_be_carried_forward=is_new)
    said = {total.month: total.received - total.spent for total in totals}
    for month in sorted(said.keys() | sums.by_month.keys()):
        if said.get(month, 0) != sums.by_month.get(month, 0):
            what = f"the total of {month} is not the sum of its entries"
            yield Finding(pk, what, said.get(month, 0), sums.by_month.get(month, 0))
