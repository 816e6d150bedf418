"""The option `--rate-limit`: how many requests each caller may send to each service."""

from __future__ import annotations

from typing import Literal, TypeAlias

import click

from partita.errors import ModelError
from partita.recipes.rate_limit import Rate

RateOption: TypeAlias = Rate | Literal["declared", "off"]
"""A rate for all services, the rate that each declares, or no limit."""


def _parse(context: click.Context, parameter: click.Parameter, value: str | None) -> RateOption:  # noqa: ARG001 - click's
    if value is None:
        return "declared"
    if value == "off":
        return "off"
    burst, _, per_second = value.partition("/")
    try:
        return Rate(int(burst), float(per_second))
    except (ModelError, ValueError):
        raise click.BadParameter(f"{value!r} is neither `off` nor a rate such as 600/100.") from None


rate_limit_option = click.option(
    "--rate-limit",
    envvar="PARTITA_RATE_LIMIT",
    show_envvar=True,
    metavar="BURST/PER_SECOND",
    callback=_parse,
    help="Request limit per caller and service, such as 600/100; `off` for none. Default: what each service declares.",
)
"""The option, passed to the command as `rate_limit`."""
