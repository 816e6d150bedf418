"""The messages between a process and the supervisor."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection

import pytest

from partita.cli.processes import Answer, ProcessChannel, _channel
from partita.cli.processes._channel import Asked, Count, Counted, Cut, Ready, Stop, receive_from_process, send
from partita.errors import StoreUnavailable
from partita.reports import EndpointFigures, ServerFigures

pytestmark = pytest.mark.req("X21")

FIGURES = ServerFigures(endpoints=(EndpointFigures("GET", "/x", 200, (1, 2), 0.5),), replays={"/x": 1})


@pytest.fixture
def ends() -> Iterator[tuple[Connection, ProcessChannel]]:
    """The supervisor's end of a pipe, and the channel of the process."""
    supervisor, process = Pipe()
    channel = ProcessChannel(process)
    channel.start()
    yield supervisor, channel
    supervisor.close()


def test_a_process_says_what_it_counted_when_it_is_asked(ends: tuple[Connection, ProcessChannel]) -> None:
    supervisor, channel = ends
    channel.count_with(lambda: FIGURES)
    channel.ready("hello")
    assert receive_from_process(supervisor) == Ready("hello")
    send(supervisor, Count())
    assert receive_from_process(supervisor) == Counted(FIGURES)
    channel.ended()
    assert receive_from_process(supervisor) == Counted(FIGURES)


def test_a_process_says_what_fails_when_it_is_asked(ends: tuple[Connection, ProcessChannel]) -> None:
    supervisor, channel = ends
    troubles: dict[str, str] = {}
    channel.count_with(lambda: FIGURES, lambda: troubles)
    troubles["writes"] = "store_full"
    send(supervisor, Count())
    assert receive_from_process(supervisor) == Counted(FIGURES, {"writes": "store_full"})


def test_a_process_learns_how_the_others_are_doing(ends: tuple[Connection, ProcessChannel]) -> None:
    supervisor, channel = ends
    send(supervisor, Answer(0, troubles={"an": "old one"}))  # no thread waits for it any more
    answers: list[Answer] = []
    asking = threading.Thread(target=lambda: answers.append(channel.ask()))
    asking.start()
    assert receive_from_process(supervisor) == Asked(1)
    send(supervisor, Answer(1, FIGURES, {"lake": "DeltaError"}))
    asking.join()
    assert answers == [Answer(1, FIGURES, {"lake": "DeltaError"})]


def test_an_answer_that_does_not_come_is_an_error(
    ends: tuple[Connection, ProcessChannel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_channel, "PATIENCE_SECONDS", 0.01)
    with pytest.raises(StoreUnavailable, match="does not respond"):
        ends[1].ask()


def test_a_process_is_told_to_stop(ends: tuple[Connection, ProcessChannel]) -> None:
    supervisor, channel = ends
    stopped, cut = threading.Event(), threading.Event()
    send(supervisor, Stop())
    assert channel.stopping.wait(60)
    channel.on_stop(stopped.set, cut.set)  # also if the message came before
    assert stopped.is_set()
    send(supervisor, Cut())
    assert cut.wait(60)


def test_a_process_stops_when_nobody_is_left_to_tell(ends: tuple[Connection, ProcessChannel]) -> None:
    supervisor, channel = ends
    supervisor.close()
    assert channel.stopping.wait(60)


def test_figures_of_two_processes_are_added_up() -> None:
    other = ServerFigures(
        endpoints=(EndpointFigures("GET", "/x", 200, (0, 5), 1.0), EndpointFigures("PUT", "/x", 201, (1, 0), 0.1)),
        replays={"/x": 2, "/y": 3},
    )
    assert FIGURES.plus(other) == ServerFigures(
        endpoints=(EndpointFigures("GET", "/x", 200, (1, 7), 1.5), EndpointFigures("PUT", "/x", 201, (1, 0), 0.1)),
        replays={"/x": 3, "/y": 3},
    )
