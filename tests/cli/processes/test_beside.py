"""Work in a separate process, which ends before the processes of a server are forked."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.processes.servers import MAIN, children_of
from tests.cli.waiting import DEADLINE, soon

from partita._sqlite import ProcessLock
from partita.errors import StoreError

pytestmark = [
    pytest.mark.req("X21"),
    pytest.mark.skipif(sys.platform != "linux", reason="/proc says which processes there are"),
    pytest.mark.xdist_group("processes"),
]

CASES = """
import logging, os, signal, click
from partita.cli.processes import working_beside
from partita.errors import StoreError

def fail():
    raise StoreError("The disk is full.", hint="Make room.")

def end():
    os.kill(os.getpid(), signal.SIGKILL)

def say():
    print("beside", flush=True)
    logging.warning("heard")

parent = os.getpid()
for work in (say, lambda: os.getpid() == parent and fail(), fail, end, signal.pause):
    try:
        with working_beside(work):
            if work is signal.pause:
                raise click.ClickException("what is beside it is ended")
        print("done", flush=True)
    except click.ClickException as error:
        print(error, flush=True)
"""
SIGNALLED = """
import os, signal
from partita.cli.processes import working_beside

os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGTERM))  # held until it is started
with working_beside(signal.pause):
    print("begun", flush=True)
"""


def test_it_is_done_elsewhere_and_what_kept_it_from_that_is_said() -> None:
    done = subprocess.run([sys.executable, "-c", CASES], capture_output=True, text=True, timeout=DEADLINE, check=True)
    assert done.stdout.splitlines() == [
        "beside",
        "done",
        "done",
        str(StoreError("The disk is full.", hint="Make room.")),
        "The preparing process ended with -9.",
        "what is beside it is ended",
    ]
    assert re.fullmatch(r"preparing \(\d+\): heard\n", done.stderr)


def test_a_signal_that_comes_while_it_is_started_ends_both_and_is_said() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SIGNALLED], capture_output=True, text=True, timeout=DEADLINE, check=True
    )
    assert (done.stdout, done.stderr) == ("Stopped.\n", "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_to_stop_while_its_store_is_prepared_ends_at_once(
    number: signal.Signals, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    command = [*MAIN, "serve", "todo", "--no-seed", "--port", "0", "--processes", "2", "--data", str(folder)]
    lock = ProcessLock(folder / "partita.db")
    try:
        with lock, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            soon(lambda: bool(children_of(process.pid)))
            (preparing,) = children_of(process.pid)
            os.kill(process.pid, number)
            output, _ = process.communicate(timeout=DEADLINE)
            assert (process.returncode, output) == (0, "Stopped.\n")
            assert not Path(f"/proc/{preparing}").exists()
    finally:
        lock.close()
