"""Every failure prints one clear line with what to do, never a traceback, and sets an exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest
from tests.cli.conftest import Run


@pytest.mark.parametrize("command", [("check",), ("backup", "copy.db"), ("explain", "user_by_id", "ann", "--run")])
def test_a_missing_database_says_how_to_get_one(command: tuple[str, ...], run: Run, folder: Path) -> None:
    result = run(*command)
    assert result.exit_code == 1
    assert result.output == (
        f"Error: There is no database in {folder}. "
        "Start `partita serve` or `partita dynamodb` first, or name another folder with --data.\n"
    )
    assert not folder.exists()


def test_a_damaged_database_is_left_as_it_is(run: Run, folder: Path) -> None:
    folder.mkdir()
    (folder / "partita.db").write_bytes(b"precious" * 1_000)
    result = run("seed", "todo")
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert "is not a database" in result.output
    assert (folder / "partita.db").read_bytes() == b"precious" * 1_000


@pytest.mark.parametrize("command", ["seed", "token --user ann"])
def test_a_folder_that_cannot_be_made_is_named(command: str, run: Run, folder: Path) -> None:
    folder.write_text("a file in the way")
    result = run(*command.split())
    assert (result.exit_code, result.exception.__class__) == (2, SystemExit)
    assert f"Directory '{folder}' is a file" in result.output


def test_a_folder_below_a_file_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file in the way")
    result = run("seed", "todo", "--data", str(tmp_path / "file" / "data"))
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: The folder {tmp_path / 'file' / 'data'} cannot be created")


@pytest.mark.parametrize(
    "command", ["serve nothing", "patterns nothing", "cost nothing", "seed nothing", "explain nothing.user_by_id ann"]
)
def test_an_unknown_service_is_a_usage_error(command: str, run: Run) -> None:
    result = run(*command.split())
    assert result.exit_code == 2
    assert "There is no service 'nothing'. Installed services: " in result.output


WITHOUT_EXTRA = """
import sys
for package in ("fastapi", "jinja2", "jwt", "uvicorn", "starlette"):
    sys.modules[package] = None
from partita.cli import main
main(prog_name="partita")
"""


def without_extra(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PARTITA_DATA": str(folder)}
    command = [sys.executable, "-c", WITHOUT_EXTRA, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_the_core_runs_without_the_extra(folder: Path) -> None:
    result = without_extra("explain", "user_by_id", "ann", folder=folder)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("command", ["serve todo", "token --user ann"])
def test_a_command_that_needs_the_extra_says_so(command: str, folder: Path) -> None:
    result = without_extra(*command.split(), folder=folder)
    assert result.returncode == 1
    assert result.stderr == (
        "Error: fastapi, jinja2, jwt, uvicorn are not installed. Install the extra: pip install 'partita[serve]'\n"
    )


def test_a_server_with_a_lake_needs_its_extra_before_it_writes_anything(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "deltalake", None)
    result = run("serve", "todo", "--port", "0", "--lake", str(folder / "lake"))
    assert result.output == "Error: deltalake is not installed. Install the extra: pip install 'partita[lake]'\n"
    assert not folder.exists()


@pytest.mark.parametrize("command", ["deploy synth todo --out", "docs todo --out", "schema accept accounts --folder"])
def test_a_folder_that_a_command_cannot_make_is_named(command: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file in the way")
    place = tmp_path / "file" / "new"
    result = run(*command.split(), str(place))
    assert (result.exit_code, result.exception.__class__) == (1, SystemExit)
    assert result.output.startswith("Error: ")
    assert str(place) in result.output
    assert "Errno" not in result.output


def printing(*arguments: str, to: IO[str] | int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from partita.cli import main; main(prog_name='partita')", *arguments]
    return subprocess.run(command, stdout=to, stderr=subprocess.PIPE, text=True, check=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full disk to try")
@pytest.mark.parametrize("command", ["patterns todo", "patterns todo --json", "--help"])
def test_output_that_nothing_can_hold_is_a_failure(command: str) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        result = printing(*command.split(), to=full)
    assert (result.returncode, result.stderr) == (1, "Error: No space left on device.\n")


def test_a_reader_who_has_seen_enough_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        result = printing("patterns", to=writing)
    finally:
        os.close(writing)
    assert (result.returncode, result.stderr) == (1, "")  # click's exit code for a closed pipe


def test_a_page_that_is_no_text_is_not_current(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "todo-model.md"
    page.write_bytes(b"\xff\xfe")
    result = run("docs", "todo", "--out", str(tmp_path), "--check")
    assert (result.exit_code, f"{page}: not current" in result.output) == (1, True)
    assert run("docs", "todo", "--out", str(tmp_path)).exit_code == 0
    assert run("docs", "todo", "--out", str(tmp_path), "--check").output == "All pages are current.\n"


@pytest.mark.parametrize(
    "command",
    [
        "serve todo --data=",
        "serve todo --lake=",
        "serve todo --store=",
        "check --data=",
        "copy --from x.db --to=",
        "export out --from=",
        "load x.jsonl --table x --to=",
        "lake query SQL --lake=",
    ],
)
def test_an_empty_place_is_not_the_working_directory(
    command: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So says `--data "$DATA"` if the variable is not set."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    result = run(*command.split())
    assert result.exit_code in (1, 2)
    assert "is empty. Write . for the working directory." in result.output or "is not a valid address" in result.output
    assert list(Path().iterdir()) == []


def test_the_working_directory_is_named_by_its_path(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"There is no database in {tmp_path}. Start" in run("check", "--data", ".").output


@pytest.mark.parametrize("number", ["nan", "inf"])
@pytest.mark.parametrize(
    "command",
    [
        "migrate backfill accounts --wcu",
        "copy --from a.db --to b.db --wcu",
        "import . --to b.db --wcu",
        "load x.jsonl --table x --wcu",
        "dynamodb --sweep-every",
        "dynamodb --stale-seconds",
        "dynamodb --unprocessed",
    ],
)
def test_a_number_is_finite(command: str, number: str, run: Run, folder: Path) -> None:
    result = run(*command.split(), number)
    assert (result.exit_code, "Usage: partita" in result.output) == (2, True)
    assert "finite number" in result.output or "in the range" in result.output
    assert not folder.exists()
