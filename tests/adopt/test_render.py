"""The generated module is formatted, and strict type checkers accept it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.adopt.conftest import recorded
from tests.adopt.tables import TABLES

from partita.adopt import infer_model, render
from partita.store import plain_item, table_schema

ROOT = Path(__file__).parents[2]


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A folder with a generated model of every sample table."""
    for name, (schema, items) in TABLES.items():
        (tmp_path / f"model_{name}.py").write_text(render(infer_model(schema, items)), encoding="utf-8")
    for tool in ("electrodb", "onetable"):
        table, items = recorded(tool)
        draft = infer_model(table_schema(table, None), list(map(plain_item, items)))
        (tmp_path / f"model_{tool}.py").write_text(render(draft), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("length", ["88", "100", "120"])
def test_a_model_is_formatted_whatever_the_length_of_lines(models: Path, length: str) -> None:
    command = ["-m", "ruff", "format", "--isolated", "--check", "--diff", "--line-length", length, str(models)]
    said = subprocess.run([sys.executable, *command], capture_output=True, check=False, text=True)
    assert (said.returncode, said.stdout) == (0, "")


def test_a_model_has_neither_unused_nor_missing_names(models: Path) -> None:
    command = ["-m", "ruff", "check", "--isolated", "--select", "E4,E7,E9,F,I", "."]
    said = subprocess.run([sys.executable, *command], cwd=models, capture_output=True, check=False, text=True)
    assert said.returncode == 0, said.stdout


@pytest.mark.slow
@pytest.mark.xdist_group("types")  # in one group with the other tests that run a type checker, to share its cache
def test_a_model_is_accepted_by_a_strict_type_checker(models: Path) -> None:
    command = ["-m", "mypy", "--strict", *sorted(map(str, models.glob("*.py")))]
    said = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, check=False, text=True)
    assert said.returncode == 0, said.stdout


def test_a_model_reads_like_one_by_hand() -> None:
    schema, items = TABLES["typed"]
    assert (
        render(infer_model(schema, items))
        == '''\
"""The table accounts, inferred from 4 of its items."""

from typing import ClassVar

from partita import Entity, Index, Key, KeyFormat, KeyOnly, Table, get, query
from pydantic import Field

TABLE = Table(
    "accounts",
    hash="pk",
    range="sk",
    indexes=[Index("by-email", hash="email", range=False)],
    keys=KeyFormat("|", values="raw"),
    type_attribute="entityType",
)


class User(Entity, table=TABLE, type_name="user", extra="allow"):
    """Items of the type "user" (2 in the sample)."""

    primary: ClassVar = Key("ACCOUNT|{email:lower}", "ACCOUNT")
    by_email: ClassVar = Key("{email}", index="by-email")

    email: str
    class_: int = Field(alias="class")
    json_: bool = Field(alias="json")


@get(User)
def user(email: str) -> None:
    """One user by its key."""


@query(User, User.by_email)
def users_by_email(email: str) -> None:
    """Users by the index by-email."""


class BigTeam(Entity, table=TABLE, type_name="big-team", extra="allow"):
    """Items of the type "big-team" (2 in the sample)."""

    primary: ClassVar = Key("ACCOUNT|{account_id}", "ACCOUNT")

    account_id: KeyOnly[str]
    size: int
    logo: bytes
    field_model_x: str = Field(alias="model_x")


@get(BigTeam)
def big_team(account_id: str) -> None:
    """One big team by its key."""
'''
    )


def test_an_index_that_holds_a_part_of_an_item_is_read_into_a_view() -> None:
    text = render(infer_model(*TABLES["projected"]))
    assert "class DocInState(BaseModel):" in text
    assert "@query(Doc, Doc.by_state, view=DocInState)" in text


def test_what_the_model_cannot_say_is_a_comment() -> None:
    text = render(infer_model(*TABLES["single"]))
    said = "# What this model cannot express about the table:\n# - Line: nothing is always NULL; it has no field"
    assert f"{said}, and is kept as it is.\n" in text
