"""`partita serve` in two processes: they add up their figures, finish accepted requests, and stop together."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.processes.servers import (
    MAIN,
    Client,
    Command,
    authorization,
    children_of,
    one_for_each,
    open_files,
)
from tests.cli.waiting import DEADLINE, soon

from partita import Session
from partita.cli import DataFolder
from partita_services.todo.model import tasks_of_user

pytestmark = [
    pytest.mark.req("X21"),
    pytest.mark.skipif(sys.platform != "linux", reason="/proc says who has which connection"),
    pytest.mark.xdist_group("processes"),
]

WORDS = ("serve", "todo", "--no-seed", "--workers", "0", "--rate-limit", "off")
DURATION = "partita_http_request_duration_seconds_count"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("processes") / "data"


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Command]:
    with Command(place, *WORDS) as command:
        yield command


class Users:
    """Opens connections of users, and closes them."""

    def __init__(self, server: Command, place: Path) -> None:
        self._server = server
        self._place = place
        self.made: list[Client] = []

    def client(self, user: str) -> Client:
        self.made.append(Client(self._server.address, authorization(self._place, user)))
        return self.made[-1]

    def each(self, user: str) -> list[Client]:
        """Open one connection to each process."""
        return list(one_for_each(self._server, lambda: self.client(user)).values())


@pytest.fixture
def users(server: Command, place: Path) -> Iterator[Users]:
    users = Users(server, place)
    yield users
    for client in users.made:
        client.close()


def test_there_is_one_banner(server: Command) -> None:
    assert server.banner.count("Partita serves at") == 1
    assert len(server.pids()) == 2


def counts(client: Client, route: str) -> dict[str, float]:
    """Return the number of successful requests of a route in `/metrics`, by method."""
    _, text = client.send("GET", "/metrics")
    found = re.findall(rf'{DURATION}{{method="(\w+)",route="{re.escape(route)}",status="200"}} (\S+)', text.decode())
    return {method: float(value) for method, value in found}


def test_metrics_are_the_sum_of_all_processes(users: Users) -> None:
    first, second = users.each("metrics")
    route = "/todo/api/tasks/counts"
    before = counts(first, route).get("GET", 0)
    for client, times in ((first, 3), (second, 5)):
        for _ in range(times):
            client.json("GET", route)
    assert [counts(client, route)["GET"] - before for client in (first, second, first)] == [8, 8, 8]


def test_consumption_is_the_sum_of_all_processes(users: Users) -> None:
    first, second = users.each("metered")

    def runs(client: Client) -> float:
        text = client.send("GET", "/metrics")[1].decode()
        found = re.search(
            r'partita_operations_total{pattern="tasks_of_user",process="server",service="todo"} (\S+)', text
        )
        return float(found[1]) if found else 0.0

    before = runs(first)
    for client in (first, second, second):
        client.json("GET", "/todo/api/tasks")
    assert (runs(first) - before, runs(second) - before) == (3, 3)


def test_health_is_asked_for_in_any_process(users: Users) -> None:
    assert [client.json("GET", "/healthz") for client in users.each("healthy")] == [{"status": "ok"}] * 2


def test_each_change_is_in_the_projection_once(users: Users) -> None:
    clients = users.each("counted")
    for number in range(10):
        clients[number % 2].json("POST", "/todo/api/tasks", {"title": f"{number}"})

    def total(client: Client) -> int:
        seen = client.json("GET", "/todo/api/tasks/counts")
        return -1 if seen["lag"]["records"] else sum(seen["by_status"].values())

    for client in clients:
        soon(lambda client=client: total(client) >= 0)  # type: ignore[misc]
        assert total(client) == 10


def test_a_cursor_of_one_process_is_good_in_another(users: Users) -> None:
    first, second = users.each("paging")
    made = {first.json("POST", "/todo/api/tasks", {"title": f"{number}"})["task_id"] for number in range(3)}
    page = first.json("GET", "/todo/api/tasks?limit=2")
    rest = second.json("GET", f"/todo/api/tasks?limit=2&cursor={page['next_cursor']}")
    assert {task["task_id"] for task in [*page["items"], *rest["items"]]} == made


def test_a_request_is_done_once_whichever_process_gets_it(users: Users) -> None:
    first, second = users.each("once")
    key = "Idempotency-Key: the-same\r\n"
    made = [client.json("POST", "/todo/api/tasks", {"title": "once"}, key) for client in (first, second)]
    assert made[0] == made[1]
    assert len(second.json("GET", "/todo/api/tasks")["items"]) == 1


def test_every_process_streams_what_changed_in_another(users: Users) -> None:
    streams = users.each("live")
    for stream in streams:
        stream.socket.sendall(stream.head("GET", "/todo/api/tasks/stream", 0))
        stream.until(b"event: ready")
    task = users.client("live").json("POST", "/todo/api/tasks", {"title": "seen by all"})
    for stream in streams:
        stream.until(b"event: task")
        data = stream.until(b"\n\n").partition(b"data: ")[2]
        assert json.loads(data)["task_id"] == task["task_id"]


class Writers:
    """Clients that create tasks as fast as they can, each task with its own idempotency key, until they are stopped."""

    def __init__(self, server: Command, folder: Path, user: str, number: int = 4) -> None:
        self._server = server
        self._headers = authorization(folder, user)
        self._stop = threading.Event()
        self.made: list[str] = []
        """The titles of tasks that were acknowledged."""
        self.wrong: list[object] = []
        self._threads = [threading.Thread(target=self._write, args=(each,)) for each in range(number)]
        for thread in self._threads:
            thread.start()

    def _write(self, writer: int) -> None:
        number, client = 0, None
        while not self._stop.is_set():
            title = f"{writer}-{number}"
            try:
                client = client or Client(self._server.address, self._headers)
                status, body = client.send("POST", "/todo/api/tasks", {"title": title}, f"Idempotency-Key: {title}\r\n")
            except OSError:  # the process was killed: retry the request on another connection
                if client is not None:
                    client.close()
                client = None
                continue
            if status == 409:  # the first attempt is still in progress
                continue
            if status != 201:
                self.wrong.append((status, body))
            self.made.append(title)
            number += 1
        if client is not None:
            client.close()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(DEADLINE)


def titles(folder: Path, user: str) -> list[str]:
    with DataFolder(folder).open() as store:
        return [task.title for task in Session(store).run(tasks_of_user(user).walk(max_items=100_000)).items]


def test_a_process_that_is_killed_under_load_is_replaced_and_loses_nothing(server: Command, place: Path) -> None:
    writers = Writers(server, place, "killed")
    try:
        for _ in range(2):
            before, done = server.pids(), len(writers.made)
            soon(lambda done=done: len(writers.made) > done + 20)  # type: ignore[misc]
            victim = min(before)
            os.kill(victim, signal.SIGKILL)
            soon(lambda victim=victim: len(server.pids() - {victim}) == 2)  # type: ignore[misc]
            done = len(writers.made)
            soon(lambda done=done: len(writers.made) > done + 20)  # type: ignore[misc]
    finally:
        writers.stop()
    assert writers.wrong == []
    found = titles(place, "killed")
    assert len(found) == len(set(found))  # the keys prevent duplicates
    assert set(writers.made) <= set(found)


def test_what_a_killed_process_had_counted_stays_in_the_sum(server: Command, users: Users) -> None:
    by_process = one_for_each(server, lambda: users.client("sums"))
    route = "/todo/api/tasks/counts"
    for client in by_process.values():
        client.json("GET", route)
    (victim, _), (_, left) = by_process.items()
    before = counts(left, route)["GET"]
    os.kill(victim, signal.SIGKILL)
    soon(lambda: len(server.pids() - {victim}) == 2)
    assert counts(left, route)["GET"] == before


def test_a_process_that_is_told_to_end_finishes_and_is_replaced(server: Command, users: Users) -> None:
    by_process = one_for_each(server, lambda: users.client("told"))
    victim, client = next(iter(by_process.items()))
    body = b'{"title": "in flight"}'
    client.socket.sendall(client.head("POST", "/todo/api/tasks", len(body), "Expect: 100-continue\r\n"))
    assert b" 100 " in client.until(b"\r\n\r\n")  # the request has begun
    os.kill(victim, signal.SIGTERM)
    client.socket.sendall(body)
    assert client.receive()[0] == 201
    soon(lambda: victim not in server.pids() and len(server.pids()) == 2)


def test_what_is_forked_has_one_thread_and_no_database(server: Command, place: Path) -> None:
    tasks = Path(f"/proc/{server.process.pid}/task")
    assert len(list(tasks.iterdir())) == 1
    opened = [path for path in open_files(server.process.pid) if path.startswith(str(place))]
    assert opened == []
    (background,) = server.others()
    assert any(path.startswith(str(place)) for path in open_files(background))


def test_background_work_that_is_killed_goes_on_in_another_process(server: Command, users: Users) -> None:
    (victim,) = server.others()
    os.kill(victim, signal.SIGKILL)
    soon(lambda: bool(server.others() - {victim}))
    client = users.client("background")
    client.json("POST", "/todo/api/tasks", {"title": "projected"})
    soon(lambda: sum(client.json("GET", "/todo/api/tasks/counts")["by_status"].values()) == 1)
    soon(lambda: client.json("GET", "/healthz") == {"status": "ok"})


# The following tests stop a server, so each starts its own.


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_was_accepted_is_answered_before_all_stop(number: signal.Signals, tmp_path: Path) -> None:
    folder, body = tmp_path / "data", b'{"title": "in flight"}'
    with Command(folder, *WORDS) as server:
        writers = Writers(server, folder, "load", 2)
        clients = one_for_each(server, lambda: Client(server.address, authorization(folder))).values()
        for client in clients:
            client.socket.sendall(client.head("POST", "/todo/api/tasks", len(body), "Expect: 100-continue\r\n"))
            assert b" 100 " in client.until(b"\r\n\r\n")
        os.killpg(server.process.pid, number)  # to the process group, as a terminal or a service manager does
        for client in clients:
            client.socket.sendall(body)
            assert client.receive()[0] == 201
            client.close()
        code, output = server.process.wait(DEADLINE), server.process.communicate(timeout=DEADLINE)[0]
        writers.stop()
    assert (code, output) == (0, "Stopped.\n")
    assert set(writers.made) <= set(titles(folder, "load"))
    assert titles(folder, "demo") == ["in flight"] * 2


def test_a_second_signal_cuts_off_what_is_under_way(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with Command(folder, *WORDS) as server:
        clients = one_for_each(server, lambda: Client(server.address, authorization(folder))).values()
        for client in clients:
            client.socket.sendall(client.head("POST", "/todo/api/tasks", 100, "Expect: 100-continue\r\n"))
            assert b" 100 " in client.until(b"\r\n\r\n")
        with Client(server.address) as idle:
            assert idle.send("GET", "/healthz")[0] == 200
            server.process.send_signal(signal.SIGINT)
            assert idle.socket.recv(1) == b""  # the server has begun to stop
        code, output = server.stop(signal.SIGINT)
        for client in clients:
            client.close()
    assert (code, output.splitlines()[-1]) == (0, "Stopped.")


def test_all_end_with_whoever_has_started_them(tmp_path: Path) -> None:
    with Command(tmp_path / "data", *WORDS) as server:
        pids = server.pids()
        server.process.kill()
        soon(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
        with socket.create_server(server.address):
            pass  # the port is free


def test_what_keeps_the_first_from_starting_is_said_once(tmp_path: Path) -> None:
    words = [*WORDS, "--port", "0", "--processes", "2", "--issuer", "http://issuer.example", "--audience", "a"]
    environment = os.environ | {"PARTITA_DATA": str(tmp_path / "data")}
    done = subprocess.run(
        [*MAIN, *words], env=environment, capture_output=True, text=True, timeout=DEADLINE, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("cannot be trusted with tokens") == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("Error: 'http://issuer.example' cannot be trusted")


def test_one_process_has_no_supervisor(tmp_path: Path) -> None:
    command = [*MAIN, *WORDS, "--port", "0", "--processes", "1"]
    environment = os.environ | {"PARTITA_DATA": str(tmp_path / "data")}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert any("Stop with Ctrl-C." in line for line in process.stdout)
        assert children_of(process.pid) == []
        process.terminate()
        assert process.wait(DEADLINE) == 0
