"""Pages explain problems in plain words: every problem that a service raises, as a page would show it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page
from tests.browser.conftest import Server

pytestmark = pytest.mark.req("X17")

ROOT: Final = Path(__file__).parents[2]
PLACES: Final = ("src/partita/http", "src/partita/app", "src/partita/errors.py", "services/src/partita_services")
FOR_PROGRAMS: Final = re.compile(
    r"\b(ETag|If-Match|Idempotency|Bearer|Authorization|header|cursor|JSON|HTTP|RCU|WCU|capacity units?|"
    r"parameters?|[a-z]+_[a-z_]+|[a-z]+[A-Z][a-z]+)\b|[`{}]|token"
)
"""Technical terms that users need not know. Sign-in panels, which have a field for tokens, are not checked here."""


def said(tree: ast.AST) -> Iterator[str]:
    """Yield the texts among the arguments of raised errors."""
    for raised in ast.walk(tree):
        if not isinstance(raised, ast.Raise) or not isinstance(raised.exc, ast.Call):
            continue
        for argument in raised.exc.args:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield argument.value
            elif isinstance(argument, ast.JoinedStr):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "42" for part in argument.values)


def sentences() -> set[str]:
    files = [path for place in PLACES for path in [ROOT / place, *(ROOT / place).rglob("*.py")] if path.is_file()]
    return {text for path in files for text in said(ast.parse(path.read_text())) if " " in text}


def test_no_problem_speaks_of_what_is_for_programs(
    open_page: Callable[..., Page], serve: Callable[[str], Server]
) -> None:
    page = open_page()
    page.goto(f"{serve('todo').url}/todo/icon.svg")
    found = sentences()
    assert len(found) > 100
    shown: list[str] = page.evaluate(
        """async (details) => {
            const { explain } = await import("/assets/explain.js");
            const asField = (message) => ({ errors: [{ field: "body.capacityTotal", message }] });
            return details.flatMap((detail) => [
                ...[400, 401, 403, 404, 409, 412, 413, 422, 428, 429, 503].map((status) => explain(status, { detail })),
                explain(422, asField(detail)),
            ]);
        }""",
        sorted(found),
    )
    assert [text for text in shown if FOR_PROGRAMS.search(text)] == []
