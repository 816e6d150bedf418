"""Unusual environments: closed output, folders that cannot be named or written, terminals that go away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli.conftest import Run

from partita.cli import _signals

DEADLINE = 60
AS_IN_A_TERMINAL = """
import signal
for number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
"""
"""Restores the default signal handling: if the tests run in the background or with nohup, some signals are ignored."""
MAIN = [sys.executable, "-c", AS_IN_A_TERMINAL + 'from partita.cli import main; main(prog_name="partita")']
UNTIL_STOPPED = {
    "serve": ["serve", "todo", "--port", "0", "--no-seed", "--workers", "0"],
    "dynamodb": ["dynamodb", "--port", "0"],
    "worker": ["worker", "events", "--workers", "1"],
}


@contextmanager
def started(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Start a command, wait until it says that it runs, and kill it at the end of the block."""
    process = subprocess.Popen(
        [*MAIN, *words],
        env=os.environ | {"PARTITA_DATA": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    said = ""
    with process:
        try:
            while "Stop with Ctrl-C." not in said:
                line = process.stdout.readline()
                assert line, said
                said += line
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGQUIT, signal.SIGINT])
@pytest.mark.parametrize("command", UNTIL_STOPPED)
def test_every_signal_of_a_terminal_stops_in_order(command: str, number: signal.Signals, folder: Path) -> None:
    with started(folder, *UNTIL_STOPPED[command]) as process:
        process.send_signal(number)  # immediately: a server may still be starting
        output, _ = process.communicate(timeout=DEADLINE)
    assert (process.returncode, output) == (0, "Stopped.\n")


def test_ctrl_c_twice_ends_a_server_without_a_traceback(folder: Path) -> None:
    with started(folder, *UNTIL_STOPPED["serve"]) as process:
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=DEADLINE)
    assert output == "Stopped.\n"


def test_a_signal_that_is_to_be_ignored_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "getsignal", {signal.SIGHUP: signal.SIG_IGN}.get)
    assert set(_signals.stop_signals()) == {signal.SIGINT, signal.SIGTERM, signal.SIGQUIT}


@pytest.mark.parametrize("closed", ["1>&-", "1>&- 2>&- <&-"])
def test_a_server_needs_no_output(closed: str, folder: Path) -> None:
    script = f"""
        "$@" {closed} & pid=$!
        while [ ! -e "$PARTITA_DATA/secret.key" ]; do sleep 0.05; done
        readlink /proc/$pid/fd/1
        kill $pid; wait $pid
    """
    process = subprocess.run(
        ["sh", "-c", script, "sh", *MAIN, *UNTIL_STOPPED["serve"]],
        env=os.environ | {"PARTITA_DATA": str(folder)},
        capture_output=True,
        check=False,
        timeout=DEADLINE,
        text=True,
    )
    assert "Traceback" not in process.stderr
    assert process.returncode in {0, 128 + signal.SIGTERM}  # the latter if it had not begun to serve
    if Path("/proc/self/fd").exists():  # else the next opened file would be descriptor 1, and get the output
        assert process.stdout == "/dev/null\n"


def test_a_folder_whose_name_is_not_utf_8_is_refused_and_not_made(tmp_path: Path, run: Run) -> None:
    folder = os.fsdecode(bytes(tmp_path / "odd") + b"\xff")
    result = run("serve", "todo", "--data", folder)
    assert result.exit_code == 1
    assert "is not UTF-8. SQLite requires UTF-8 names. Choose another folder with --data." in result.output
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Make the data folder read-only, as on a read-only mount, where even root cannot write."""
    access: Callable[..., bool] = os.access

    def denied(path: Path, mode: int) -> bool:
        return access(path, mode) and not (mode == os.W_OK and Path(path) == folder)

    monkeypatch.setattr(os, "access", denied)


@pytest.mark.usefixtures("read_only")
def test_what_cannot_be_written_is_checked_and_backed_up_in_a_copy(seeded: Run, folder: Path, tmp_path: Path) -> None:
    before = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    checked = seeded("check")
    assert "is not writable: using a copy" in checked.output
    assert f"{folder}/partita.db: consistent" in checked.output
    assert seeded("backup", str(tmp_path / "copy.db")).exit_code == 0
    assert {file.name: file.stat().st_mtime_ns for file in folder.iterdir()} == before


@pytest.mark.parametrize(("encoding", "shown"), [("latin-1", r"\u65e5 ü"), ("utf-8", "日 ü")])
def test_an_error_does_not_fail_in_an_encoding_that_lacks_a_character(
    encoding: str, shown: str, tmp_path: Path
) -> None:
    arguments = ["check", "--data", str(tmp_path / "日 ü")]
    env = os.environ | {"PYTHONIOENCODING": encoding}
    done = subprocess.run([*MAIN, *arguments], env=env, capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr.decode(encoding).startswith(f"Error: There is no database in {tmp_path}/{shown}. Start")


@pytest.mark.parametrize(
    ("encoding", "shown"), [("ascii", r"\u65e5 \xfc"), ("latin-1", r"\u65e5 ü"), ("utf-8", "日 ü")]
)
def test_output_does_not_fail_in_an_encoding_that_lacks_a_character(
    encoding: str, shown: str, run: Run, folder: Path
) -> None:
    assert run("tables", "create", "todo").exit_code == 0
    arguments = ["personal", "export", "todo", "--user", "日 ü", "--data", str(folder)]
    env = os.environ | {"PYTHONIOENCODING": encoding}
    printed = subprocess.run([*MAIN, *arguments], env=env, capture_output=True, check=True).stdout.decode(encoding)
    assert f'"user_id": "{shown}"' in printed
