"""The burst: who applies, how often and in which order, and the retries after failures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from threading import Thread
from typing import Any

import pytest

from partita.errors import RequestError
from partita_services.events.loadtest import burst as bursts
from partita_services.events.loadtest.burst import Burst, applications, apply_all, user_names

pytestmark = pytest.mark.req("E13")


def test_everybody_applies_once_and_some_twice() -> None:
    users = list(user_names(100))
    sent = applications(users, 0.3, Random(1))
    assert (len(sent), set(sent), sent == applications(users, 0.3, Random(1))) == (130, set(users), True)
    assert max(map(sent.count, users)) == 2


@contextmanager
def served(respond: Callable[[str], tuple[int, Any] | None]) -> Iterator[str]:
    """Run a server that responds to each token, and yield its URL; None closes the connection without a response."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            response = respond(self.headers["Authorization"].removeprefix("Bearer "))
            if response is None:
                self.close_connection = True
                return
            status, content = response
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Suppress the log."""

    with running(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as port:
        yield f"http://127.0.0.1:{port}/requests"


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[int]:
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bursts, "_PAUSE_SECONDS", 0)


def sent_to(url: str, users: list[str], patience: float = 60.0) -> Burst:
    return Burst(url, users, lambda user: user, connections=3, patience=patience)


def test_every_application_has_a_response_that_is_counted() -> None:
    seen: Counter[str] = Counter()

    def respond(user: str) -> tuple[int, Any]:
        seen[user] += 1
        return 202 if seen[user] == 1 else 200, {"requestId": f"r-{user}"}

    users, done = list(user_names(20)), Counter[str]()
    with served(respond) as url:
        responses = apply_all(sent_to(url, [*users, *users[:5]]), lambda count: done.update(done=count))
    assert Counter(response.user_id for response in responses) == Counter([*users, *users[:5]])
    assert {response.request_id for response in responses} == {f"r-{user}" for user in users}
    assert (sum(response.is_new for response in responses), done["done"]) == (20, 25)
    assert all(response.seconds > 0 for response in responses)


@pytest.mark.parametrize("trouble", [(503, {"code": "throttled"}), None], ids=["unavailable", "lost"])
def test_whoever_has_no_response_applies_again(trouble: tuple[int, Any] | None) -> None:
    seen: Counter[str] = Counter()

    def respond(user: str) -> tuple[int, Any] | None:
        seen[user] += 1
        return trouble if seen[user] < 3 else (200, {"requestId": f"r-{user}"})

    users = list(user_names(7))
    with served(respond) as url:
        responses = apply_all(sent_to(url, users), lambda _: None)
    assert sorted(response.user_id for response in responses) == users
    assert set(seen.values()) == {3}


def test_patience_has_an_end() -> None:
    with served(lambda _: (503, {})) as url:
        assert apply_all(sent_to(url, ["a", "b"], patience=0.05), lambda _: None) == []


def test_when_the_service_refuses_one_nobody_waits_any_longer() -> None:
    def respond(user: str) -> tuple[int, Any]:
        return (409, {"code": "closed"}) if user == "refused" else (503, {})

    with (
        served(respond) as url,
        pytest.raises(RequestError, match=r'The service refused an application: 409 \{"code": "closed"\}'),
    ):
        apply_all(sent_to(url, ["b", "refused", "c", "d"], patience=3_600), lambda _: None)
