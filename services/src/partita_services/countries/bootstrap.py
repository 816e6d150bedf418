"""The countries service as `partita serve` runs it. Its sample data is the real ISO 3166-1 list, with its history."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from partita import Operation, Prefix, Procedure, Span, retry_on_conflict
from partita.recipes.idempotency import Command
from partita.recipes.personal import PersonalData
from partita.service import Service
from partita_services.countries.handlers import Edit
from partita_services.countries.imports import apply
from partita_services.countries.iso import iso_events
from partita_services.countries.model import (
    LIMITS,
    REQUESTS,
    TABLE,
    Country,
    changes_within,
    claim_on_code,
    withdrawn_countries_named,
)

if TYPE_CHECKING:
    import click
    from fastapi import APIRouter


_STANDARD: Final = Edit(by="ISO 3166-1")
"""The author of the versions from the standard; each event has its own reason."""


def seed(now: float) -> Sequence[Procedure[Country]]:  # noqa: ARG001 - the list has its own instants
    """Apply every event of the standard, in order. Countries that have this content, or a later version, stay.

    Another process may be doing the same.
    """
    return [retry_on_conflict(partial(apply, event, _STANDARD)) for event in iso_events()]


def examples(now: float) -> Sequence[Operation[Any]]:  # noqa: ARG001 - the list has its own instants
    """Operations whose arguments are not fields of a sample."""
    return [
        claim_on_code("alpha3", "BOL"),
        withdrawn_countries_named(Prefix("u")),
        changes_within(Span()),
        REQUESTS.record(Command("demo", "key", "")).consistent(),
    ]


def _router() -> APIRouter:
    from partita_services.countries.http import ROUTER  # noqa: PLC0415 - the model can be used without the HTTP extra

    return ROUTER


def _command() -> click.Group:
    from partita_services.countries.commands import countries  # noqa: PLC0415 - only the command line needs it

    return countries


SERVICE: Final = Service(
    name="countries",
    title="Countries",
    summary="ISO 3166-1 by any of its codes, at any instant since 1974.",
    tables=(TABLE,),
    router=_router,
    seed=seed,
    examples=examples,
    pages=Path(__file__).parent / "pages",
    command=_command,
    rate_limit=LIMITS,
    personal=PersonalData(mentions={Country: ("author",)}),
)
