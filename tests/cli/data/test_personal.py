"""`partita personal`."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.conftest import Run

from partita import EmbeddedStore
from partita.change import Consumer
from partita.queue import Postpone, QueuePolicy, ReadDead, Receive, Send
from partita.queue.embedded import EmbeddedQueue
from partita_services.todo.model import TABLE
from partita_services.todo.projection import TaskProjection

pytestmark = pytest.mark.req("X15")


def test_all_that_is_kept_of_a_user_is_printed(seeded: Run) -> None:
    file = json.loads(seeded("personal", "export", "todo", "--user", "demo").output)
    assert (file["service"], file["user_id"]) == ("todo", "demo")
    assert (len(file["data"]["tasks"]), file["data"]["profile"][0]["email"]) == (26, "demo@example.com")


def test_it_is_erased(seeded: Run) -> None:
    erased = seeded("personal", "erase", "todo", "--user", "demo", "--yes")
    rows = [re.split(r"\s{2,}", line.strip()) for line in erased.output.splitlines()]
    assert rows[:3] == [["WHERE", "ERASED", "REMAINS"], ["tasks", "26 erased"], ["profile", "1 erased"]]
    assert {"change stream", "lakes", "backups", "database file"} <= {row[0] for row in rows}
    file = json.loads(seeded("personal", "export", "todo", "--user", "demo").output)
    assert file["data"] == {"tasks": [], "profile": []}


def report(run: Run, *options: str) -> dict[str, tuple[str, str]]:
    found = json.loads(run("personal", "erase", "todo", "--user", "demo", "--yes", "--json", *options).stdout)
    return {each["place"]: (each["erased"], each["remains"]) for each in found}


def test_dead_letters_of_the_user_are_discarded_and_those_of_others_stay(seeded: Run, folder: Path) -> None:
    with EmbeddedQueue(folder / "queue-todo-reminders.db", "todo-reminders", policy=QueuePolicy(1)) as queue:
        for number, body in enumerate(
            ('{"content": {"user_id": "demo"}}', '{"user_id": "demonstration"}', "demo, as text")
        ):
            queue.execute(Send(body, f"group {number}".replace(" ", "-"), str(number)))
        for _ in range(2):
            receipts = tuple(message.receipt for message in queue.execute(Receive(10, visibility=0)))
            queue.execute(Postpone(receipts, 0)) if receipts else None
        assert len(queue.execute(ReadDead())) == 3
    assert report(seeded)["queue todo-reminders"] == ("2 dead letters discarded", "")
    with EmbeddedQueue(folder / "queue-todo-reminders.db", "todo-reminders") as queue:
        assert [letter.body for letter in queue.execute(ReadDead())] == ['{"user_id": "demonstration"}']


def test_the_projection_is_brought_up_to_date(seeded: Run, folder: Path) -> None:
    with EmbeddedStore(folder / "partita.db") as store, closing(TaskProjection(folder / "todo-projection.db")) as sink:
        Consumer(store, TABLE, sink).catch_up()
    assert report(seeded)["projection"] == ("up to date; pages and log overwritten", "")
    content = b"".join(path.read_bytes() for path in folder.glob("todo-projection.db*"))
    assert b"passport" not in content


def test_the_lake_erases_too(seeded: Run, folder: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    assert seeded("cdc", "run", "todo", "--lake", str(lake), "--once").exit_code == 0
    places = report(seeded, "--lake", str(lake))
    assert places[f"lake {lake}"] == ("erased in every version of its tables", "")
    assert "lakes" not in places
    rows = json.loads(seeded("lake", "query", "select count(*) as n from task", "--lake", str(lake), "--json").stdout)
    assert rows == [{"n": 0}]


def test_nothing_of_the_user_is_left_in_the_database_but_the_stream(seeded: Run, folder: Path) -> None:
    places = report(seeded)
    assert places["database file"] == ("deleted items overwritten, log cut", "")
    assert places["change stream"][1].startswith("old images, until 20")
    assert not (folder / "partita.db-wal").exists() or (folder / "partita.db-wal").stat().st_size == 0


def test_continuous_backups_are_named_if_they_are_of_the_service(seeded: Run) -> None:
    assert "continuous backups" not in " ".join(report(seeded))
    for table in ("todo-app-data", "countries"):
        assert seeded("points", "enable", table, "--days", "3").exit_code == 0
    places = report(seeded)
    assert [place for place in places if place.startswith("continuous")] == ["continuous backups of todo-app-data"]
    about = "up to 3 days; `partita points disable todo-app-data` discards them"
    assert places["continuous backups of todo-app-data"] == ("", about)


def test_it_asks_first(seeded: Run) -> None:
    asked = seeded("personal", "erase", "todo", "--user", "demo")
    assert (asked.exit_code, "cannot be undone" in asked.output) == (1, True)
    assert len(json.loads(seeded("personal", "export", "todo", "--user", "demo").output)["data"]["tasks"]) == 26


def test_a_service_without_personal_data_says_so(seeded: Run) -> None:
    refused = seeded("personal", "export", "countries", "--user", "demo")
    assert (refused.exit_code, "Service.personal" in refused.output) == (1, True)


@pytest.mark.parametrize("command", ["export", "erase"])
def test_an_empty_id_is_refused(command: str, run: Run) -> None:
    result = run("personal", command, "todo", "--user", "")
    assert (result.exit_code, "Invalid value for '--user': The id is empty." in result.output) == (2, True)
