"""Background work of a server: one thread per store, which starts again when it is needed."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from partita import EmbeddedStore
from partita._sqlite import NoLock
from partita.errors import AccessDenied, ObjectChanged, PartitaError, StoreClosed, TableNotFound, Throttled
from partita.store import Store
from partita.wire.background import Background, Work, failure_code


def background(store: Store, run: Callable[[list[str]], object]) -> tuple[Background[str], list[str]]:
    """Return threads that run the names in a list, and the list; a name is done when it is removed from the list."""
    names: list[str] = []

    def run_one(_: Store, name: str) -> None:
        run(names)
        names.remove(name)

    work = Work[str]("Tests", lambda _: NoLock(), lambda _: names[:], run_one)
    return Background(lambda _: store, work), names


@pytest.mark.parametrize("error", [StoreClosed("it is closed"), RuntimeError("anything")])
def test_a_thread_that_ended_is_begun_again_when_it_is_wanted(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """It also starts again after its store was closed, because another store may have the same `id()`."""
    failures = [error]

    def run(_: list[str]) -> None:
        if failures:
            raise failures.pop()

    with EmbeddedStore(":memory:") as store, caplog.at_level(logging.CRITICAL):
        threads, names = background(store, run)
        names.append("one")
        threads.wake("us-east-1")
        threads.wait()
        assert names == ["one"]
        threads.wake("us-east-1")
        threads.wait()
        assert names == []


def test_nothing_begins_after_a_stop() -> None:
    with EmbeddedStore(":memory:") as store:
        threads, names = background(store, lambda _: None)
        names.append("one")
        threads.stop()
        threads.wake("us-east-1")
        threads.wait()
        assert names == ["one"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (AccessDenied("no"), "S3AccessDenied"),
        (ObjectChanged("other"), "S3ObjectModified"),
        (TableNotFound("gone"), "ResourceNotFoundException"),
        (Throttled("busy"), "InternalServerError"),
    ],
)
def test_a_failure_has_the_code_of_its_cause(error: PartitaError, code: str) -> None:
    assert failure_code(error) == code
