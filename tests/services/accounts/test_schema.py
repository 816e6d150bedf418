"""The committed schema of accounts, and the error that a developer gets after renaming a field."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from partita import REGISTRY
from partita.errors import ModelError
from partita.recipes.versioned import accept_schema, assert_snapshot, frozen_items
from partita.recipes.versioned._table import VersionedTable
from partita_services.accounts import model
from partita_services.accounts.model import ACCOUNTS

ROOT = Path(__file__).parents[3]
SCHEMA = ROOT / "schema"
SOURCE = Path(model.__file__).read_text(encoding="utf-8")

Load = Callable[[str], VersionedTable[..., Any]]


@pytest.mark.req("A05")
def test_schema_has_not_changed() -> None:
    assert_snapshot(ACCOUNTS, SCHEMA)


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """A function that imports a scratch copy of the model like a separate program, and returns its versioned table."""

    def load(source: str) -> VersionedTable[..., Any]:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}_model.py"  # a new name, so that no cache is used
        path.write_text(source, encoding="utf-8")
        monkeypatch.setattr(REGISTRY, "_tables", {})
        spec = spec_from_file_location("scratch_model", path)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "scratch_model", module)
        spec.loader.exec_module(module)
        table: VersionedTable[..., Any] = module.ACCOUNTS
        return table

    return load


def edited(source: str, *edits: tuple[str, str]) -> str:
    for before, after in edits:
        assert before in source
        source = source.replace(before, after)
    return source


@pytest.mark.req("A05", "A06")
def test_a_renamed_field_fails_until_the_developer_does_what_the_message_says(load: Load, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SCHEMA, tmp_path / "schema"))
    renamed = edited(SOURCE, ("    name: Name\n", "    holder: Name\n"), ('name="Ada', 'holder="Ada'))
    with pytest.raises(AssertionError) as caught:
        assert_snapshot(load(renamed), folder)
    assert str(caught.value).splitlines() == [
        "AccountData: breaking",
        "  breaking: name was removed (renamed to holder?)",
        "  breaking: holder was added without a default",
        "  Items that are stored in data version 2 no longer fit. What to do:",
        "  1. Raise data_version of the VersionedTable of AccountData from 2 to 3.",
        "  2. Add a migration from 2 to 3 to it: Migrations({2: function}), where the",
        "     function takes the attributes of an item of version 2 and returns those of version 3.",
        f"  3. Run `partita schema accept`, and commit {folder}/.",
        f"     {folder}/account_data.v2.json keeps an item of version 2, which proves from now on that it can be read.",
    ]
    with pytest.raises(ModelError, match="breaking"):
        accept_schema(load(renamed), folder)

    raised = edited(renamed, ("    data_version=2,\n", "    data_version=3,\n"))
    with pytest.raises(ModelError, match="no migration leads from 2 to 3"):
        load(raised)

    migrated = edited(
        raised,
        (
            "Migrations({1: _without_owner})",
            'Migrations({1: _without_owner, 2: lambda item: {**item, "holder": item["name"]}})',
        ),
    )
    with pytest.raises(AssertionError, match="AccountData: migrated"):
        assert_snapshot(load(migrated), folder)
    table = load(migrated)
    assert [path.name for path in accept_schema(table, folder)] == ["account_data.schema.json", "account_data.v3.json"]
    assert_snapshot(table, folder)
    for version in (1, 2):
        (old,) = frozen_items(table, version, folder)
        assert table.form.versioned(old).data.holder == "Ada Lovelace"


@pytest.mark.req("A05")
def test_a_new_optional_field_is_compatible(load: Load, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SCHEMA, tmp_path / "schema"))
    wider = edited(SOURCE, ("    balance: Balance\n", '    balance: Balance\n    currency: str = "EUR"\n'))
    with pytest.raises(AssertionError, match="AccountData: compatible"):
        assert_snapshot(load(wider), folder)
    table = load(wider)
    accept_schema(table, folder)
    assert_snapshot(table, folder)


@pytest.mark.req("A06", "A11")
def test_an_account_from_before_there_were_owners_is_nobodys() -> None:
    (old,) = frozen_items(ACCOUNTS, 1, SCHEMA)
    assert "owner" not in old
    account = ACCOUNTS.form.versioned(old)
    assert (account.data_version, account.data.owner, account.data.ledger) == (2, None, ("acc-1001", 0))
