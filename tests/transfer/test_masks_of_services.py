"""Masked samples of the five services contain no personal value of their sample data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pytest
from tests.transfer.support import OUTSIDE

from partita import EmbeddedStore, Session
from partita.model import EntitySchema
from partita.service import Service, discover
from partita.store import ScanTable
from partita.transfer import PersonalMask, Side, copy_sample

SERVICES: Final = {service.name: service for service in discover()}
NOW: Final = 1_790_000_000.0

NOT_PERSONAL: Final = {
    "accounts": {
        "AccountData": {"pk"},
        "Entry": {"account", "entry_id", "kind", "counterpart", "at"},
        "MonthTotal": {"account", "month"},
        "AccountVersion": {"account"},
        "Grant": {"account", "access", "granted_at"},
    },
    "commitcollect": {
        "Profile": {"created_at"},
        "Workout": {"sport_type", "started_at", "started_local", "why_not"},
        "Milestone": {
            *("milestone_id", "model_id", "model_name", "metric", "sport_types", "starts_on", "ends_on"),
            *("status", "created_at", "completed_at", "reached"),
        },
        "Award": {"milestone_id", "model_id", "part_name", "part_svg", "awarded_at"},
        "Model": {"model_id", "name", "story"},
        "Part": {"model_id", "name", "svg"},
        "Picture": {"model_id", "svg"},
        "CatalogueEntry": {"model_id"},
    },
    "countries": {
        "Country": {
            *("createDate", "expiryDate", "listed", "retired", "reason", "writtenAt", "name"),
            *("alpha2Code", "alpha3Code", "numericCode"),
        },
        "CodeClaim": {"field", "value", "owner", "freed", "alpha2Code", "createDate"},
    },
    "events": {
        "Request": {
            *("requestId", "eventId", "line", "eventType", "status", "requestedAt", "queuedAt", "startedAt"),
            *("finishedAt", "errorCode", "errorMessage"),
        },
        "LogEntry": {"requestId", "occurredAt", "status", "worker", "reason"},
        "Lock": {"eventId", "requestId"},
        "Seats": {"eventId", "lastQueuedAt", "updatedAt"},
        "Event": {
            *("eventId", "name", "eventType", "opensAt", "closesAt", "status", "freedSeats"),
            *("keptUntil", "createdAt", "commitment"),
        },
        "WaitingPage": {"eventId", "entries"},
        "Draw": {"eventId", "commitment", "entriesHash", "drawnAt", "revealedAt"},
        "DrawPage": {"eventId", "entries"},
        "EventListing": {"opensAt", "eventId"},
        "ActiveEvent": {"eventId"},
        "Description": {"eventId", "text"},
    },
    "todo": {
        "Task": {"task_id", "status", "priority", "due_date"},
        "EmailClaim": {"field"},
    },
}
"""Attributes that say nothing about a person, by service and entity. No value of the others may be in a copy."""


@pytest.fixture(params=sorted(SERVICES))
def service(request: pytest.FixtureRequest) -> Service:
    return SERVICES[request.param]


@pytest.fixture
def source(service: Service, tmp_path: Path) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(tmp_path / "source.db", durable=False) as store:
        db = Session(store)
        db.create_tables(service.tables)
        assert service.seed is not None
        for write in service.seed(NOW):
            db.run(write)
        yield store


@pytest.fixture
def copy(service: Service, source: EmbeddedStore, tmp_path: Path) -> Iterator[EmbeddedStore]:
    names = tuple(table.name for table in service.tables)
    with EmbeddedStore(tmp_path / "copy.db", durable=False) as store:
        copy_sample(Side(source), Side(store), names, 10_000, mask=PersonalMask([service], b"secret"), outside=OUTSIDE)
        yield store


def items_of(store: EmbeddedStore, service: Service) -> Iterator[tuple[EntitySchema[Any], dict[str, Any]]]:
    for table in service.tables:
        page, start = None, None
        while page is None or start is not None:
            page = store.execute(ScanTable(table.name, start=start))
            start = page.last_key
            for item in page.items:
                yield next(each for each in table.entities if each.owns(item)), item


def texts(value: Any) -> Iterator[str]:
    """Yield all texts of a value, and the parts of which keys are made."""
    if isinstance(value, str):
        yield value
        yield from map(unquote, value.split("#"))
    elif isinstance(value, dict):
        for member in value.values():
            yield from texts(member)
    elif isinstance(value, list | tuple | set | frozenset):
        for member in value:
            yield from texts(member)


def personal_values(store: EmbeddedStore, service: Service) -> set[str]:
    """Return all texts in the fields of the sample data, except those of attributes in `NOT_PERSONAL`."""
    found: set[str] = set()
    for schema, item in items_of(store, service):
        harmless = NOT_PERSONAL[service.name].get(schema.name, set())
        fields = set(schema.attributes.values()) - harmless if schema.cls.in_lake else set()
        for name in item.keys() & fields:
            value = item[name].rpartition("#")[2] if name == "idempotencyKey" else item[name]  # only the user
            found.update(text for text in texts(value) if len(text) > 1)
    return found


def test_no_personal_value_is_in_a_copy(service: Service, source: EmbeddedStore, copy: EmbeddedStore) -> None:
    personal = personal_values(source, service)
    copied = {text for _, item in items_of(copy, service) for value in item.values() for text in texts(value)}
    assert personal & copied == set()
    assert personal, "the sample data has nothing to look for"


def test_what_is_left_out_are_secrets_alone(service: Service, source: EmbeddedStore, copy: EmbeddedStore) -> None:
    def count(store: EmbeddedStore) -> dict[str, int]:
        found: dict[str, int] = {}
        for schema, _ in items_of(store, service):
            found[schema.name] = found.get(schema.name, 0) + 1
        return found

    open_to_all = {schema.name for table in service.tables for schema in table.entities if schema.cls.in_lake}
    assert count(copy) == {name: number for name, number in count(source).items() if name in open_to_all}


def test_what_belongs_together_still_does(service: Service, copy: EmbeddedStore) -> None:
    """Every copied item is valid, and its keys match its fields."""
    for schema, item in items_of(copy, service):
        entity = schema.entity(item)
        made = schema.item(entity)
        assert {name: item[name] for name in schema.key(entity)} == schema.key(entity)
        assert {name for name in made if made[name] != item.get(name)} == set()
