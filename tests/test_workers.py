"""Workers that are forks: which tests they run, what they report, and what happens when one dies."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GROUPED = """
import os, signal
import pytest

@pytest.fixture(scope="session")
def server(tmp_path_factory, request):
    request.addfinalizer((request.config.rootpath / f"stopped-{os.getpid()}").touch)
    return tmp_path_factory.mktemp("server")

@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("n", range(6))
def test_grouped(n, server):
    (server / f"grouped-{n}").touch(exist_ok=False)
    assert server.parent.name == os.environ["PYTEST_XDIST_WORKER"]

@pytest.mark.parametrize("n", range(6))
def test_single(n, tmp_path):
    (tmp_path / "single").touch(exist_ok=False)
"""
TROUBLE = """
@pytest.mark.parametrize("n", range(3))
def test_talks_and_fails(n):
    print(f"this is {n}")
    os.write(2, f"that is {n}".encode())
    assert n < 0, f"because of {n}"

@pytest.mark.xdist_group("two")
def test_dies():
    os.kill(os.getpid(), signal.SIGKILL)

@pytest.mark.xdist_group("two")
def test_skips():
    pytest.skip("not today")
"""
WAITING = """
import select, signal, socket
import pytest

@pytest.fixture(scope="session")
def server(request):
    request.addfinalizer((request.config.rootpath / "stopped").touch)

def test_waits(server, request):
    woken, wakes = socket.socketpair()
    wakes.setblocking(False)
    signal.set_wakeup_fd(wakes.fileno())  # signal.pause() would not notice what comes just before it
    (request.config.rootpath / "begun").write_text("begun")
    select.select([woken], [], [])
"""
FORKING = """
import os, signal

def test_forks():
    pid = os.fork()
    if pid == 0:
        os.kill(os.getpid(), signal.SIGTERM)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGTERM
"""
TEARING_DOWN = """
import os, signal
import pytest

@pytest.fixture(scope="session", autouse=True)
def server(request):
    yield
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(os.getpid(), number)
    (request.config.rootpath / "finished").touch()

def test_is_interrupted():
    os.kill(os.getpid(), signal.SIGTERM)
"""
AS_IN_A_TERMINAL = """
import signal, pytest
signal.signal(signal.SIGINT, signal.default_int_handler)
raise SystemExit(pytest.main())
"""
"""Programs that a shell starts in the background ignore SIGINT, so its default handler is set."""


def started(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    """Start pytest with the tests of a folder, run by workers, and only with the plugins that they need."""
    plugins = ("-p", "xdist", "-p", "tests.ending", "-p", "tests.workers", "-p", "no:cacheprovider")
    command = [sys.executable, "-c", AS_IN_A_TERMINAL, *plugins, "--dist=loadgroup", *options]
    # Not a pipe, because its reader would wait for processes that a dead worker may have left behind.
    with (folder / "said.txt").open("w") as said:
        return subprocess.Popen(
            [*command, "--rootdir", folder, f"--basetemp={folder / 'temp'}", folder],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            stdout=said,
            stderr=subprocess.STDOUT,
        )


def run(folder: Path, *options: str) -> str:
    """Return the output of pytest for the tests of a folder."""
    started(folder, *options).wait()
    return (folder / "said.txt").read_text()


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("tests")
    (folder / "test_a.py").write_text(GROUPED)
    (folder / "test_b.py").write_text(GROUPED + TROUBLE)
    return run(folder, "-n2", "-v") + "\n".join(path.name for path in folder.glob("stopped-*"))


def test_a_group_of_several_files_runs_in_one_worker(said: str) -> None:
    ran = re.findall(r"\[(gw\d)\].* PASSED test_([ab])\.py::test_(grouped|single)", said)
    assert len(ran) == 24, said
    assert len({worker for worker, _, kind in ran if kind == "grouped"}) == 1


def test_what_a_group_shares_is_ended_once_with_its_worker(said: str) -> None:
    assert len(re.findall(r"^stopped-\d+$", said, re.MULTILINE)) == 1


def test_a_failure_comes_with_its_own_output(said: str) -> None:
    parts = re.split(r"_+ test_talks_and_fails\[(\d)\] _+", said)
    told: defaultdict[str, set[str]] = defaultdict(set)
    for number, part in zip(parts[1::2], parts[2::2], strict=True):
        told[number] |= set(re.findall(r"(?:this is|that is|because of) \d", part.partition("test_dies")[0]))
    assert told == {n: {f"this is {n}", f"that is {n}", f"because of {n}"} for n in "012"}, said


def test_a_worker_that_dies_fails_its_test_and_another_takes_its_place(said: str) -> None:
    assert re.search(r"worker gw\d ended with SIGKILL while it ran test_b\.py::test_dies", said)
    assert "4 failed, 24 passed, 1 skipped" in said


def test_after_the_first_failure_no_more_is_run(tmp_path: Path) -> None:
    (tmp_path / "test_c.py").write_text(
        "import pytest\n"
        '@pytest.mark.xdist_group("one")\n'
        '@pytest.mark.parametrize("n", range(500))\n'
        "def test_of_many(n, tmp_path):\n"
        "    assert n != 1\n"
    )
    said = run(tmp_path, "-n2", "-x")
    assert "stopping after 1 failures" in said
    found = re.search(r"1 failed, (\d+) passed", said)
    assert found is not None, said
    assert int(found[1]) < 499, said


@pytest.mark.parametrize("workers", ["-n0", "-n1"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_workers_and_what_they_have_started(
    tmp_path: Path, number: signal.Signals, workers: str
) -> None:
    (tmp_path / "test_d.py").write_text(WAITING)
    os.mkfifo(tmp_path / "begun")
    process = started(tmp_path, workers)
    assert (tmp_path / "begun").read_text() == "begun"
    process.send_signal(number)
    assert process.wait() == pytest.ExitCode.INTERRUPTED, (tmp_path / "said.txt").read_text()
    assert (tmp_path / "stopped").exists()


def test_a_fork_of_a_test_ends_on_a_signal_as_any_process(tmp_path: Path) -> None:
    (tmp_path / "test_e.py").write_text(FORKING)
    assert "1 passed" in run(tmp_path, "-n1")


def test_a_second_signal_does_not_interrupt_the_teardown(tmp_path: Path) -> None:
    (tmp_path / "test_f.py").write_text(TEARING_DOWN)
    said = run(tmp_path, "-n1")
    assert (tmp_path / "finished").exists(), said
