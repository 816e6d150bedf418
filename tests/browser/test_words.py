"""Pages explain problems in plain words: every problem that a service raises, as a page would show it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page
from tests.browser.conftest import Server

pytestmark = pytest.mark.req("X17")

ROOT: Final = Path(__file__).parents[2]
PLACES: Final = ("src/partita/http", "src/partita/app", "src/partita/errors", "services/src/partita_services")
FOR_PROGRAMS: Final = re.compile(
    r"\b(ETag|If-Match|Idempotency|Bearer|Authorization|header|cursor|JSON|HTTP|RCU|WCU|capacity units?|"
    r"parameters?|[a-z]+_[a-z_]+|[a-z]+[A-Z][a-z]+)\b|[`{}]|token"
)
"""Technical terms that users need not know. Sign-in panels, which have a field for tokens, are not checked here."""


def messages_of(tree: ast.AST) -> Iterator[str]:
    """Yield the texts among the arguments of raised errors, and those that error classes pass to their base class."""
    for node in ast.walk(tree):
        match node:
            case ast.Raise(exc=ast.Call(args=arguments)):
                yield from _texts(arguments)
            case ast.Call(ast.Attribute(ast.Call(ast.Name("super")), "__init__"), arguments):
                yield from _texts(arguments)
            case ast.FunctionDef("__init__", ast.arguments(defaults=defaults)):
                yield from _texts(defaults)


def _texts(values: Sequence[ast.expr]) -> Iterator[str]:
    for value in values:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value.value
        elif isinstance(value, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "42" for part in value.values)


def sentences(place: Path) -> set[str]:
    """Return the messages of a package that have more than one word."""
    return {text for file in place.rglob("*.py") for text in messages_of(ast.parse(file.read_text())) if " " in text}


def test_no_problem_speaks_of_what_is_for_programs(
    open_page: Callable[..., Page], serve: Callable[[str], Server]
) -> None:
    page = open_page()
    page.goto(f"{serve('todo').url}/todo/icon.svg")
    by_place = {place: sentences(ROOT / place) for place in PLACES}
    assert [place for place, found in by_place.items() if not found] == []
    found = set().union(*by_place.values())
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
