"""Recipes are an extension point: one that uses only public names can do everything that the library's recipes can."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import pytest
from tests.recipes.call_window import CallCount, CallWindow
from tests.recipes.interleaving import empty_db, every_schedule, play

from partita import Key, Registry, Session, Table, explain
from partita.errors import LimitReached, ModelError
from partita.testing import FakeClock

RECIPE = Path(__file__).with_name("call_window.py")
TABLES = Registry()
TABLE = Table("calls", ttl="ttl", registry=TABLES)


class ApiCalls(CallCount, table=TABLE):
    primary: ClassVar = Key("CALLS#{caller}", "WINDOW#{window:012}")


CALLS = CallWindow(ApiCalls, limit=3, window=timedelta(minutes=1))


@pytest.fixture
def db(fake_clock: FakeClock) -> Iterator[Session]:
    with empty_db(TABLES, fake_clock) as db:
        yield db


def test_it_imports_public_names_alone() -> None:
    imports = [node for node in ast.walk(ast.parse(RECIPE.read_text())) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in imports if node.module and node.module.partition(".")[0] == "partita"]
    assert len(ours) > 3
    for node in ours:
        assert not any(part.startswith("_") for part in str(node.module).split("."))
        module = import_module(str(node.module))
        public = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
        assert [alias.name for alias in node.names if alias.name not in public] == []


def test_it_keeps_to_its_limit(db: Session, fake_clock: FakeClock) -> None:
    assert [db.run(CALLS.admit("ann")).calls for _ in range(3)] == [1, 2, 3]
    with pytest.raises(LimitReached, match="ann made 3 calls in 60 seconds"):
        db.run(CALLS.admit("ann"))
    assert db.run(CALLS.admit("bob")).calls == 1
    fake_clock.advance(60)
    assert db.run(CALLS.admit("ann")).calls == 1


def test_it_keeps_to_its_limit_in_every_order() -> None:
    for choose in every_schedule():
        with empty_db(TABLES) as db:
            db.run(CALLS.admit("ann"))
            results = play(db, [CALLS.admit("ann") for _ in range(3)], choose)
            assert sum(isinstance(result, LimitReached) for result in results) == 1


def test_it_is_declared_metered_and_explained(db: Session) -> None:
    db.run(CALLS.admit("ann"))
    assert [usage.name for usage in db.meter.usage()] == ["ApiCalls.admit"]
    (declared,) = TABLE.recipes.values()
    assert (declared.name, declared.doc) == ("ApiCalls.admit", "A call is counted, or refused.")
    assert [(sent.action, sent.partition) for sent in declared.sends] == [("UpdateItem", "CALLS#{caller}")]
    assert TABLE.patterns["api_calls_in_window"].doc == "How many calls were made."
    assert explain(CALLS.admit("ann")).call == "UpdateItem"


def test_its_record_is_checked() -> None:
    elsewhere = Table("elsewhere", registry=Registry())

    class Unending(CallCount, table=elsewhere):
        primary: ClassVar = Key("CALLS#{caller}", "WINDOW#{window:012}")

    with pytest.raises(ModelError, match="would never expire"):
        CallWindow(Unending, limit=3, window=timedelta(minutes=1))

    class OneWindow(CallCount, table=Table("others", ttl="ttl", registry=Registry())):
        primary: ClassVar = Key("CALLS#{caller}", "CALLS")

    with pytest.raises(ModelError, match="'window' is not a field of OneWindow"):
        CallWindow(OneWindow, limit=3, window=timedelta(minutes=1))
