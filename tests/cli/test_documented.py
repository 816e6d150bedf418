"""Every command and option is on the page of the command line, and nothing else is."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from partita.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## `partita (\w+)[^\n]*`$\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def test_the_page_has_a_section_for_each_command() -> None:
    assert SECTIONS.keys() == main.commands.keys()


@pytest.mark.parametrize("name", main.commands)
def test_the_section_has_the_options_of_the_command(name: str) -> None:
    command = main.commands[name]
    parts = command.commands.values() if isinstance(command, click.Group) else [command]
    options = {option.opts[-1]: option for part in parts for option in part.params if isinstance(option, click.Option)}
    documented = re.findall(r"^\| `(--[a-z-]+)", SECTIONS[name], re.MULTILINE)
    assert sorted(options) == sorted(documented)


@pytest.mark.parametrize("name", main.commands)
def test_the_command_says_what_it_does(name: str) -> None:
    assert main.commands[name].help
    assert [o.name for o in main.commands[name].params if isinstance(o, click.Option) and not o.help] == []
