"""Options that make a server show behaviors of DynamoDB that the embedded store avoids, such as stale reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from partita.cli._numbers import FiniteRange
from partita.store import Store

_SECONDS: Final = FiniteRange(min=0)
_SWITCHES: Final = {
    "stale_seconds": (_SECONDS, "SECONDS", "eventually consistent reads see a write up to this much later."),
    "index_seconds": (_SECONDS, "SECONDS", "entries of global indexes appear up to this much later."),
    "table_seconds": (_SECONDS, "SECONDS", "tables and new indexes can be used after this time."),
    "transaction_seconds": (
        _SECONDS,
        "SECONDS",
        "transactions hold their items for this time; requests for these items are refused.",
    ),
    "unprocessed": (
        FiniteRange(0, 1),
        "PROBABILITY",
        "parts of batches are left unprocessed with this probability.",
    ),
    "table_units": (str, "READ:WRITE", "throttle a table that consumes more units per second."),
    "partition_units": (str, "READ:WRITE", "throttle a partition key that consumes more units per second."),
    "seed": (int, "NUMBER", "seed of the random numbers, so that a failure can be repeated."),
}


def realism_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add one option for each switch."""
    for name, (kind, metavar, about) in reversed(_SWITCHES.items()):
        option = f"--{name.replace('_', '-')}"
        command = click.option(option, name, type=kind, metavar=metavar, help=f"For tests: {about}")(command)
    return command


def is_realistic(switches: Mapping[str, Any]) -> bool:
    """Whether an option that changes the behavior of a store was given."""
    return any(value is not None for name, value in switches.items() if name != "seed")


def realistically(switches: Mapping[str, Any]) -> Callable[[Store], Store]:
    """A function that makes a store behave as the options say. Without options, it returns the store unchanged."""
    if not is_realistic(switches):
        return lambda store: store
    given = {name: value for name, value in switches.items() if value is not None}
    from partita.testing import Realism, RealisticStore

    for name in ("table", "partition"):
        if f"{name}_units" in given:
            given[f"{name}_limits"] = _limits(given.pop(f"{name}_units"), f"--{name}-units")
    realism = Realism(**given)
    return lambda store: RealisticStore(store, realism)


def _limits(text: str, option: str) -> Any:
    from partita.testing import UnitLimits

    read, _, write = text.partition(":")
    try:
        limits = UnitLimits(float(read), float(write))
    except ValueError:
        raise click.BadParameter("Must have the form READ:WRITE.", param_hint=option) from None
    if min(limits.read, limits.write) <= 0:
        raise click.BadParameter("Both numbers must be greater than 0.", param_hint=option)
    return limits
