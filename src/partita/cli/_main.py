"""The command `partita` with all its subcommands. A Partita error becomes one clear line and exit code 1."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from partita.cli._names import named_command
from partita.cli._output import give_up_output, open_missing_streams, replace_unencodable
from partita.cli._program import COMMANDS, help_text, service_names
from partita.errors import PartitaError


class Commands(click.Group):
    """Partita's own commands and those of the services. Errors say what to do, without a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's
        """The names of Partita's commands and of the services, without loading any of them."""
        return [*sorted(COMMANDS), *(name for name in service_names() if name not in COMMANDS)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name. A service is loaded only if the name is not one of Partita's commands."""
        if cmd_name in COMMANDS:
            return _own(cmd_name)
        try:
            return named_command(cmd_name)
        except click.ClickException:
            if ctx.resilient_parsing:  # during shell completion, errors are not reported
                return None
            raise

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """Write the help text without loading any command."""
        formatter.write(help_text())

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands and services whose names begin with `incomplete`."""
        begun = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        helps = {name: summary for name, (_, summary) in COMMANDS.items()}
        return [CompletionItem(name, help=helps.get(name)) for name in begun] or super().shell_complete(ctx, incomplete)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line as a program."""
        open_missing_streams()
        replace_unencodable()
        return super().main(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _errors_in_one_line():
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options, some of which print output."""
        with _errors_in_one_line():
            return super().parse_args(ctx, args)


def _own(name: str) -> click.Command:
    module, _, attribute = COMMANDS[name][0].partition(":")
    command: click.Command = getattr(import_module(f"partita.cli.{module}"), attribute)
    return command


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    """Report errors in one line."""
    try:
        yield
    except PartitaError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        if error.errno == errno.EPIPE:  # the reader of the output has gone; click ends quietly in this case
            raise
        give_up_output()
        raise click.ClickException(_in_words(error)) from error


def _in_words(error: OSError) -> str:
    """What the system says, after the file that it says it about."""
    place = "" if error.filename is None else f"{error.filename}: "
    return f"{place}{error.strerror or error}."


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="partita", message="%(prog)s %(version)s")
def main() -> None:
    """Run, inspect and maintain services that are built on Partita."""
