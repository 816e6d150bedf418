"""Processes that are forked from a template are independent processes."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.template import Template

PROGRAM = """
import os, sys, time

def main(*arguments):
    print(*arguments, os.environ.get("COLOUR"), os.getpid(), flush=True)
    if arguments == ("wait",):
        time.sleep(600)
    if arguments == ("fail",):
        sys.exit("failed")
"""


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Template]:
    (tmp_path / "program_of_a_template.py").write_text(PROGRAM)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with closing(Template("program_of_a_template")) as template:
        yield template


def test_processes_have_arguments_an_environment_and_an_end_of_their_own(
    template: Template, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = template.start("wait")
    monkeypatch.setenv("COLOUR", "red")
    done, failed = template.start("a", "b c"), template.start("fail")
    assert waiting.stdout.readline() == f"wait None {waiting.pid}\n".encode()
    assert done.stdout.read() == f"a b c red {done.pid}\n".encode()
    assert failed.stdout.read() == f"fail red {failed.pid}\n".encode()
    assert (template.wait(done.pid), template.wait(failed.pid)) == (0, 1)
    assert waiting.kill() == -signal.SIGKILL
    for each in (done, failed):
        each.stdout.close()
