"""Run the checklists of AGENTS.md as a program, in a copy of the repository."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from tests.scaffold.scratch import Scratch

BLOCK = re.compile(r"^```(console|diff|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(Struct, frozen=True):
    """A fenced block of a checklist: commands, a diff, or code to add."""

    kind: str
    text: str

    def follow(self, scratch: Scratch) -> None:
        """Run the commands, apply the diff, or add the code."""
        {"console": _run, "diff": _change, "python": _add}[self.kind](self.text, scratch)


def blocks(guide: str) -> Iterator[Block]:
    """Yield the blocks of all checklists, in order."""
    for kind, text in BLOCK.findall(guide.split("## Checklists")[1]):
        yield Block(kind, text)


def _run(text: str, scratch: Scratch) -> None:
    for line in text.splitlines():
        command, _, said = line.removeprefix("$ ").partition("  # ")
        if command == "make setup":
            scratch.install()
        elif command.startswith("partita new "):
            scratch.new(command.removeprefix("partita new "))
        elif command.startswith("pytest "):
            assert (scratch.root / command.removeprefix("pytest ")).exists()  # all tests are run together at the end
        else:
            scratch.run(*shlex.split(command), fails=said.startswith("exits with 1"))


def _change(text: str, scratch: Scratch) -> None:
    path = Path()
    for part in re.split(r"^(?=\+\+\+ |-(?!-))", text, flags=re.MULTILINE):
        lines = part.splitlines()
        if part.startswith("+++ "):
            path = scratch.root / lines[0].removeprefix("+++ ")
        elif lines:
            before, after = lines[0][1:], "\n".join(line[1:] for line in lines[1:])
            code = path.read_text(encoding="utf-8")
            assert before in code, f"{path} has no {before!r}"
            path.write_text(code.replace(before, after), encoding="utf-8")


def _add(text: str, scratch: Scratch) -> None:
    first, code = text.split("\n", 1)
    path = scratch.root / first.removeprefix("# at the end of ")
    path.write_text(f"{path.read_text(encoding='utf-8')}\n\n{code}", encoding="utf-8")
