"""The documentation is true: its examples run, its links lead somewhere, and nothing public is left out."""

from __future__ import annotations

import inspect
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.wire.support import serving

import partita
from partita import REGISTRY, EmbeddedStore, errors

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/recipes").glob("*.md"))]
GUIDES = sorted((ROOT / "docs/guides").glob("*.md"))
EVERY_PAGE = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def code_blocks(page: Path) -> str:
    """All Python examples of a page, one after another, on the lines that they have in the page."""
    lines: list[str] = []
    inside = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            inside = line == "```python"
            lines.append("")
        else:
            lines.append(line if inside else "")
    return "\n".join(lines)


def run_examples(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all Python examples of a page as one program, in a folder of its own."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(REGISTRY, "_tables", {})
    module = ModuleType("example")
    monkeypatch.setitem(sys.modules, "example", module)
    exec(compile(code_blocks(page), str(page), "exec", dont_inherit=True), vars(module))  # noqa: S102


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_examples(page, tmp_path, monkeypatch)


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_guides_run_on_one_table_with_the_tool_that_they_are_about(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both sides of a guide are true: the other tool and Partita use the same items, over DynamoDB's protocol."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    with EmbeddedStore(":memory:") as store, serving(store) as (host, port):
        monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", f"http://{host}:{port}")
        monkeypatch.setenv("AWS_REGION", "eu-west-1")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
        run_examples(page, tmp_path, monkeypatch)


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def error_classes(root: type[errors.PartitaError] = errors.PartitaError) -> Iterator[type[errors.PartitaError]]:
    yield root
    for child in root.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from error_classes(child)


def test_every_error_is_documented_with_its_code() -> None:
    page = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
    assert [error.__name__ for error in error_classes() if f"| `{error.code}` | `{error.__name__}` |" not in page] == []


def test_error_codes_differ() -> None:
    codes = [error.code for error in error_classes()]
    assert sorted(set(codes)) == sorted(codes)


def test_the_reference_is_current() -> None:
    reference = runpy.run_path(str(ROOT / "docs/reference.py"))
    assert reference["PAGE"].read_text(encoding="utf-8") == reference["render"](), "run `make docs`"


def test_every_public_class_and_function_has_a_docstring() -> None:
    public = [getattr(partita, name) for name in partita.__all__]
    documented = [thing for thing in public if inspect.isclass(thing) or inspect.isfunction(thing)]
    assert [thing.__name__ for thing in documented if not inspect.getdoc(thing)] == []


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if page != "index.md" and f"({page})" not in index] == []
