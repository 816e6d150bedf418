"""Options that make a server behave as DynamoDB does where a file behaves better."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from partita.store import Store

_SECONDS: Final = click.FloatRange(min=0)
_SWITCHES: Final = {
    "stale_seconds": (_SECONDS, "SECONDS", "Eventually consistent reads see a write up to so much later."),
    "index_seconds": (_SECONDS, "SECONDS", "Entries of global indexes appear up to so much later."),
    "table_seconds": (_SECONDS, "SECONDS", "Tables and new indexes can be used after so long."),
    "transaction_seconds": (
        _SECONDS,
        "SECONDS",
        "Transactions hold their items for so long; who meets one is refused.",
    ),
    "unprocessed": (click.FloatRange(0, 1), "CHANCE", "Parts of batches are left unprocessed with this chance."),
    "table_units": (str, "READ:WRITE", "Throttle a table that consumes more units in a second."),
    "partition_units": (str, "READ:WRITE", "Throttle a partition key that consumes more units in a second."),
    "seed": (int, "NUMBER", "What chance begins with, so that a failure repeats."),
}


def realism_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add one option for each switch."""
    for name, (kind, metavar, about) in reversed(_SWITCHES.items()):
        option = f"--{name.replace('_', '-')}"
        command = click.option(option, name, type=kind, metavar=metavar, help=f"For tests: {about}")(command)
    return command


def is_realistic(switches: Mapping[str, Any]) -> bool:
    """Whether an option was given that changes how a store behaves."""
    return any(value is not None for name, value in switches.items() if name != "seed")


def realistically(switches: Mapping[str, Any]) -> Callable[[Store], Store]:
    """What makes a store behave as the options say; nothing where none is given."""
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
        raise click.BadParameter("It has the form READ:WRITE.", param_hint=option) from None
    if min(limits.read, limits.write) <= 0:
        raise click.BadParameter("Both are above 0.", param_hint=option)
    return limits
