"""Every requirement and every rule of DynamoDB is written down once, and has a test that names it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
REQUIREMENTS = ROOT / "docs/requirements"
RULES = ROOT / "docs/dynamodb-rules.md"
FOLDERS = [folder for folder in ROOT.iterdir() if folder.is_dir() and not folder.name.startswith(".")]

ENTRY = re.compile(r"^(?:- |\| )\*\*([A-Z]?\d+)\*\*", re.MULTILINE)
MENTION = re.compile(r"\brules? (\d+(?:(?:, | and |, and )\d+)*)\b", re.IGNORECASE)


def entries(text: str) -> list[str]:
    """Return the identifiers that a page defines: list items and rows that begin with one in bold."""
    return ENTRY.findall(text)


def marked(source: str, marker: str) -> Iterator[str]:
    """Yield the identifiers that the code passes to `pytest.mark.<marker>(...)`, anywhere."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not _is_marker(node.func, marker):
            continue
        for argument in node.args:
            if not isinstance(argument, ast.Constant):
                message = f"line {node.lineno}: an identifier is written as a literal, so that it can be found"
                raise TypeError(message)
            yield str(argument.value)


def _is_marker(function: ast.expr, marker: str) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr == marker
        and isinstance(function.value, ast.Attribute)
        and function.value.attr == "mark"
    )


def mentioned(text: str) -> Iterator[str]:
    """Yield the numbers of the rules that a text mentions."""
    for numbers in MENTION.findall(text):
        yield from re.findall(r"\d+", numbers)


def files(*suffixes: str) -> list[Path]:
    return [path for folder in FOLDERS for path in sorted(folder.rglob("*")) if path.suffix in suffixes]


def named_by_tests(marker: str) -> set[str]:
    tests = [path for path in files(".py") if "tests" in path.relative_to(ROOT).parts]
    sources = [path.read_text(encoding="utf-8") for path in tests]
    return {name for source in sources if f"mark.{marker}" in source for name in marked(source, marker)}


def required() -> list[str]:
    return [name for page in sorted(REQUIREMENTS.glob("*.md")) for name in entries(page.read_text(encoding="utf-8"))]


def ruled() -> list[str]:
    return entries(RULES.read_text(encoding="utf-8"))


def problems(written: list[str], named: set[str]) -> dict[str, list[str]]:
    """Return what is wrong with the identifiers on pages and in tests; empty if nothing is."""
    found = {
        "written twice": [name for name, count in Counter(written).items() if count > 1],
        "named by a test, and written nowhere": sorted(named.difference(written)),
        "written, and named by no test": [name for name in written if name not in named],
    }
    return {what: names for what, names in found.items() if names}


def test_every_requirement_is_written_once_and_has_a_test() -> None:
    assert problems(required(), named_by_tests("req")) == {}


def test_every_rule_is_written_once_and_has_a_test() -> None:
    assert problems(ruled(), named_by_tests("rule")) == {}


def test_rules_are_written_in_the_order_of_their_numbers() -> None:
    assert ruled() == [str(number) for number in range(1, len(ruled()) + 1)]


def test_every_rule_that_is_mentioned_is_written() -> None:
    unknown = [
        (path.relative_to(ROOT).as_posix(), number)
        for path in files(".py", ".md")
        for number in mentioned(path.read_text(encoding="utf-8"))
        if number not in ruled()
    ]
    assert unknown == []


# --- the functions above, on sample texts ---


def test_an_entry_begins_a_list_item_or_a_row() -> None:
    page = "- **Z01** First.\n  See **Z02**.\n| **Z03** | a row |\n| x | **Z04** |\n**Z05** none\n- **7** A rule.\n"
    assert entries(page) == ["Z01", "Z03", "7"]


def test_markers_are_found_in_every_place() -> None:
    source = """
pytestmark = [pytest.mark.timeout(9), pytest.mark.req("Z01")]

@pytest.mark.req("Z02", "Z03")
@pytest.mark.rule(98)
def test_one() -> None:
    text = '@pytest.mark.req("Z04")'  # pytest.mark.req("Z05")
    client.req("Z06")

class TestTwo:
    @mark.parametrize("n", [pytest.param(1, marks=pytest.mark.req("Z07"))])
    def test_two(self, n: int) -> None: ...

TestTwo.pytestmark = [pytest.mark.rule(99, 100)]
"""
    assert sorted(marked(source, "req")) == ["Z01", "Z02", "Z03", "Z07"]
    assert sorted(marked(source, "rule")) == ["100", "98", "99"]


def test_an_identifier_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(TypeError, match="line 1: an identifier is written as a literal"):
        list(marked("pytest.mark.req(*NAMES)", "req"))


def test_each_problem_is_found() -> None:
    assert problems(["Z01", "Z02", "Z01"], {"Z01", "Z03"}) == {
        "written twice": ["Z01"],
        "named by a test, and written nowhere": ["Z03"],
        "written, and named by no test": ["Z02"],
    }


def test_rules_are_mentioned_alone_and_together() -> None:
    texts = [f"(rule {98})", f"Rule {99}: so", f"rules {1}, {2} and {97}", f"a rule of {5}", f"overrule {6}", "rules"]
    assert [list(mentioned(text)) for text in texts] == [["98"], ["99"], ["1", "2", "97"], [], [], []]
