"""Loading modules before processes are forked."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from importlib.util import find_spec

import click
import pytest

from partita.cli.processes import loading_for_forks
from partita.service import installed_services

pytestmark = pytest.mark.req("X21")


@pytest.fixture(autouse=True)
def unfrozen() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_garbage_is_not_looked_for_while_it_is_loaded_and_what_was_loaded_is_frozen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # the test runner may have other threads
    with loading_for_forks(["no.such.module"]):
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 1_000


def test_a_thread_that_loading_has_started_is_refused() -> None:
    ended = threading.Event()
    with pytest.raises(click.ClickException, match="starts threads"), loading_for_forks():
        threading.Thread(target=ended.wait, daemon=True).start()
    ended.set()


def test_what_services_have_loaded_before_is_there() -> None:
    names = [name for service in installed_services().services for name in service.preload]
    assert len(names) > 4
    assert [name for name in names if find_spec(name) is None] == []
