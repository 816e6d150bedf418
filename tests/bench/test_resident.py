"""The memory of processes: shared pages are counted once, copied pages for each process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from bench._processor import can_be_counted, process_tree
from bench._resident import megabytes

pytestmark = pytest.mark.skipif(not can_be_counted(), reason="only Linux says which pages a process has")

MEGABYTES = 16
PROGRAM = f"""
import mmap, os, sys
own = bytearray(b"x") * ({MEGABYTES} * 1_000_000)
with open(sys.argv[1], "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
for word in sys.argv[2:]:
    if word == "read":
        sum(mapped[::4096])
    if word == "write":
        own[::4096] = b"y" * len(own[::4096])
    if word == "fork" and os.fork():
        break
print("done", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("resident") / "file"
    path.write_bytes(b"z" * MEGABYTES * 1_000_000)
    return path


def taken(file: Path, *words: str) -> float:
    """Return the megabytes of a program that executes these words, including its forks."""
    command = [sys.executable, "-S", "-E", "-c", PROGRAM, str(file), *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(1 + words.count("fork")):
            assert process.stdout.readline() == b"done\n"
        return megabytes(process_tree(process.pid))


def test_what_forks_share_is_counted_once_and_what_they_copy_besides(file: Path) -> None:
    alone = taken(file)
    assert MEGABYTES < alone < 2 * MEGABYTES
    assert taken(file, "fork") == pytest.approx(alone, abs=4)
    assert taken(file, "fork", "write") == pytest.approx(alone + MEGABYTES, abs=4)


def test_a_file_is_counted_once_and_whole_though_others_have_it_too(file: Path) -> None:
    alone = taken(file)
    with subprocess.Popen(
        [sys.executable, "-S", "-E", "-c", PROGRAM, str(file), "read"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"done\n"
        assert taken(file, "read", "fork", "read") == pytest.approx(alone + MEGABYTES, abs=4)
