"""The documentation is correct: its examples run, its links lead to files, and nothing public is left out."""

from __future__ import annotations

import inspect
import re
import runpy
import shlex
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.page_examples import code_blocks, local_dynamodb, run_examples

import partita
from partita import errors
from partita.cli import main
from partita.http._problems import STATUSES
from partita.service import Service

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs/recipes").glob("*.md"))]
IN_A_BUCKET = ROOT / "docs/guides/sql-engines.md"
"""This page needs buckets, so `tests/change/lake/test_s3.py` runs it."""
GUIDES = sorted({*(ROOT / "docs/guides").glob("*.md")} - {IN_A_BUCKET})
EVERY_PAGE = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with local_dynamodb(tmp_path, monkeypatch) if 'boto3.client("dynamodb")' in code_blocks(page) else nullcontext():
        run_examples(page, tmp_path, monkeypatch)


def test_the_first_example_can_be_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        run_examples(ROOT / "README.md", tmp_path, monkeypatch)


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_guides_run_on_one_table_with_the_tool_that_they_are_about(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check both sides of a guide: the other tool and Partita use the same items, over DynamoDB's protocol."""
    with local_dynamodb(tmp_path, monkeypatch):
        run_examples(page, tmp_path, monkeypatch)


def flush_left(code: str) -> str:
    return re.sub(r"^ +", "", code, flags=re.MULTILINE)


def test_code_that_does_not_run_is_an_excerpt_of_the_sources() -> None:
    places = [ROOT / "src", ROOT / "services/src", ROOT / "tests/fidelity"]
    files = [path for place in places for path in place.rglob("*.py")]
    sources = flush_left("\n".join(path.read_text(encoding="utf-8") for path in files))
    shown = [
        (page.name, block)
        for page in EVERY_PAGE
        if page.parent.name != "decisions"
        for block in re.findall(r"^```py\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    ]
    assert {name for name, _ in shown} == {"fidelity.md", "http.md", "sessions.md"}
    assert [name for name, block in shown if flush_left(block) not in sources] == []


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_commands_to_try_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all commands except `serve`, which does not end, and has its own tests."""
    monkeypatch.setenv("PARTITA_DATA", str(tmp_path))
    lines = re.findall(r"^\$ partita (.*)$", (ROOT / "docs/try-it.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert lines[0] == "serve --all"
    for line in lines[1:]:
        said = CliRunner().invoke(main, shlex.split(line), prog_name="partita")
        assert said.exit_code == 0, said.output


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


def test_every_code_is_in_the_guide_to_troubleshooting() -> None:
    page = (ROOT / "docs/guides/troubleshooting.md").read_text(encoding="utf-8")
    assert sorted({error.code for error in error_classes()} - set(re.findall(r"`(\w+)`", page))) == []


def test_every_problem_is_documented_with_its_status() -> None:
    page = (ROOT / "docs/problems.md").read_text(encoding="utf-8")
    documented = {
        (int(status), code)
        for status, codes in re.findall(r"^\| (\d+) \| ([^|]+) \|", page, re.MULTILINE)
        for code in re.findall(r"`(\w+)`", codes)
    }
    raised = {
        (int(status), code)
        for path in sources()
        for status, code in re.findall(r'\b([45]\d\d),\s*"(\w+)"', path.read_text(encoding="utf-8"))
    }
    kinds = {error: next((kind for kind in error.__mro__ if kind in STATUSES), None) for error in error_classes()}
    stated = {(STATUSES[kind], error.code) for error, kind in kinds.items() if kind is not None}
    assert sorted((raised | stated) - documented) == []
    assert len(raised) > 30


def test_every_error_of_a_service_is_documented_as_a_problem() -> None:
    page = (ROOT / "docs/problems.md").read_text(encoding="utf-8")
    code = re.compile(r'^(?:class \w+\(\w+, | {4})code *= *"(\w+)"', re.MULTILINE)
    services = (ROOT / "services/src").rglob("*.py")
    codes = {found for path in services for found in code.findall(path.read_text(encoding="utf-8"))}
    codes.remove("invalid_event")  # its route reports it as an invalid_request
    assert sorted(each for each in codes if f"`{each}`" not in page) == []
    assert len(codes) > 10


def test_every_part_of_a_service_is_documented() -> None:
    page = (ROOT / "docs/services.md").read_text(encoding="utf-8")
    assert [part for part in Service.__struct_fields__ if f"`{part}=`" not in page] == []


def test_every_metric_is_documented_and_those_of_the_dashboard_exist() -> None:
    page = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `(partita_\w+)`", page, re.MULTILINE))
    families = {name.removesuffix("_total") for name in documented}
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src/partita/app").glob("_*metrics.py"))
    assert set(re.findall(r'"(partita_\w+)"', code)) - families == set()
    dashboard = (ROOT / "docs/guides/partita-dashboard.json").read_text(encoding="utf-8")
    shown = {re.sub(r"_(count|bucket|sum)$", "", name) for name in re.findall(r"partita_\w+", dashboard)}
    assert shown - documented == set()


def test_every_environment_variable_is_documented() -> None:
    page = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    used = {name for path in sources() for name in re.findall(r"\bPARTITA_[A-Z_]+", path.read_text(encoding="utf-8"))}
    assert sorted(name for name in used - {"PARTITA_COMPLETE"} if f"`{name}`" not in page) == []


def sources() -> Iterator[Path]:
    for folder in ("src", "services/src"):
        yield from (ROOT / folder).rglob("*.py")


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
