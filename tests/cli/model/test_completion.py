"""`partita completion`."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from tests.cli.conftest import Run

from partita.cli import main


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_calls_partita(shell: str, run: Run) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert f"_PARTITA_COMPLETE={shell}_complete" in result.output


def completed(line: str) -> list[str]:
    """Return what bash offers for a line whose last word is incomplete."""
    environment = {
        "_PARTITA_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(line.count(" ")),
    }
    result = CliRunner().invoke(main, env=environment, prog_name="partita")
    assert result.exit_code == 0
    return [answer.partition(",")[2] for answer in result.stdout.split()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("partita expl", ["explain"]),
        ("partita cost to", ["todo"]),
        ("partita explain tasks_due", ["tasks_due_on", "tasks_due_within"]),
    ],
)
def test_commands_services_and_patterns_are_completed(line: str, expected: list[str]) -> None:
    assert expected == completed(line)
