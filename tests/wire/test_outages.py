"""What the log says if the store fails: one line for each outage, and a traceback only for faults of the program."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from tests.wire.support import connected, http, serving

from partita import EmbeddedStore
from partita.errors import StoreError, StoreFull, StoreReadOnly
from partita.store import ListTables

LIST = http("ListTables", b"{}")


class FailingStore(EmbeddedStore):
    """A store in memory whose lists of tables fail, one after the other."""

    def __init__(self, failures: list[Exception]) -> None:
        super().__init__(":memory:")
        self.failures = failures

    def execute(self, request: Any) -> Any:
        if isinstance(request, ListTables):
            raise self.failures.pop(0)
        return super().execute(request)


def logged(failures: list[Exception], caplog: pytest.LogCaptureFixture) -> list[tuple[str, bool]]:
    """Return the lines that the failures leave in the log, each with whether it has a traceback."""
    caplog.set_level(logging.ERROR, "partita.wire")
    with FailingStore(failures) as store, serving(store) as address, connected(address) as client:
        for _ in list(failures):
            client.send(LIST)
            status, _, body = client.receive()
            assert (status, body["message"]) == (500, "The request could not be executed.")
    return [(record.getMessage(), record.exc_info is not None) for record in caplog.records]


def test_an_outage_is_one_line_however_many_requests_fail(caplog: pytest.LogCaptureFixture) -> None:
    failures: list[Exception] = [StoreFull("No space is left.")] * 3
    failures += [StoreReadOnly("The file cannot be written.")] * 2
    assert logged(failures, caplog) == [
        ("ListTables failed: No space is left. " + StoreFull.hint, False),
        ("ListTables failed: The file cannot be written. " + StoreReadOnly.hint, False),
    ]


def test_a_fault_of_the_program_has_a_traceback_each_time(caplog: pytest.LogCaptureFixture) -> None:
    assert logged([KeyError("x"), KeyError("x")], caplog) == [("A request failed.", True)] * 2


def test_any_failure_of_the_store_says_what_failed(caplog: pytest.LogCaptureFixture) -> None:
    assert logged([StoreError("The store failed: disk I/O error.")], caplog) == [
        ("ListTables failed: The store failed: disk I/O error.", False)
    ]
