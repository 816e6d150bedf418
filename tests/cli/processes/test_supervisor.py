"""The supervisor and processes that are stopped, cannot begin, or do not end. The tests play the processes."""

from __future__ import annotations

import errno
import os
import socket
import zlib
from collections.abc import Callable
from multiprocessing import Pipe, connection
from types import SimpleNamespace
from typing import Any, cast

import click
import pytest

from partita.cli.processes import Supervisor, Work, _supervisor
from partita.cli.processes._channel import (
    _TO_PROCESS,
    Answer,
    Asked,
    Count,
    Counted,
    Failed,
    FromProcess,
    Ready,
    Stop,
    ToProcess,
    send,
)
from partita.cli.processes._figures import COUNT_SECONDS
from partita.cli.processes._running import Running
from partita.cli.processes._supervisor import CUT_SECONDS, KILL_SECONDS, WORK_SECONDS
from partita.reports import ServerFigures

pytestmark = pytest.mark.req("X21")

SERVERS, BACKGROUND, WORKERS = (Work(kind, lambda: None) for kind in ("server", "background", "worker"))


class Played:
    """A process that a test plays: it passes received messages to the test, and sends what the test says."""

    def __init__(self, work: Work, number: int, on_told: Callable[[Played, ToProcess], None]) -> None:
        self.name, self.pid, self.exitcode = work.kind, number, 0
        self.sentinel, self._alive = os.pipe()
        self.supervisors, self.pipe = Pipe()
        self.is_killed = False
        self._on_told = on_told

    def say(self, message: FromProcess) -> None:
        send(self.pipe, message)

    def end(self, code: int = 0) -> None:
        self.exitcode = code
        self.pipe.close()
        os.close(self._alive)

    def kill(self) -> None:
        self.is_killed = True
        self.end(-9)

    def join(self) -> None:
        os.close(self.sentinel)

    def hear(self) -> None:
        while not self.pipe.closed and self.pipe.poll():
            self._on_told(self, _TO_PROCESS.decode(zlib.decompress(self.pipe.recv_bytes())))


class Stage:
    """Runs the supervisor with played processes. While it waits, they receive their messages, and time passes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.played: list[tuple[float, Played]] = []
        """The processes, each with its start time."""
        self.on_start: dict[str, Callable[[Played], None]] = {"worker": lambda _: None}
        self.on_told: Callable[[Played, ToProcess], None] = _obedient
        self.acts: list[Callable[[], None]] = []
        """The acts of a test: the next one runs when no process has anything to do. After them, only time passes."""
        self._signals: list[Callable[[], None]] = []
        self._refused: dict[str, int] = {}
        monkeypatch.setattr(_supervisor, "fork_process", self._fork)
        monkeypatch.setattr(_supervisor, "on_stop_signal", self._signals.append)
        monkeypatch.setattr(_supervisor, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(_supervisor, "connection", SimpleNamespace(wait=self._wait))

    def stop(self) -> None:
        """Send a stop signal."""
        self._signals[0]()

    def run(self, workers: Work | None = None) -> None:
        with socket.create_server(("127.0.0.1", 0)) as self.listener:
            Supervisor(self.listener, SERVERS, BACKGROUND, workers, on_ready=lambda _: None).run()

    def of(self, kind: str) -> list[Played]:
        return [each for _, each in self.played if each.name == kind]

    def refuse(self, kind: str, times: int) -> None:
        """Have the system refuse to start the next processes of a kind."""
        self._refused[kind] = times

    def _fork(self, work: Work, number: int, *_: Any, **__: Any) -> Running:
        if self._refused.get(work.kind, 0):
            self._refused[work.kind] -= 1
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        played = Played(work, number, self.on_told)
        self.played.append((self.now, played))
        self.on_start.get(work.kind, _ready)(played)
        return Running(work, number, cast("Any", played), played.supervisors, self.now)

    def _wait(self, objects: list[Any], seconds: float | None) -> list[Any]:
        while True:
            for _, each in self.played:
                each.hear()
            if found := connection.wait(objects, 0):
                return found
            act = self.acts.pop(0) if self.acts else LET_TIME_PASS
            act()
            if act is LET_TIME_PASS:
                assert seconds is not None, "nothing would ever happen again"
                self.now += seconds
                return []


def LET_TIME_PASS() -> None:  # noqa: N802 - a marker among the acts
    """Let time pass until the next action that the supervisor has planned."""


def _ready(process: Played) -> None:
    process.say(Ready())


def _obedient(process: Played, message: ToProcess) -> None:
    if isinstance(message, Stop):
        process.end()
    elif isinstance(message, Count):
        process.say(Counted(ServerFigures()))


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(monkeypatch)


@pytest.mark.parametrize(
    ("kind", "seconds"), [("server", KILL_SECONDS), ("worker", WORK_SECONDS), ("background", WORK_SECONDS)]
)
def test_whoever_does_not_stop_in_time_is_killed(
    kind: str, seconds: float, stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.on_told = lambda process, message: None if process.name == kind else _obedient(process, message)
    stage.acts = [stage.stop]
    stage.run(WORKERS)
    assert [each.is_killed for each in stage.of(kind)] == [True]
    assert stage.now == seconds
    assert [each.is_killed for _, each in stage.played].count(True) == 1
    assert f"The process {kind} (0) did not stop, and is killed." in caplog.messages


def test_after_a_second_signal_nobody_is_waited_for_as_long(stage: Stage) -> None:
    stage.on_told = lambda *_: None
    stage.acts = [stage.stop, stage.stop]
    stage.run(WORKERS)
    assert stage.now == 3 * CUT_SECONDS


def test_who_connects_while_it_stops_is_refused(stage: Stage) -> None:
    refused = list[bool]()

    def told(process: Played, message: ToProcess) -> None:
        refused.append(stage.listener.fileno() < 0)
        _obedient(process, message)

    stage.on_told, stage.acts = told, [stage.stop]
    stage.run()
    assert refused == [True, True]


def test_who_does_not_answer_is_not_asked_again_and_is_named(stage: Stage) -> None:
    answers, counts = list[dict[str, str]](), list[float]()

    def told(process: Played, message: ToProcess) -> None:
        if isinstance(message, Answer):
            answers.append(message.troubles)
        elif process.name == "background" and isinstance(message, Count):
            counts.append(stage.now)
        else:
            _obedient(process, message)

    def ask() -> None:
        stage.of("server")[0].say(Asked(1))

    stage.on_told = told
    stage.acts = [
        ask,
        LET_TIME_PASS,
        *[ask] * 3,  # answered immediately, without another message to the silent process
        lambda: stage.of("background")[0].say(Counted(ServerFigures())),
        ask,
        lambda: stage.of("background")[0].say(Counted(ServerFigures())),
        stage.stop,
    ]
    stage.run()
    assert answers == [{"background": "process_silent"}] * 4 + [{}]
    assert counts == [0, COUNT_SECONDS]
    assert stage.now == COUNT_SECONDS


def test_one_that_cannot_begin_is_tried_later_each_time(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    def fails(process: Played) -> None:
        process.say(Failed("There is no such queue."))
        process.end(1)

    stage.on_start["worker"] = fails
    stage.acts = [*[LET_TIME_PASS] * 7, stage.stop]
    stage.run(WORKERS)
    assert [at for at, each in stage.played if each.name == "worker"] == [0, 1, 3, 7, 15, 31, 61, 91]
    assert "The process worker (0) ended with 1, and is replaced in 2 s: There is no such queue." in caplog.messages


def test_one_that_had_begun_is_replaced_at_once_however_often_it_ends(stage: Stage) -> None:
    def killed() -> None:
        stage.of("background")[-1].end(-9)

    stage.acts = [killed, LET_TIME_PASS, killed, LET_TIME_PASS, killed, LET_TIME_PASS, stage.stop]
    stage.run()
    assert [at for at, each in stage.played if each.name == "background"] == [0, 1, 2, 3]


def test_a_process_that_the_system_refuses_is_tried_again_and_the_others_go_on(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.acts = [
        lambda: stage.refuse("background", 2),
        lambda: stage.of("background")[0].end(-9),
        *[LET_TIME_PASS] * 3,
        stage.stop,
    ]
    stage.run()
    assert [at for at, each in stage.played if each.name == "background"] == [0, 1 + 1 + 2]
    assert len(stage.of("server")) == 1
    assert "No background process can be started: Resource temporarily unavailable. Next try in 2 s." in caplog.messages


@pytest.mark.parametrize("kind", ["background", "server"])
def test_a_first_process_that_the_system_refuses_is_the_error(kind: str, stage: Stage) -> None:
    stage.refuse(kind, 1)
    with pytest.raises(click.ClickException, match=f"No {kind} process can be started: Resource temporarily"):
        stage.run(WORKERS)
