"""`partita worker`, and the workers of `partita serve`: they finish their work, and are replaced if they are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.cli.conftest import Run
from tests.cli.serving.test_serve import DEADLINE, Server
from tests.cli.waiting import soon

from partita import Session
from partita.cli import DataFolder, identity_of
from partita.cli.serving._worker import WorkerPool, default_workers
from partita.http import Caller, Role
from partita.recipes.idempotency import run_plan
from partita.reports import total_before
from partita_services.events.changes.drafts import EventDraft
from partita_services.events.handlers import apply, open_event
from partita_services.events.model import TABLE, Request, request_by_id
from partita_services.events.queueing.messages import NAME, POLICY, sending
from partita_services.events.terms import EventType, Status, instant

pytestmark = pytest.mark.req("E10")


@pytest.fixture
def data(folder: Path) -> DataFolder:
    data = DataFolder(folder)
    data.create()
    return data


@pytest.fixture
def waiting(data: DataFolder) -> Iterator[tuple[Session, Request]]:
    """A session, and a request that waits in the queue."""
    now = instant(time.time())
    with data.open() as store:
        db = Session(store)
        db.create_tables([TABLE])
        draft = EventDraft(
            name="A",
            event_type=EventType.FIRST_COME,
            capacity_total=1,
            opens_at=now,
            closes_at=now + timedelta(hours=1),
        )
        event = db.run(open_event(draft, now, bytes(32)).run()).event
        request = db.run(apply(event, "ann", now, run_plan)).request
        queue = data.open_queue(NAME, POLICY)
        queue.execute(sending([request]))
        queue.close()
        yield db, request


def is_decided(db: Session, request: Request) -> bool:
    found = db.run(request_by_id(request.request_id))
    return found is not None and found.status is Status.SUCCEEDED


def test_a_pool_works_and_stops_when_it_is_done(data: DataFolder, waiting: tuple[Session, Request]) -> None:
    pool = WorkerPool(1, ["events"], data, None)  # a second one might be stopped before it has begun
    soon(lambda: is_decided(*waiting))
    pool.stop()
    assert [process.exitcode for process in pool._processes] == [0]


@pytest.mark.req("X10")
def test_what_workers_consume_is_known_when_they_have_stopped(
    data: DataFolder, waiting: tuple[Session, Request]
) -> None:
    pool = WorkerPool(1, ["events"], data, None)
    soon(lambda: is_decided(*waiting))
    pool.stop()
    figures = waiting[0].run(total_before())
    (decided,) = (usage for usage in figures.usage if usage.name == "decide")
    assert (decided.service, decided.runs, decided.write > 0) == ("events", 1, True)
    queues = {queue.name: (queue.received, queue.acknowledged) for queue in figures.queues}
    assert queues == {"events": (1, 1), "events-notices": (0, 0)}


def test_a_worker_that_is_killed_is_replaced(data: DataFolder, waiting: tuple[Session, Request]) -> None:
    pool = WorkerPool(1, ["events"], data, None)
    try:
        (first,) = pool._processes
        assert first.pid is not None
        os.kill(first.pid, signal.SIGKILL)
        soon(lambda: pool._processes[0] is not first)
        soon(lambda: is_decided(*waiting))
    finally:
        pool.stop()


class StuckProcess:
    """A worker process that does not end when it is asked to."""

    pid, exitcode = 4711, None

    def __init__(self) -> None:
        self.sentinel, self._alive = os.pipe()

    def terminate(self) -> None:
        """Ignore the signal."""

    def join(self, seconds: float | None = None) -> None:
        assert seconds is not None or self.exitcode is not None

    def kill(self) -> None:
        self.exitcode = -9
        os.close(self._alive)
        os.close(self.sentinel)


def test_a_worker_that_does_not_stop_is_killed(
    data: DataFolder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(WorkerPool, "_start", lambda *_: StuckProcess())
    pool = WorkerPool(1, ["events"], data, None)
    pool.stop()
    assert [process.exitcode for process in pool._processes] == [-9]
    assert caplog.messages == ["Worker 4711 did not stop, and is killed."]


class Command:
    """A running `partita worker`."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [sys.executable, "-c", 'from partita.cli import main; main(prog_name="partita")', "worker"]
        environment = os.environ | {"PARTITA_DATA": str(folder)}
        self.process = subprocess.Popen([*command, *arguments], env=environment, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.first_line = self.process.stdout.readline()

    def stop(self, number: signal.Signals) -> tuple[int, str]:
        self.process.send_signal(number)
        output, _ = self.process.communicate(timeout=DEADLINE)
        return self.process.returncode, output

    def children(self) -> list[int]:
        """Return the ids of the worker processes, without Python's resource tracker."""
        pid = self.process.pid
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
        return [int(child) for child in listed if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_works_until_it_is_stopped(
    folder: Path, waiting: tuple[Session, Request], number: signal.Signals
) -> None:
    command = Command(folder, "events")
    assert command.first_line == "1 at work for events. Stop with Ctrl-C.\n"
    soon(lambda: is_decided(*waiting))
    assert command.stop(number) == (0, "Stopped.\n")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_workers_end_when_the_command_is_killed(folder: Path, waiting: tuple[Session, Request]) -> None:
    command = Command(folder, "events")
    soon(lambda: is_decided(*waiting))
    (child,) = command.children()
    assert command.stop(signal.SIGKILL)[0] == -signal.SIGKILL
    soon(lambda: not _is_running(child))


def _is_running(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False


def test_a_service_without_work_has_no_workers(run: Run) -> None:
    result = run("worker", "countries")
    assert (result.exit_code, result.output) == (1, "Error: None of these services has work for workers.\n")


@pytest.mark.parametrize(
    ("option", "said"), [("--store", "is not a valid address of a store"), ("--queue", "is not the address of a queue")]
)
def test_a_wrong_address_is_said_once(option: str, said: str, run: Run, started: list[WorkerPool]) -> None:
    result = run("worker", "events", option, "ftp://host")
    assert (result.exit_code, result.output.count("\n"), started) == (1, 1, [])
    assert result.output.startswith(f"Error: 'ftp://host' {said}")


def test_a_damaged_database_is_said_once(run: Run, data: DataFolder, started: list[WorkerPool]) -> None:
    data.database.write_bytes(b"damaged" * 1_000)
    result = run("worker", "events")
    assert (result.exit_code, result.output.count("\n"), started) == (1, 1, [])
    assert result.output.startswith(f"Error: The file {data.database} is not a database.")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[WorkerPool]:
    """The worker pools that a command tries to start; starting one fails."""
    pools: list[WorkerPool] = []

    def start(pool: WorkerPool, *_: object) -> None:
        pools.append(pool)
        raise AssertionError("started")

    monkeypatch.setattr(WorkerPool, "__init__", start)
    return pools


def test_a_server_starts_workers_by_itself_only_where_all_is_in_its_folder(folder: Path) -> None:
    assert default_workers(DataFolder(folder)) == 1
    assert default_workers(DataFolder(folder, store="dynamodb://")) == 0
    assert default_workers(DataFolder(folder, queue="sqs://")) == 0


def test_a_server_decides_what_it_accepts(folder: Path) -> None:
    server = Server(folder, "events", "--no-seed")
    try:
        operator = identity_of(DataFolder(folder)).token(Caller("ada", Role.OPERATOR))
        now = datetime.now(UTC)
        draft = {
            "name": "A",
            "eventType": "FIRST_COME",
            "capacityTotal": 1,
            "opensAt": now.isoformat(),
            "closesAt": (now + timedelta(hours=1)).isoformat(),
        }
        headers = {"Authorization": f"Bearer {operator}"}
        event = server.client.post("/events/api/events", json=draft, headers=headers).json()
        url = server.client.post(f"/events/api/events/{event['eventId']}/requests").headers["Location"]
        soon(lambda: server.client.get(url).json()["status"] == "SUCCEEDED")
        assert server.stop() == (0, "Stopped.\n")
    finally:
        server.close()
