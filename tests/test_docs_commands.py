"""The commands on the pages: every command and option exists, and the commands of how-to pages work."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from partita.cli import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINE = re.compile(r"^ *(?:\$ |- run: |)(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?partita ([a-z].*)$")


def commands_on(page: Path) -> Iterator[list[str]]:
    """Yield the commands in the code blocks of a page, each as its arguments without comments."""
    inside = False
    for line in page.read_text(encoding="utf-8").splitlines():
        inside = not inside if line.lstrip().startswith("```") else inside
        is_code = inside or line.startswith("    ")
        if is_code and (found := LINE.match(line)) and (arguments := _arguments(found[1])):
            yield arguments


def _arguments(text: str) -> list[str]:
    """Return the arguments of a command; none if it continues on the next line, or is only a usage line."""
    if text.endswith("\\") or re.search(r"\[[A-Z]", text):
        return []
    words = shlex.split(text, comments=True)
    ends = [index for index, word in enumerate(words) if word in {"|", ">", "&", "&&", ";"}]
    return words[: ends[0]] if ends else words


def fault_of(arguments: list[str], command: click.Command = main) -> str:
    """Return why a command line is invalid; an empty string if it is valid."""
    context = click.Context(command, info_name="partita")
    try:
        if isinstance(command, click.Group):
            name, inner, rest = command.resolve_command(context, arguments)
            if inner is None:
                return f"{name} is missing"
            return fault_of(rest, inner)
        command.make_parser(context).parse_args(list(arguments))
    except click.UsageError as error:
        return error.format_message()
    return ""


@pytest.mark.parametrize("arguments", [["copy", "--form", "x"], ["cop"], ["lake", "ask"], ["serve", "--port"]])
def test_a_wrong_command_is_noticed(arguments: list[str]) -> None:
    assert fault_of(arguments)


def test_every_command_on_a_page_is_one_that_there_is() -> None:
    found = [(page, arguments) for page in PAGES for arguments in commands_on(page)]
    faults = [f"{page.relative_to(ROOT)}: {' '.join(said)}: {fault_of(said)}" for page, said in found if fault_of(said)]
    assert faults == []
    assert len(found) > 100


def run(arguments: list[str]) -> str:
    """Run a command of a page, answer its question with yes, and return its output."""
    said = CliRunner().invoke(main, arguments, prog_name="partita", input="y\n")
    assert said.exit_code == 0, f"partita {' '.join(arguments)}\n{said.output}"
    return said.output


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the sample data of one service in `data`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARTITA_DATA", str(tmp_path / "data"))
    run(["seed", "todo"])
    return tmp_path


@pytest.mark.parametrize("name", ["backups", "rotating-keys"])
@pytest.mark.usefixtures("here")
def test_the_commands_of_a_guide_work_one_after_the_other(name: str) -> None:
    for arguments in commands_on(ROOT / "docs/guides" / f"{name}.md"):
        run(arguments)


@pytest.mark.usefixtures("here")
def test_what_was_exported_is_imported_as_the_page_says() -> None:
    commands = [said for said in commands_on(ROOT / "docs/transfer.md") if said[0] in {"export", "import"}]
    assert len(commands) >= 2
    for arguments in commands:
        run(arguments)
