"""The stores on which the services' tests run: HTTP tests on every store, the others on the embedded store.

`--store` chooses other stores for all tests.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from _pytest.mark.structures import ParameterSet
from tests.services.described_apps import OnceDirect, described_app, described_services
from tests.store.remote.served import served

from partita import EmbeddedStore
from partita.app import _prepared
from partita.http import Identity
from partita.store import NamedStore, TableNames
from partita.store._interface import Store
from partita.store._requests import DeleteTable, ListTables
from partita.testing import FakeClock, FaultyStore

ON_EVERY_STORE = "test_http.py"

NEEDS_THE_EMBEDDED_STORE = {
    "test_responses_say_how_far_behind_they_are": "the clock of the test",
    "test_completed_tasks_may_be_kept_for_some_days": "sweeping at will",
    "test_counts_and_search_equal_the_truth_after_any_work_and_any_death": "sweeping at will",
    "test_records_are_deleted_after_a_day": "sweeping at will",
}
KNOWN_REFEREE_DIFFERENCES = {
    "test_a_change_of_many_costs_a_read_and_a_write_each": "reports no capacity for a batch of gets",
    "test_the_sample_data_is_the_whole_standard": "charges the same for every query (rule 32)",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "partita_store" in metafunc.fixturenames:
        everywhere = ["embedded", "remote", "wire"] if metafunc.definition.path.name == ON_EVERY_STORE else ["embedded"]
        names = metafunc.config.getoption("--store") or everywhere
        metafunc.parametrize("partita_store", [_parameter(name) for name in names], indirect=True)


def _parameter(name: str) -> ParameterSet:
    """Return the parameter of a store. Tests on a server share its tables, so they run in one worker."""
    group = (pytest.mark.xdist_group("services"),) if name in ("ministack", "remote") else ()
    return pytest.param(name, marks=(*group, pytest.mark.req("X12")))


@pytest.fixture(autouse=True)
def described_once() -> Iterator[None]:
    """Build apps from copies of the services' apps, because creating those takes longer than most tests."""
    with pytest.MonkeyPatch.context() as patch:  # not the fixture, which must be torn down before the store of a test
        patch.setattr(_prepared, "described_app", described_app)
        patch.setattr(_prepared, "DirectRoutes", OnceDirect)
        patch.setattr(_prepared, "describe_services", described_services)
        yield


@pytest.fixture
def partita_store(request: pytest.FixtureRequest, fake_clock: FakeClock) -> Iterator[Store]:
    """An empty store; on a server, all tables are deleted first."""
    name: str = request.param
    _skip_where_it_cannot_run(name, request.node.originalname)
    if name in ("ministack", "remote"):
        store: Store = request.getfixturevalue("remote" if name == "remote" else "referee")
        for table in store.execute(ListTables()):
            store.execute(DeleteTable(table))
        yield store
        return
    with EmbeddedStore(":memory:", clock=fake_clock) as embedded:
        if name == "embedded":
            yield embedded
        elif name == "named":
            yield NamedStore(embedded, TableNames(prefix="stage-"))
        else:
            with served(embedded) as remote:
                yield remote


@pytest.fixture
def store(partita_store: Store) -> FaultyStore:
    """A store that records its requests."""
    return FaultyStore(partita_store)


@pytest.fixture
def embedded(partita_store: Store) -> EmbeddedStore:
    """The embedded store, for tests of expiry by the fake clock, and of costs, which some servers count differently."""
    if not isinstance(partita_store, EmbeddedStore):
        pytest.skip("only the embedded store has the clock and the costs that are tested here")
    return partita_store


@pytest.fixture
def identity() -> Identity:
    """An identity that signs tokens with a fixed key."""
    return Identity(b"k" * 32)


def _skip_where_it_cannot_run(store: str, test: str) -> None:
    if store != "embedded" and test in NEEDS_THE_EMBEDDED_STORE:
        pytest.skip(f"needs {NEEDS_THE_EMBEDDED_STORE[test]}")
    if store in ("ministack", "remote") and test in KNOWN_REFEREE_DIFFERENCES:
        pytest.skip(f"the emulator {KNOWN_REFEREE_DIFFERENCES[test]}")
