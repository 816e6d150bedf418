"""Follows the pages of the tutorial in a folder: writes files, runs commands, and compares their output."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
MARK = "--- the tutorial goes on ---"
NOT_HERE = ("python -m venv", ". .venv/bin/activate", "mkdir shelf-tutorial", "cd shelf-tutorial", "pip install '")
"""Commands that create the environment, which the test has already created."""


class Command(Struct, frozen=True):
    """A line to run, and its expected output, in which `…` stands for anything."""

    line: str
    printed: str

    def is_printed_by(self, output: str) -> bool:
        """Whether an output is as on the page."""
        if not self.printed.strip():
            return True
        pattern = ".*".join(re.escape(part.strip("\n")) for part in self.printed.strip("\n").split("…"))
        return re.search(pattern, output, re.DOTALL) is not None


def edited(text: str, changes: str) -> str:
    """Apply a diff to a text: each line with `-` is replaced by the lines with `+` below it."""
    for old, new in re.findall(r"^-(.*)\n((?:\+.*\n?)+)", changes, re.MULTILINE):
        added = "\n".join(line[1:] for line in new.splitlines())
        assert f"{old}\n" in text, f"nothing to replace: {old}"
        text = text.replace(f"{old}\n", f"{added}\n", 1)
    return text


def commands(block: str) -> Iterator[Command]:
    """Yield the commands of a block, each with the output below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, _, printed = part.partition("\n")
        yield Command(line, printed)


def steps(pages: list[Path], replaced: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield every block of the pages in order: its language, file and text."""
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for old, new in replaced.items():
            text = text.replace(old, new)
        yield from BLOCK.findall(text)


class Reader:
    """Follows the tutorial in one shell, which keeps its variables and jobs."""

    def __init__(self, folder: Path, environment: Mapping[str, str], install: str) -> None:
        self.folder = folder
        self.install = install
        self.shell = subprocess.Popen(
            ["bash", "-m"],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def follow(self, language: str, file: str, text: str) -> None:
        """Run the commands of a block, or write its file."""
        if language == "console":
            for command in commands(text):
                self.run(command)
        elif file:
            path = self.folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            content = edited(path.read_text(encoding="utf-8"), text) if language == "diff" else text
            path.write_text(content, encoding="utf-8")

    def run(self, command: Command) -> None:
        """Run a command, and compare its output with the page."""
        if command.line.startswith(NOT_HERE):
            return
        line = command.line.replace("pip install -e .", self.install)
        is_background = line.endswith("&")
        line = f"{line[:-1]} > background.log 2>&1 &" if is_background else line
        status, output = self.said(line)
        assert is_background or status == "0", f"$ {command.line}\n{output}"
        assert is_background or command.is_printed_by(output), (
            f"$ {command.line}\n{output}\nexpected:\n{command.printed}"
        )

    def said(self, line: str) -> tuple[str, str]:
        """Run a line in the shell, and return its exit status and its output."""
        assert self.shell.stdin is not None
        assert self.shell.stdout is not None
        self.shell.stdin.write(f"{line}\nprintf '\\n%s %s\\n' '{MARK}' $?\n")
        self.shell.stdin.flush()
        output: list[str] = []
        for said in self.shell.stdout:
            if said.startswith(MARK):
                return said.removeprefix(MARK).strip(), "".join(output)
            output.append(said)
        raise AssertionError(f"$ {line}\n{''.join(output)}\nthe shell has ended")

    def close(self) -> None:
        """End the shell and its background jobs."""
        assert self.shell.stdin is not None
        self.shell.stdin.write("kill $(jobs -p) 2>/dev/null; wait; exit\n")
        self.shell.communicate(timeout=120)
