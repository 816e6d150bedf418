"""Opening a store by its address, and what is not an address or a path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from partita import EmbeddedStore
from partita.errors import OperationError
from partita.store import open_store
from partita.store.remote import RemoteStore


@pytest.mark.parametrize("path", [None, 3, b"bytes.db", "a\0b"])
def test_what_is_not_a_path_creates_no_file(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OperationError, match="not the path of a file") as refused:
        EmbeddedStore(path)
    assert refused.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "address", [None, "", "http://[", "dynamodb://[", "ftp://host", "http://a:99999", "http://a:b"]
)
def test_what_is_not_an_address_is_refused(address: Any) -> None:
    with pytest.raises(OperationError) as refused:
        open_store(address)
    assert refused.value.hint


@pytest.mark.parametrize("url", ["http://[", "http://127.0.0.1:99999", "https://a:b", "127.0.0.1:8000"])
def test_a_url_that_cannot_be_read_is_refused(url: str) -> None:
    with pytest.raises(OperationError, match="is not the URL of an endpoint") as refused:
        RemoteStore(url)
    assert refused.value.hint
