"""Generates the reference of the command line from the commands themselves; `docs/site.py` adds it to the site."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator

import click

from partita.cli import main

TITLE = "Commands and options"
HEAD = f"""# {TITLE}

Every command with its arguments and options, as in its `--help`. [Command line](../cli.md) explains what each command
is for, and how they work together.
"""


def commands(group: click.Group, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """Yield all executable commands below a group, each with a context that contains its full name."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            if command.invoke_without_command:
                yield command, inner
            yield from commands(command, inner)
        else:
            yield command, inner


def section(command: click.Command, context: click.Context) -> str:
    """The section of one command: its usage, its description and its options."""
    usage = " ".join(command.collect_usage_pieces(context))
    said = inspect.cleandoc(command.help or "").replace("\b\n", "").partition("\f")[0]
    rows = [f"| `{names}` | {_cell(text)} |" for names, text in _options(command, context)]
    table = ["| option | |", "| --- | --- |", *rows, ""] if rows else []
    return "\n".join([f"## {context.command_path}", "", f"    {context.command_path} {usage}", "", said, "", *table])


def _options(command: click.Command, context: click.Context) -> list[tuple[str, str]]:
    records = [each.get_help_record(context) for each in command.params if isinstance(each, click.Option)]
    return [record for record in records if record is not None]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def page() -> str:
    """The whole page."""
    root = click.Context(main, info_name="partita")
    return "\n".join([HEAD, *(section(*each) for each in commands(main, root))])


if __name__ == "__main__":
    sys.stdout.write(page())
