"""`PARTITA_KEYS`: the keys of encrypted fields, for every command that reads or writes items."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Run

from partita.cli._data_folder import DataFolder
from partita.encryption import KmsKeys, LocalKeys
from partita.errors import OperationError


def test_keys_come_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = LocalKeys.create(tmp_path / "keys.json").new_key()
    monkeypatch.setenv("PARTITA_KEYS", str(tmp_path / "keys.json"))
    keys = DataFolder(tmp_path).keys()
    assert keys is not None
    assert keys.unwrap(made.wrapped) == made.key


def test_or_from_kms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTITA_KEYS", "kms:alias/shop")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    keys = DataFolder(tmp_path).keys()
    assert isinstance(keys, KmsKeys)
    assert repr(keys) == "KmsKeys('alias/shop')"


def test_or_there_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARTITA_KEYS", raising=False)
    assert DataFolder(tmp_path).keys() is None


def test_a_file_that_is_not_there_is_said(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTITA_KEYS", str(tmp_path / "none.json"))
    with pytest.raises(OperationError, match="There is no key file"):
        DataFolder(tmp_path).keys()
    failed = run("seed", "todo")
    assert (failed.exit_code, "There is no key file" in failed.output) == (1, True)
