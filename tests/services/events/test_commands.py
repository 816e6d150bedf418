"""`partita events`: the commands of operators, and error messages of one line."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.services.events.acting import SEED

from partita import EmbeddedStore, Session
from partita.cli import main
from partita_services.events.changes.drafts import EventDraft
from partita_services.events.handlers import open_event
from partita_services.events.model import TABLE, Event, event_by_id
from partita_services.events.terms import EventStatus, EventType, instant

pytestmark = pytest.mark.req("E15")


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    with EmbeddedStore(tmp_path / "partita.db") as store:
        session = Session(store)
        session.create_tables([TABLE])
        yield session


def opened(db: Session, event_type: EventType = EventType.FIRST_COME, opened_before: float = 0, **more: Any) -> Event:
    """Create an event that opened `opened_before` seconds ago for an hour."""
    now = instant(time.time() - opened_before)
    closes = now + timedelta(hours=1)
    draft = EventDraft(name="A", event_type=event_type, capacity_total=2, opens_at=now, closes_at=closes, **more)
    return db.run(open_event(draft, now, SEED).run()).event


def partita(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["events", *arguments, "--data", str(folder)])


def stored(db: Session, event: Event) -> Event:
    found = db.run(event_by_id(event.event_id).consistent())
    assert found is not None
    return found


def test_events_are_listed(db: Session, tmp_path: Path) -> None:
    event = opened(db)
    lines = partita(tmp_path, "list").output.splitlines()
    assert lines[0].split()[0] == "event"
    assert (event.event_id in lines[1], "2 of 2" in lines[1], lines[1].endswith("A")) == (True, True, True)


def test_an_event_is_edited(db: Session, tmp_path: Path) -> None:
    event = opened(db)
    result = partita(tmp_path, "edit", event.event_id, "--name", "B", "--seats", "5")
    assert (result.exit_code, result.output.startswith("Changed: B, 5 seats")) == (0, True)
    assert stored(db, event).name == "B"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--seats", "1"], "seats can be added"),
        (["--seats", "0"], "capacityTotal: Input should be greater than or equal to 1"),
        (["--closes", "2020-01-01T10:00:00Z"], "closesAt must be after opensAt"),
        (["--closes", "soon"], "Error: closesAt: an instant must be written as YYYY-MM-DDThh:mm:ssZ."),
        (["--draws-itself"], "Only a lottery has a draw."),
    ],
)
def test_what_cannot_be_is_said_in_one_line(options: list[str], said: str, db: Session, tmp_path: Path) -> None:
    result = partita(tmp_path, "edit", opened(db).event_id, *options)
    assert (result.exit_code, said in result.output, len(result.output.splitlines())) == (1, True, 1), result.output


def test_an_event_is_cancelled(db: Session, tmp_path: Path) -> None:
    event = opened(db)
    result = partita(tmp_path, "cancel", event.event_id, "--reason", "Rain.")
    assert (result.exit_code, result.output) == (0, "Cancelled: A. Workers notify everyone who applied.\n")
    assert (stored(db, event).status, stored(db, event).cancel_reason) == (EventStatus.CANCELLED, "Rain.")
    assert partita(tmp_path, "cancel", "gone", "--reason", "Rain.").exit_code == 1


@pytest.mark.req("E16")
def test_a_draw_is_held_in_two_steps(db: Session, tmp_path: Path) -> None:
    event = opened(db, EventType.LOTTERY, 7_200, entropy_source="dice")
    early = partita(tmp_path, "draw", event.event_id, "--entropy", "6")
    assert (early.exit_code, "not frozen yet" in early.output) == (1, True)
    frozen = partita(tmp_path, "draw", event.event_id)
    assert (frozen.exit_code, frozen.output) == (0, "The entries are frozen. The draw waits for: dice\n")
    drawn = partita(tmp_path, "draw", event.event_id, "--entropy", "6")
    assert (drawn.exit_code, drawn.output) == (0, "Drawn: 0 of 0 have won.\n")


def test_without_a_database_there_is_nothing_to_work_on(tmp_path: Path) -> None:
    result = partita(tmp_path, "list")
    assert (result.exit_code, "There is no database" in result.output) == (1, True)
