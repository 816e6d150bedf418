"""Arguments and options that name services and access patterns on the command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Final, TypeAlias

import click
from click.shell_completion import CompletionItem

from partita import Pattern
from partita.cli._extras import extra_with
from partita.service import BrokenService, InstalledServices, Service, discover, find_service, installed_services

Command: TypeAlias = Callable[..., Any]

_SAID: Final = "partita.broken_services"
"""Key in the context of a command for the broken services that it has already reported."""


def installed() -> InstalledServices:
    """All installed services. Those that cannot be loaded are named on the standard error, once per command."""
    found = installed_services()
    for broken in found.broken:
        _warn(broken)
    return found


def _warn(broken: BrokenService) -> None:
    context = click.get_current_context(silent=True)
    if context is None or context.resilient_parsing:  # during shell completion, nothing is reported
        return
    said: set[BrokenService] = context.meta.setdefault(_SAID, set())
    if broken not in said:
        said.add(broken)
        click.echo(f"Warning: {_why(broken)}", err=True)


def _any_installed() -> InstalledServices:
    """All installed services.

    Raises:
        click.ClickException: no service is installed.
    """
    found = installed()
    if not found.names:
        raise click.ClickException(
            "No service is installed. Install Partita's five services (pip install partita-services), "
            "or write your own (partita new service NAME --entity ENTITY) and install your package."
        )
    return found


def named(name: str) -> Service | None:
    """The service of that name, or None if there is none.

    Raises:
        click.ClickException: the service cannot be loaded.
    """
    found = find_service(name)
    if isinstance(found, BrokenService):
        raise click.ClickException(_why(found))
    return found


def named_command(name: str) -> click.Group | None:
    """The commands of the service of that name, or None if there is no such service.

    Raises:
        click.ClickException: they cannot be loaded. click.UsageError: the service has no commands.
    """
    service = named(name)
    if service is None:
        return None
    found = _command(service)
    if found is None:
        raise click.UsageError(f"The service {name!r} has no commands of its own.")
    if isinstance(found, BrokenService):
        raise click.ClickException(_why(found))
    return found


def _command(service: Service) -> click.Group | BrokenService | None:
    try:
        return None if service.command is None else service.command()
    except Exception as error:  # noqa: BLE001 - third-party packages may raise anything
        return BrokenService.of(service.name, error)


def _why(broken: BrokenService) -> str:
    extra = extra_with(broken.missing) if broken.missing else None
    remedy = f" Install the extra: pip install 'partita[{extra}]'" if extra else ""
    return f"The service {broken.name!r} cannot be loaded: {broken.reason}{remedy}"


class ServiceName(click.ParamType[Service]):
    """The name of an installed service, converted to the service."""

    name = "service"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Service:
        """Find the service, without loading others."""
        found = value if isinstance(value, Service) else named(value)
        if found is None:
            known = ", ".join(_any_installed().names)
            self.fail(f"There is no service {value!r}. Installed services: {known}.", param, ctx)
        return found

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's
        """The services whose names begin with `incomplete`."""
        return [CompletionItem(service.name) for service in discover() if service.name.startswith(incomplete)]


class PatternName(click.ParamType[Pattern]):
    """The name of an access pattern of an installed service, converted to the pattern."""

    name = "pattern"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Pattern:
        """Find the pattern. If several services have a pattern of that name, it must be `service.pattern`."""
        if isinstance(value, Pattern):
            return value
        service, _, name = value.rpartition(".")
        among = [ServiceName().convert(service, param, ctx)] if service else _any_installed().services
        found = [pattern for each in among for pattern in each.patterns if pattern.name == name]
        if not found:
            self.fail(f"There is no access pattern {value!r}. `partita patterns` lists them.", param, ctx)
        if len(found) > 1:
            self.fail(f"Several services have an access pattern {value!r}: write SERVICE.{value}.", param, ctx)
        return found[0]

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 - click's
        """The patterns whose names begin with `incomplete`."""
        known = [pattern for service in discover() for pattern in service.patterns]
        return [CompletionItem(each.name, help=each.doc) for each in known if each.name.startswith(incomplete)]


def _usable(found: InstalledServices) -> Sequence[Service]:
    """The services that can be loaded.

    Raises:
        click.ClickException: there are none.
    """
    if found.services:
        return found.services
    raise click.ClickException("None of the installed services can be loaded.")


def _all_if_none(
    context: click.Context,  # noqa: ARG001 - click's
    parameter: click.Parameter,  # noqa: ARG001 - click's
    value: Sequence[Service],
) -> Sequence[Service]:
    return value or _usable(_any_installed())


services_argument = click.argument(
    "services", nargs=-1, type=ServiceName(), metavar="[SERVICE]...", callback=_all_if_none
)
"""The services that a command reports on: those that are named, or all installed ones if none is named."""

service_argument = click.argument("service", type=ServiceName(), metavar="SERVICE")
"""The one service that a command works on."""


def choose(services: Sequence[Service], *, everything: bool) -> Sequence[Service]:
    """The named services, all installed services with `--all`, or the only installed service.

    Raises:
        click.UsageError: several services are installed, and neither names nor `--all` were given.
    """
    if services and everything:
        raise click.UsageError("Name services or use --all, not both.")
    if services:
        return services
    found = _any_installed()
    usable = _usable(found)
    if not everything and len(found.names) > 1:
        raise click.UsageError(f"Name one or more services, or use --all. Installed: {', '.join(found.names)}.")
    return usable


def chosen_services(command: Command) -> Command:
    """Declare the services that a command changes: only services that its user has chosen."""

    @wraps(command)
    def run(*args: Any, services: Sequence[Service], everything: bool, **others: Any) -> Any:
        return command(*args, services=choose(services, everything=everything), **others)

    return named_services_argument(all_option(run))


named_services_argument = click.argument("services", nargs=-1, type=ServiceName(), metavar="[SERVICE]...")
"""The services that are named on the command line, for `choose`."""

all_option = click.option("--all", "everything", is_flag=True, help="All installed services.")
"""The option `--all`, for `choose`."""
