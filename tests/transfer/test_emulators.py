"""Copies to and from servers of others, which have their own scans, batches and streams."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.referee import ministack, moto
from tests.transfer.support import contents, copied, fill, followed, order, records

from partita import EmbeddedStore
from partita.store import DeleteItem, PutItem, Store
from partita.store.remote import Credentials, RemoteStore
from partita.transfer import Side, TableComparison

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("referee")]

EMULATORS = {"ministack": ministack, "moto": moto}


def stream_of(server: Store) -> list[Any]:
    """Return the `n` of each new image in the stream of the orders."""
    return [new and new["n"] for *_, new in records(server)]


@pytest.mark.parametrize("name", EMULATORS)
def test_there_and_back(name: str, tmp_path: Path) -> None:
    with (
        EMULATORS[name](tmp_path) as url,
        RemoteStore(url, region="us-east-1", credentials=Credentials("test", "test")) as server,
        EmbeddedStore(tmp_path / "a.db", durable=False) as first,
        EmbeddedStore(tmp_path / "b.db", durable=False) as last,
    ):
        fill(first, 60)
        copied(first, server)
        first.execute(PutItem("orders", order(3, n=1)))
        first.execute(DeleteItem("orders", {"customer": "customer-4", "number": 4}))
        assert copied(first, server, owner="again") == 2
        found: list[object] = []
        with TableComparison(Side(first), Side(server), "orders") as comparison:
            comparison.run(found.append)
        assert found == []
        for n in (4, 5, 6):
            first.execute(PutItem("orders", order(3, n=n)))
        before = len(stream_of(server))
        followed(first, server, "follower")
        assert stream_of(server)[before:] == [4, 5, 6]
        copied(server, last)
        server.execute(PutItem("orders", order(5, n=2)))
        assert copied(server, last, owner="again") == 1
        assert contents(last) == contents(server)
        assert contents(last)["customer-5", 5]["n"] == 2
