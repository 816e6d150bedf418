"""The Accounts service as `partita serve` runs it, and its sample data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from partita import Operation, Procedure, Span, f
from partita.recipes.idempotency import Command, run_plan
from partita.service import Projection, Service
from partita_services.accounts import model
from partita_services.accounts.access import PERSONAL, Actor
from partita_services.accounts.handlers import AccountDraft, GrantDraft, add_account, grant_access
from partita_services.accounts.model import (
    ACCOUNTS,
    GRANTS_TABLE,
    LEDGER_TABLE,
    LIMITS,
    LIMITS_TABLE,
    REQUESTS,
    REQUESTS_TABLE,
    TABLE,
    Access,
    Account,
    AccountData,
    AccountVersion,
    Entry,
    Grant,
    Kind,
    MonthTotal,
)
from partita_services.accounts.movements import Movement, Occasion, TransferOrder, deposit, transfer, withdraw

if TYPE_CHECKING:
    import click
    from fastapi import APIRouter

    from partita.change import SqliteProjection

SAMPLE_USER: Final = "demo"
OTHER_USER: Final = "grace"

_DAY: Final = 86_400
_SAMPLES: Final = (
    ("acc-1001", "Ada Lovelace", 125_000, SAMPLE_USER),
    ("acc-1002", "Grace Hopper", 98_250, OTHER_USER),
    ("acc-1003", "Katherine Johnson", 310_075, OTHER_USER),
    ("acc-1004", "Household", 41_990, SAMPLE_USER),
    ("acc-1005", "Holiday savings", 260_000, SAMPLE_USER),
    ("acc-1006", "Rent deposit", 180_000, SAMPLE_USER),
    ("acc-1007", "Choir, petty cash", 5_435, OTHER_USER),
    ("acc-1008", "Empty so far", 0, SAMPLE_USER),
)
_TRANSFERS: Final = (
    (70, "acc-1001", "acc-1004", 30_000, "household, monthly"),
    (66, "acc-1004", "acc-1002", 7_450, "flowers and a cake"),
    (40, "acc-1001", "acc-1004", 30_000, "household, monthly"),
    (38, "acc-1001", "acc-1005", 15_000, None),
    (10, "acc-1001", "acc-1004", 30_000, "household, monthly"),
)
"""Days ago, from, to, amount, and memo."""


def seed(now: float) -> Sequence[Procedure[Any]]:
    """Sample accounts with three months of movements, and one that is shared; with the same keys each time."""
    return [*(_opened(number, now) for number in range(len(_SAMPLES))), _moved_money(now)]


def _opened(number: int, now: float) -> Procedure[Account]:
    pk, name, balance, owner = _SAMPLES[number]
    occasion = Occasion(Actor(owner), now - 90 * _DAY, f"sample-opening-{number}")
    return (yield from run_plan(add_account(AccountDraft(pk=pk, name=name, balance=balance), occasion)))


def _moved_money(now: float) -> Procedure[None]:
    """Open the last account first: if the samples exist already, this fails, and the rest is skipped."""
    pk, owner = "acc-1009", Actor(SAMPLE_USER)
    occasion = Occasion(owner, now - 80 * _DAY, "sample-opening-9")
    yield from run_plan(add_account(AccountDraft(pk=pk, name="Bicycle fund", balance=0), occasion))
    for number, (days, source, target, amount, memo) in enumerate(_TRANSFERS):
        order = TransferOrder.model_validate({"from": source, "to": target, "amount": amount, "memo": memo})
        yield from run_plan(transfer(order, Occasion(owner, now - days * _DAY, f"sample-transfer-{number}")))
    for number, amount in enumerate((12_000, 4_500, 9_900)):
        moved = Occasion(owner, now - (60 - 25 * number) * _DAY, f"sample-movement-{number}")
        yield from run_plan(deposit(pk, Movement(amount=amount, memo="sold something"), moved))
    spent = Occasion(owner, now - 3 * _DAY, "sample-withdrawal")
    yield from run_plan(withdraw(pk, Movement(amount=7_250, memo="a saddle"), spent))
    shared = Occasion(Actor(OTHER_USER), now - 30 * _DAY, "sample-grant")
    yield from grant_access("acc-1007", SAMPLE_USER, GrantDraft(access=Access.USE), shared)


def examples(now: float) -> Sequence[Operation[Any]]:
    """Operations of a caller whose arguments are not fields of a sample."""
    pk, name, balance, owner = _SAMPLES[2]  # an account without movements
    opened = int((now - 90 * _DAY) * 1_000)
    account = ACCOUNTS.over(opened, AccountData(pk=pk, name=name, balance=balance, owner=owner, opened=opened))
    at = datetime.fromtimestamp(now, UTC)
    entry = Entry(account=pk, opened=opened, at=at, entry_id="e", kind=Kind.DEPOSIT, amount=1, by=owner)
    version = AccountVersion(account=pk, opened=opened, last_write=opened + 1, name=name, balance=balance, by=owner)
    grant = Grant(account=pk, user_id=SAMPLE_USER, opened=opened, access=Access.VIEW, granted_by=owner, granted_at=at)
    return [
        REQUESTS.record(Command("demo", "key", "")).consistent(),
        model.accounts_by_pk(["acc-1001", "acc-1002"]),
        model.move_money(account, f(AccountData.balance).add(1)),
        model.save_account(account),
        model.close_account(pk, opened),
        model.write_entry(entry),
        model.add_to_month(MonthTotal(account=pk, opened=opened, month="2026-01", entries=1, received=1)),
        model.entries_within(pk, opened, Span()),
        model.latest_entries(pk, opened),
        model.months_of(pk, opened),
        model.keep_version(version),
        model.versions_of(pk, opened),
        model.grant_of("acc-1007", SAMPLE_USER),
        model.grants_on("acc-1007"),
        model.grants_to(SAMPLE_USER),
        model.write_grant(grant),
        model.remove_grant("acc-1007", SAMPLE_USER),
        model.delete_grants([model.remove_grant("acc-1007", SAMPLE_USER)]),
    ]


def _router() -> APIRouter:
    from partita_services.accounts.http import ROUTER  # noqa: PLC0415 - the model can be used without the HTTP extra

    return ROUTER


def _command() -> click.Group:
    from partita_services.accounts.commands import accounts  # noqa: PLC0415 - only the command line needs it

    return accounts


def _projection(path: Path) -> SqliteProjection:
    from partita_services.accounts.live import AccountChanges  # noqa: PLC0415 - only a server needs it

    return AccountChanges(path)


SERVICE: Final = Service(
    name="accounts",
    title="Accounts",
    summary="Money in a versioned table with a ledger, moved without losing any of it.",
    tables=(TABLE, LEDGER_TABLE, GRANTS_TABLE, REQUESTS_TABLE, LIMITS_TABLE),
    router=_router,
    seed=seed,
    examples=examples,
    pages=Path(__file__).parent / "pages",
    projection=Projection(TABLE, _projection),
    command=_command,
    rate_limit=LIMITS,
    personal=PERSONAL,
    preload=("partita_services.accounts.live",),
)
