"""Naming services and access patterns on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from partita import Pattern
from partita.service import Service, discover


class ServiceName(click.ParamType[Service]):
    """The name of an installed service; gives the service."""

    name = "service"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Service:
        """Find the service."""
        if isinstance(value, Service):
            return value
        known = {service.name: service for service in discover()}
        if value not in known:
            self.fail(f"There is no service {value!r}. There is: {', '.join(known) or 'none'}.", param, ctx)
        return known[value]

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's
        """The services that begin like this."""
        return [CompletionItem(service.name) for service in discover() if service.name.startswith(incomplete)]


class PatternName(click.ParamType[Pattern]):
    """The name of an access pattern of an installed service; gives the pattern."""

    name = "pattern"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Pattern:
        """Find the pattern; where two services have one of that name, `service.pattern` tells them apart."""
        if isinstance(value, Pattern):
            return value
        found = [pattern for name, pattern in _patterns() if value in (pattern.name, name)]
        if not found:
            self.fail(f"There is no access pattern {value!r}. `partita patterns` lists them.", param, ctx)
        if len(found) > 1:
            self.fail(f"Several services have an access pattern {value!r}: write SERVICE.{value}.", param, ctx)
        return found[0]

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's
        """The patterns that begin like this."""
        return [CompletionItem(p.name, help=p.doc) for _, p in _patterns() if p.name.startswith(incomplete)]


def _patterns() -> list[tuple[str, Pattern]]:
    return [(f"{service.name}.{pattern.name}", pattern) for service in discover() for pattern in service.patterns]


def _all_if_none(
    context: click.Context,  # noqa: ARG001 - click's
    parameter: click.Parameter,  # noqa: ARG001 - click's
    value: Sequence[Service],
) -> Sequence[Service]:
    if found := value or discover():
        return found
    raise click.ClickException(
        "No service is installed. Install the five of Partita (pip install partita-services), "
        "or write one of your own (partita new service NAME --entity ENTITY) and install your package."
    )


services_argument = click.argument(
    "services", nargs=-1, type=ServiceName(), metavar="[SERVICE]...", callback=_all_if_none
)
"""The services that a command is about; all that are installed where none is named."""

service_argument = click.argument("service", type=ServiceName(), metavar="SERVICE")
"""The one service that a command is about."""
