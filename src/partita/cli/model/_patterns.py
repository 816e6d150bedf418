"""`partita patterns`: the declared access patterns."""

from __future__ import annotations

from collections.abc import Sequence

import click

from partita.cli._names import services_argument
from partita.cli._output import echo_json, echo_table, json_option
from partita.service import PatternSummary, Service, summary_of


@click.command()
@services_argument
@json_option
def patterns(services: Sequence[Service], *, as_json: bool) -> None:
    """List the access patterns and their budgets."""
    summaries = {service.name: [summary_of(pattern) for pattern in service.patterns] for service in services}
    if as_json:
        echo_json(summaries)
        return
    for number, service in enumerate(services):
        click.echo(("\n" if number else "") + click.style(f"{service.title}: {service.summary}", bold=True))
        echo_table(
            ("PATTERN", "KIND", "SERVED BY", "BUDGET", "DESCRIPTION"),
            [_row(summary) for summary in summaries[service.name]],
        )


def _row(summary: PatternSummary) -> tuple[str, ...]:
    call = f"{summary.name}({', '.join(summary.parameters)})"
    budget = str(summary.budget) if summary.budget else "-"
    return call, summary.kind, summary.served_by, budget, summary.doc.partition("\n")[0]
