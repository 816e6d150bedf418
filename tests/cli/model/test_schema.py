"""`partita schema`: comparing and renewing snapshots from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run

pytestmark = pytest.mark.req("A05")

VISITORS = ("--module", "tests.cli.model.visitors")


@pytest.fixture
def schemas(tmp_path: Path) -> Path:
    return tmp_path / "schema"


def test_accepted_schemas_are_current(run: Run, schemas: Path) -> None:
    accepted = run("schema", "accept", *VISITORS, "--folder", str(schemas))
    files = [schemas / "visitor.schema.json", schemas / "visitor.v1.json"]
    assert (accepted.exit_code, accepted.output) == (0, f"Visitor: wrote {files[0]}, {files[1]}\n")
    checked = run("schema", "check", *VISITORS, "--folder", str(schemas))
    assert (checked.exit_code, checked.output) == (0, "Visitor: current\n")
    assert run("schema", "accept", *VISITORS, "--folder", str(schemas)).output == "Visitor: nothing to do\n"


def test_the_schemas_of_the_services_are_current(run: Run) -> None:
    checked = run("schema", "check", "accounts", "--folder", str(Path(__file__).parents[3] / "schema"))
    assert (checked.exit_code, checked.output) == (0, "AccountData: current\n")


def test_without_a_snapshot_the_check_fails_and_says_what_to_do(run: Run, schemas: Path) -> None:
    checked = run("schema", "check", "accounts", "--folder", str(schemas))
    assert checked.exit_code == 1
    assert "Run `partita schema accept`" in checked.output


def test_a_breaking_change_is_not_accepted(run: Run, schemas: Path) -> None:
    run("schema", "accept", *VISITORS, "--folder", str(schemas))
    path = schemas / "visitor.schema.json"
    snapshot = json.loads(path.read_text(encoding="utf-8"))
    snapshot["properties"]["title"] = snapshot["properties"].pop("name")
    path.write_text(json.dumps(snapshot), encoding="utf-8")
    for command in ("check", "accept"):
        result = run("schema", command, *VISITORS, "--folder", str(schemas))
        assert result.exit_code == 1
        assert "1. Raise data_version of the VersionedTable of Visitor from 1 to 2." in result.output


def test_programs_can_read_the_check(run: Run, schemas: Path) -> None:
    checked = run("schema", "check", "accounts", "--folder", str(schemas), "--json")
    (report,) = json.loads(checked.output)
    assert (report["entity"], report["verdict"], report["settled"]) == ("AccountData", "new", False)


def test_a_service_without_versioned_tables_has_nothing_to_check(run: Run, schemas: Path) -> None:
    checked = run("schema", "check", "todo", "--folder", str(schemas))
    assert (checked.exit_code, checked.output) == (0, "There are no versioned tables.\n")


@pytest.mark.parametrize("name", ["visitor.schema.json", "visitor.v1.json"])
def test_a_file_with_a_merge_conflict_is_named(name: str, run: Run, schemas: Path) -> None:
    run("schema", "accept", *VISITORS, "--folder", str(schemas))
    path = schemas / name
    path.write_text(f"<<<<<<< HEAD\n{path.read_text(encoding='utf-8')}=======\n", encoding="utf-8")
    for command in ("check", "accept"):
        result = run("schema", command, *VISITORS, "--folder", str(schemas))
        assert (result.exit_code, result.output.startswith(f"Error: {path} is not JSON: ")) == (1, True)
        assert "Is there a merge conflict in it?" in result.output


def test_a_module_that_belongs_to_no_service_is_checked(run: Run, schemas: Path) -> None:
    module = (*VISITORS, "--folder", str(schemas))
    assert run("schema", "accept", *module).output.startswith("Visitor: wrote ")
    assert run("schema", "check", *module).output == "Visitor: current\n"
    assert run("schema", "check", *module, "todo").output == "Visitor: current\n"


def test_a_module_that_is_not_there_is_named(run: Run) -> None:
    result = run("schema", "check", "--module", "partita.nowhere.label")
    assert result.exit_code == 1
    assert result.output.startswith("Error: There is no module 'partita.nowhere.label'. Write it as in an import")


def test_snapshots_in_the_tests_are_found(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests" / "schema").mkdir(parents=True)
    assert "wrote tests/schema/account_data.schema.json" in run("schema", "accept", "accounts").output
    (tmp_path / "schema").mkdir()
    assert "wrote schema/account_data.schema.json" in run("schema", "accept", "accounts").output
