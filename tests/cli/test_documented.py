"""The page of the command line documents every command and option, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from partita.cli import main
from partita.cli._program import COMMANDS

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## `partita (\w+)[^\n]*`$\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def command_of(name: str) -> click.Command:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    return command


def test_the_page_has_a_section_for_each_command() -> None:
    assert SECTIONS.keys() == COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_section_has_the_options_of_the_command(name: str) -> None:
    command = command_of(name)
    parts = command.commands.values() if isinstance(command, click.Group) else [command]
    options = {option.opts[-1]: option for part in parts for option in part.params if isinstance(option, click.Option)}
    documented = re.findall(r"^\| `(--[a-z-]+)", SECTIONS[name], re.MULTILINE)
    assert sorted(options) == sorted(documented)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_says_what_it_does(name: str) -> None:
    command = command_of(name)
    assert command.help
    assert [o.name for o in command.params if isinstance(o, click.Option) and not o.help] == []
