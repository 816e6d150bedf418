"""The load of a soak: its rate, its latencies, and that the stored data does not grow with the number of calls."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any, Self, cast

import pytest
from tests.cli.processes.servers import Client
from tests.faults._load import Load
from tests.soak._callers import Pace, timed
from tests.soak._calls import READS, REQUESTS, TASKS, Calls, Failed


class Service:
    """A fake of the services: it responds as they do, and records what they would store."""

    def __init__(self) -> None:
        self.there: set[str] = set()
        self.users: list[str] = []
        self.read: set[str] = set()
        self.refuses: str | None = None
        self._numbers = itertools.count()

    def connect(self, user: str) -> Client:
        self.users.append(user)
        return cast("Client", self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def json(self, _method: str, _path: str) -> Any:
        return {"items": [{"eventId": "open", "status": "OPEN"}, {"eventId": "over", "status": "FINISHED"}]}

    def send(self, method: str, path: str, _body: object = None) -> tuple[int, bytes]:
        if path == self.refuses:
            return 503, b"later"
        if method == "GET":
            self.read.add(path)
        elif method == "DELETE":
            self.there.remove(path.rpartition("/")[2])
        elif not path.endswith("transfers"):
            made = f"{path.split('/')[1]}-{next(self._numbers)}"
            self.there.add(made)
            return 201, json.dumps({"task_id": made, "requestId": made}).encode()
        return 200, b"{}"

    def count(self, service: str) -> int:
        return sum(each.startswith(service) for each in self.there)


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def calls(service: Service, tmp_path: Path) -> Calls:
    return Calls(Load(tmp_path), service.connect)


def test_calls_are_due_at_a_pace_whoever_makes_them() -> None:
    pace = Pace(4.0, 100.0)
    assert [pace.next() for _ in range(5)] == [100.0, 100.25, 100.5, 100.75, 101.0]


def test_a_call_counts_from_the_instant_at_which_it_was_due(service: Service) -> None:
    failed: list[str] = []
    assert timed(lambda _: None, service.connect("demo"), 10.0, lambda: 12.5, failed) == 2.5
    assert failed == []


def test_a_call_that_fails_is_told_and_counts(service: Service, calls: Calls) -> None:
    failed: list[str] = []
    service.refuses = READS[0]
    assert timed(calls.next(), service.connect("demo"), 10.0, lambda: 11.0, failed) == 1.0
    assert failed == [f"Failed: GET {READS[0]}: 503 b'later'"]
    with pytest.raises(Failed):
        Calls(calls.load, service.connect).next()(service.connect("demo"))


def test_what_is_stored_does_not_grow_with_the_calls(service: Service, calls: Calls) -> None:
    rounds = REQUESTS + 50
    client = service.connect("demo")
    for _ in range(rounds * (len(READS) + 3)):
        calls.next()(client)
    assert (service.count("todo"), service.count("events"), service.read) == (TASKS, REQUESTS, set(READS))
    assert (len(calls.load.titles), len(calls.load.deleted)) == (TASKS, rounds - TASKS)
    assert (calls.load.transfers, len(calls.load.requests)) == (rounds, rounds)
