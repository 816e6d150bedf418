"""The path of every request is written once, in the code; the documentation quotes it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from pathlib import Path

import pytest

from partita.runtime import _retry
from partita.session._pipeline import Pipeline

DOCS = Path(__file__).parents[2] / "docs"


def body_of_send() -> str:
    """Return the statements of `Pipeline.send` after its docstring."""
    source = textwrap.dedent(inspect.getsource(Pipeline.send))
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    return textwrap.dedent("\n".join(source.splitlines()[function.body[1].lineno - 1 :]))


@pytest.mark.parametrize("page", ["sessions.md", "decisions/0004-one-pipeline.md"])
def test_the_documentation_quotes_the_way_of_a_request(page: str) -> None:
    assert f"```py\n{body_of_send()}\n```" in (DOCS / page).read_text(encoding="utf-8")


def test_the_documentation_says_who_retries_what() -> None:
    assert _retry.__doc__ is not None
    table = [line for line in _retry.__doc__.splitlines() if line.startswith("|")]
    assert len(table) > 2
    assert "\n".join(table) in (DOCS / "sessions.md").read_text(encoding="utf-8")
