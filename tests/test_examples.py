"""Every example is a whole program, and prints what its first lines say that it prints."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_it_says(example: Path, tmp_path: Path) -> None:
    documentation = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or ""
    expected = textwrap.dedent(documentation.partition("It prints:\n\n")[2])
    ran = subprocess.run([sys.executable, example], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.stderr, ran.stdout.rstrip()) == ("", expected)
    assert expected


def test_there_are_examples() -> None:
    assert EXAMPLES
