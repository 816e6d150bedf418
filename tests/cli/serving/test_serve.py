"""`partita serve`, mostly as a separate process."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace
from tests.cli.conftest import Run
from tests.cli.waiting import soon

from partita import EmbeddedStore, Session, delete
from partita.cli import DataFolder, _listen, identity_of
from partita.cli.serving import _background, _serve
from partita.cli.serving._background import prepare
from partita.cli.serving._banner import banner
from partita.http import Caller
from partita_services.todo.bootstrap import SERVICE as TODO
from partita_services.todo.model import tasks_of_user

pytestmark = pytest.mark.req("X01")

DEADLINE = 60


class Server:
    """A running `partita serve` on a free port."""

    def __init__(self, folder: Path, *arguments: str, descriptors: int | None = None) -> None:
        command = [sys.executable, "-c", 'from partita.cli import main; main(prog_name="partita")', "serve"]
        bounded = [] if descriptors is None else ["sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh"]
        self.process = subprocess.Popen(
            [*bounded, *command, "--port", "0", *arguments],
            env=os.environ | {"PARTITA_DATA": str(folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout is not None
        self.banner = ""
        while "Stop with Ctrl-C." not in self.banner:
            line = self.process.stdout.readline()
            assert line, self.banner
            self.banner += line
        (self.url,) = re.findall(r"serves at (http://\S+)/", self.banner)
        token = identity_of(DataFolder(folder)).token(Caller("demo"))
        headers = {"Authorization": f"Bearer {token}"}
        self.client = httpx.Client(base_url=self.url, headers=headers, timeout=DEADLINE, trust_env=False)

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal; return the exit code and the rest of the output."""
        self.process.send_signal(with_signal)
        output, _ = self.process.communicate(timeout=DEADLINE)
        return self.process.returncode, output

    def close(self) -> None:
        self.client.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


Start = Callable[..., Server]


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    servers: list[Server] = []

    def start(*arguments: str, descriptors: int | None = None) -> Server:
        servers.append(Server(folder, *arguments, descriptors=descriptors))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def test_it_serves_stops_and_has_its_data_again(start: Start, folder: Path) -> None:
    first = start("todo")
    assert "todo: 27 new, 0 existed already" in first.banner
    assert f"{first.url}/todo/api" in first.banner
    assert f"\n  {first.url}/#sign-in=" in first.banner
    assert 'href="/todo/"' in first.client.get("/").text
    assert f"partita token --user demo --data {folder}" in first.banner
    assert first.client.get("/healthz").json() == {"status": "ok"}
    assert "tasks_with_status" in first.client.get("/console/api/services").text
    location = first.client.post("/todo/api/tasks", json={"title": "kept"}).headers["Location"]
    page = first.client.get("/todo/api/tasks?limit=1").json()
    assert first.stop() == (0, "Stopped.\n")

    second = start("--all")
    assert "Sample data of todo" not in second.banner
    assert second.client.get("/console/api/live").json()["queues"].keys() >= {"commitcollect", "events"}
    assert second.client.get(location).json()["title"] == "kept"
    following = second.client.get(f"/todo/api/tasks?limit=1&cursor={page['next_cursor']}").json()
    assert following["items"][0]["task_id"] > page["items"][0]["task_id"]
    assert second.stop(signal.SIGINT) == (0, "Stopped.\n")


def test_a_request_that_has_begun_is_answered_before_it_stops(start: Start) -> None:
    server = start("todo", "--no-seed")
    url = httpx.URL(server.url)
    body = b'{"title": "in flight"}'
    head = (
        f"POST /todo/api/tasks HTTP/1.1\r\nHost: {url.host}\r\nContent-Type: application/json\r\n"
        f"Authorization: {server.client.headers['Authorization']}\r\n"
        f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
    )
    with socket.create_connection((url.host, url.port or 0), timeout=DEADLINE) as connection:
        connection.sendall(head.encode())
        assert connection.recv(1_000).startswith(b"HTTP/1.1 100 ")  # the request has begun
        server.process.send_signal(signal.SIGTERM)
        connection.sendall(body)
        assert connection.recv(1_000).startswith(b"HTTP/1.1 201 ")
    assert server.process.wait(DEADLINE) == 0


def test_without_sample_data_it_starts_empty(start: Start) -> None:
    server = start("todo", "--no-seed")
    assert server.client.get("/todo/api/tasks").json()["items"] == []


def connected(server: Server) -> socket.socket:
    url = httpx.URL(server.url)
    return socket.create_connection((url.host, url.port or 0), timeout=DEADLINE)


@pytest.mark.skipif(sys.platform == "win32", reason="it has no bound of descriptors to reach")
def test_half_sent_heads_do_not_shut_others_out(start: Start) -> None:
    server = start("todo", "--no-seed", "--workers", "0", descriptors=256)
    with ExitStack() as held:
        for _ in range(260):
            held.enter_context(connected(server)).sendall(b"GET /healthz HTTP/1.1\r\nX-Slow: ")
        assert server.client.get("/healthz").json() == {"status": "ok"}
        code, output = server.stop()
    lines = output.splitlines()
    assert (code, lines[-1]) == (0, "Stopped.")
    assert len(lines) <= 2, output[:2_000]  # the other line says that file descriptors ran out


def test_a_name_that_is_not_its_own_is_refused(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTITA_ALLOWED_HOSTS", "Shop.example, cafe.example")
    server = start("todo", "--no-seed", "--workers", "0")
    assert "Warning" not in server.banner
    hosts = ("evil.example", "shop.example", "cafe.example:80", "localhost", "127.0.0.1")
    found = [server.client.get("/healthz", headers={"Host": host}) for host in hosts]
    assert [response.status_code for response in found] == [421, 200, 200, 200, 200]
    assert found[0].json()["code"] == "host_not_allowed"
    assert server.stop() == (0, "Stopped.\n")


def test_beyond_this_machine_it_says_which_names_it_answers_to(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_listen, "is_loopback", lambda _: False)
    monkeypatch.setattr(_serve, "run_app", lambda *_: None)
    result = run("serve", "todo", "--port", "0", "--no-seed", "--workers", "0", "--allowed-host", "shop.example")
    assert result.output == (
        "Warning: other machines can reach 127.0.0.1. "
        "Accepted hosts: this address and localhost, shop.example (--allowed-host).\nStopped.\n"
    )


def test_requests_of_a_caller_may_be_limited(start: Start) -> None:
    server = start("todo", "--no-seed", "--rate-limit", "2/0.001")
    assert [server.client.get("/todo/api/tasks").status_code for _ in range(3)] == [200, 200, 429]
    refused = server.client.get("/todo/api/tasks")
    assert refused.json()["code"] == "rate_limited"
    assert 0 < int(refused.headers["Retry-After"]) <= 1_000


@pytest.mark.parametrize("rate", ["on", "10", "0/1", "1/0", "1/x", "1/nan", "/1", ""])
def test_a_limit_that_is_not_one_is_refused(rate: str, run: Run) -> None:
    result = run("serve", "--rate-limit", rate)
    assert result.exit_code == 2
    assert f"{rate!r} is neither `off` nor a rate such as 600/100." in result.output


class Killed(BaseException):
    """Simulates the end of a process that is killed."""


@pytest.mark.req("X02")
def test_sample_data_that_was_interrupted_is_completed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, run = DataFolder(folder), Session.run
    steps = iter(range(10))

    def interrupted(session: Session, operation: Any) -> Any:
        if next(steps, None) is None:
            raise Killed
        return run(session, operation)

    with data.open() as store:
        with monkeypatch.context() as patched:
            patched.setattr(Session, "run", interrupted)
            with pytest.raises(Killed):
                prepare([TODO], store, data, with_samples=True)
        session = Session(store)
        assert len(session.run(tasks_of_user("demo"))) < 26
        prepare([TODO], store, data, with_samples=False)
        assert len(session.run(tasks_of_user("demo"))) < 26
        prepare([TODO], store, data, with_samples=True)
        first, *others = session.run(tasks_of_user("demo"))
        assert len(others) == 25
        session.run(delete(first))
        prepare([TODO], store, data, with_samples=True)
        assert len(session.run(tasks_of_user("demo"))) == 25
    assert list(folder.glob("seeding-*")) == []


@pytest.mark.req("X02")
def test_sample_data_is_completed_where_only_the_tables_were_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = DataFolder(folder)

    def killed(*_: object) -> None:
        raise Killed

    with data.open() as store:
        with monkeypatch.context() as patched:
            patched.setattr(_background, "seed_service", killed)
            with pytest.raises(Killed):
                prepare([TODO], store, data, with_samples=True)
        prepare([TODO], store, data, with_samples=True)
        assert len(Session(store).run(tasks_of_user("demo"))) == 26


@pytest.mark.parametrize(("options", "tasks"), [((), 0), (("--seed",), 26), (("--no-seed",), 0)])
def test_another_store_gets_sample_data_where_that_is_said(
    options: tuple[str, ...], tasks: int, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_serve, "run_app", lambda *_: None)
    place = tmp_path / "elsewhere.db"
    assert run("serve", "todo", "--port", "0", "--workers", "0", "--store", str(place), *options).exit_code == 0
    with EmbeddedStore(place) as store:
        assert len(Session(store).run(tasks_of_user("demo"))) == tasks


def test_sample_data_that_is_asked_for_comes_where_the_tables_are_there(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_serve, "run_app", lambda *_: None)
    serve = ("serve", "todo", "--port", "0", "--workers", "0")
    for option, tasks in (("--no-seed", 0), ("--seed", 26), ("--seed", 26)):
        assert run(*serve, option).exit_code == 0
        with DataFolder(folder).open() as store:
            assert len(Session(store).run(tasks_of_user("demo"))) == tasks


def test_the_banner_says_which_service_has_no_api() -> None:
    bare = replace(TODO, router=None, pages=None)
    shown = [banner([service], DataFolder(Path("data")), "http://h", None).splitlines()[2] for service in (bare, TODO)]
    assert shown == [
        "  To-Do    has no API: see the console",
        "  To-Do    http://h/todo/ (API at http://h/todo/api)",
    ]


@pytest.mark.req("X20")
def test_the_banner_begins_with_the_front_page_and_the_link() -> None:
    link = "http://h/#sign-in=code"
    lines = banner([TODO], DataFolder(Path("data")), "http://h", None, link=link).splitlines()
    assert lines[0] == f"Partita serves at http://h/ from {Path('data')}"
    assert lines[3] == f"  {link}"
    assert lines[6:8] == ["  APIs     http://h/api-docs/", "  Console  http://h/console/"]


@pytest.mark.req("X03")
def test_with_an_issuer_it_takes_no_other_tokens(start: Start) -> None:
    server = start("todo", "--no-seed", "--issuer", "http://127.0.0.1:9/realm", "--audience", "partita")
    assert "Accepts tokens of http://127.0.0.1:9/realm." in server.banner
    answer = server.client.get("/todo/api/tasks")
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert "http://127.0.0.1:9/realm" in answer.json()["hint"]


@pytest.mark.req("X03")
@pytest.mark.parametrize("option", [("--audience", "partita"), ("--any-audience",), ("--client-id", "pages")])
def test_an_option_of_an_issuer_without_one_is_refused(option: tuple[str, ...], run: Run, folder: Path) -> None:
    result = run("serve", "todo", "--port", "0", *option)
    assert (result.exit_code, f"{option[0]} needs --issuer" in result.output) == (2, True)
    assert not folder.exists()


@pytest.mark.parametrize("audience", [(), ("--audience", ""), ("--audience", "partita", "--any-audience")])
def test_with_an_issuer_it_must_be_said_whom_tokens_are_for(audience: tuple[str, ...], run: Run, folder: Path) -> None:
    result = run("serve", "todo", "--port", "0", "--issuer", "https://issuer.example", *audience)
    assert (result.exit_code, "--any-audience" in result.output) == (2, True)
    assert not folder.exists()  # no database was created


@pytest.mark.req("X03")
def test_the_tokens_of_all_clients_are_taken_where_that_is_said(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = run("serve", "todo", "--port", port, "--issuer", "https://issuer.example", "--any-audience")
    assert (result.exit_code, "Cannot listen" in result.output) == (1, True)  # the options were accepted


@pytest.mark.req("X03")
def test_an_issuer_that_cannot_be_trusted_is_refused(run: Run) -> None:
    result = run("serve", "todo", "--port", "0", "--no-seed", "--issuer", "http://issuer.example", "--audience", "a")
    assert result.exit_code == 1
    assert "'http://issuer.example' cannot be trusted with tokens. Give an https:// URL." in result.output


def test_a_port_in_use_is_named(run: Run, folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("serve", "--all", "--port", str(port))
    assert result.exit_code == 1
    expected = f"Error: Cannot listen on 127.0.0.1, port {port}: Address already in use. "
    assert result.output == expected + "Choose another with --host and --port.\n"
    assert not folder.exists()


@pytest.mark.xdist_group("referee")
@pytest.mark.req("X12")
def test_it_serves_from_a_server_that_speaks_dynamodb(
    start: Start, ministack_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    server = start("accounts", "--store", ministack_url)
    assert f"from {ministack_url}" in server.banner
    draft = {"pk": "served", "name": "Ada", "balance": 100}  # the server is shared: no other test uses this key
    assert server.client.post("/accounts/api/accounts", json=draft).status_code == 201
    deposited = server.client.post("/accounts/api/accounts/served/deposit", json={"amount": 50})
    assert (deposited.status_code, deposited.json()["amount"]) == (201, 50)
    assert server.client.get("/accounts/api/accounts/served").json()["balance"] == 150
    assert server.stop() == (0, "Stopped.\n")


def test_an_address_that_is_none_is_refused(run: Run) -> None:
    result = run("serve", "todo", "--store", "ftp://host")
    assert (result.exit_code, "is not a valid address of a store" in result.output) == (1, True)


@pytest.mark.req("T40")
def test_it_fills_a_lake_meanwhile(start: Start, run: Run, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    server = start("todo", "--lake", str(lake))
    server.client.post("/todo/api/tasks", json={"title": "in the lake"}).raise_for_status()
    ask = ("lake", "query", "select title from task where title = 'in the lake'", "--lake", str(lake), "--csv")
    soon(lambda: run(*ask).output == "title\nin the lake\n", pause=0.2)
    assert server.stop() == (0, "Stopped.\n")
