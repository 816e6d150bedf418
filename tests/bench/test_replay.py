"""The replay server forwards each distinct request once, and repeats the response to all clients."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
from bench._replay import question, serve
from tests.wire.support import serving

from partita import EmbeddedStore
from partita.store import CreateTable, GetItem, KeyAttribute, PutItem, TableSchema
from partita.store.remote import Credentials, RemoteStore

TABLE = "tasks"
LONG = "x" * 300_000
"""A text that is too long to arrive in one piece."""


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    with EmbeddedStore(":memory:") as store:
        store.execute(CreateTable(TableSchema(TABLE, KeyAttribute("id"))))
        store.execute(PutItem(TABLE, {"id": "a", "text": LONG}))
        yield store


@pytest.fixture
def recorded(store: EmbeddedStore) -> Iterator[str]:
    with serving(store) as (_, port), closing(socket.create_server(("127.0.0.1", 0))) as listener:
        threading.Thread(target=serve, args=(listener, port), daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)  # close() alone would not wake the thread that waits in accept()


def test_what_was_answered_once_is_repeated_to_all_clients(store: EmbeddedStore, recorded: str) -> None:
    asked = GetItem(TABLE, {"id": "a"})
    for name in ("first", "second"):
        with RemoteStore(recorded, credentials=Credentials(name, name)) as client:
            assert [client.execute(asked).item for _ in range(2)] == [{"id": "a", "text": LONG}] * 2
        store.execute(PutItem(TABLE, {"id": "a", "text": "written since"}))


def test_another_question_is_passed_on(recorded: str) -> None:
    with RemoteStore(recorded, credentials=Credentials("bench", "bench")) as client:
        assert client.execute(GetItem(TABLE, {"id": "a"})).item is not None
        assert client.execute(GetItem(TABLE, {"id": "b"})).item is None


def test_when_and_by_whom_a_request_was_signed_does_not_matter() -> None:
    first = b"POST / HTTP/1.1\r\nX-Amz-Target: Query\r\nX-Amz-Date: 1\r\nContent-Length: 2\r\n\r\n{}"
    assert question(first) == question(first.replace(b"Date: 1", b"Date: 2"))
    for other in (first.replace(b"Query", b"Scan"), first.replace(b"{}", b"[]")):
        assert question(first) != question(other)
    assert question(first) != question(first.replace(b"X-Amz-Date: 1", b"Accept-Encoding: gzip"))
