"""`partita cost`: the budget of each access pattern, and its consumption on sample data."""

from __future__ import annotations

from collections.abc import Sequence

import click

from partita.cli._names import services_argument
from partita.cli._output import echo_json, echo_table, json_option
from partita.cost import Measurement, measure
from partita.service import Service


@click.command()
@services_argument
@json_option
def cost(services: Sequence[Service], *, as_json: bool) -> None:
    """Compare the cost of access patterns with their budgets.

    Runs every access pattern once on sample data in memory. Exits with 1 if a pattern is over its budget.
    """
    measured = {service.name: measure(service) for service in services}
    if as_json:
        echo_json(measured)
    else:
        for service in services:
            click.secho(service.title, bold=True)
            rows = [_row(measurement) for measurement in measured[service.name]]
            echo_table(("PATTERN", "KIND", "INDEX", "BUDGET", "MEASURED", ""), rows)
    over = [m.pattern for measurements in measured.values() for m in measurements if m.verdict == "over"]
    if over:
        raise click.ClickException(f"Over budget: {', '.join(over)}.")


def _row(measurement: Measurement) -> tuple[str, ...]:
    return (
        measurement.pattern,
        measurement.kind,
        measurement.index or "-",
        str(measurement.budget or "-"),
        str(measurement.measured or "-"),
        measurement.verdict,
    )
