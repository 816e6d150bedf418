"""The Accounts service as `partita serve` runs it, and its sample data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from partita import Operation
from partita.recipes.idempotency import Command
from partita.recipes.versioned import VersionedInsert
from partita.service import Service
from partita_services.accounts.model import (
    LIMITS,
    LIMITS_TABLE,
    REQUESTS,
    REQUESTS_TABLE,
    TABLE,
    AccountData,
    open_account,
)

if TYPE_CHECKING:
    from fastapi import APIRouter

_SAMPLES: Final = (
    ("acc-1001", "Ada Lovelace", 125_000),
    ("acc-1002", "Grace Hopper", 98_250),
    ("acc-1003", "Katherine Johnson", 310_075),
    ("acc-1004", "Household", 41_990),
    ("acc-1005", "Holiday savings", 260_000),
    ("acc-1006", "Rent deposit", 180_000),
    ("acc-1007", "Choir, petty cash", 5_435),
    ("acc-1008", "Empty so far", 0),
)


def seed(now: float) -> Sequence[VersionedInsert[AccountData]]:
    """Some accounts; their keys are always the same."""
    return [open_account(AccountData(pk=pk, name=name, balance=balance)).at(now) for pk, name, balance in _SAMPLES]


def examples(now: float) -> Sequence[Operation[Any]]:  # noqa: ARG001 - nothing in it changes with time
    """Operations of a caller whose arguments are not fields of a sample."""
    return [REQUESTS.record(Command("demo", "key", "")).consistent()]


def _router() -> APIRouter:
    from partita_services.accounts.http import ROUTER  # noqa: PLC0415 - the model is of use without the HTTP extra

    return ROUTER


SERVICE: Final = Service(
    name="accounts",
    title="Accounts",
    summary="Money in a versioned table, moved without losing any of it.",
    tables=(TABLE, REQUESTS_TABLE, LIMITS_TABLE),
    router=_router,
    seed=seed,
    examples=examples,
    rate_limit=LIMITS,
)
