"""Generators that run together in rounds: results are in order, and errors are raised in the right generator."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from typing import Any

import pytest

from partita.runtime import Together, relay, run, run_async

Requests = Generator[Any, Any, Any]


def asking(*requests: Any) -> Requests:
    """Yield requests one after another, and return all responses and errors."""
    found = []
    for request in requests:
        try:
            found.append((yield request))
        except ValueError as error:
            found.append(str(error))
    return found


def together(*parts: Requests) -> Requests:
    return (yield Together(parts))


def echo(request: Any) -> Any:
    if request == "bad":
        raise ValueError("refused")
    if request == "worse":
        raise KeyError(request)
    return f"got {request}"


async def echo_async(request: Any) -> Any:
    await asyncio.sleep(0)
    return echo(request)


@pytest.fixture(params=["sync", "async"])
def execute(request: pytest.FixtureRequest) -> Callable[[Requests], Any]:
    if request.param == "sync":
        return lambda requests: run(requests, echo)
    return lambda requests: asyncio.run(run_async(requests, echo_async))


def test_results_are_in_the_order_of_the_parts(execute: Callable[[Requests], Any]) -> None:
    found = execute(together(asking("a", "b", "c"), asking(), asking("d")))
    assert found == [["got a", "got b", "got c"], [], ["got d"]]
    assert execute(together()) == []


def test_an_error_goes_to_the_part_that_asked(execute: Callable[[Requests], Any]) -> None:
    assert execute(together(asking("bad", "a"), asking("b"))) == [["refused", "got a"], ["got b"]]


def test_a_part_that_fails_ends_the_others(execute: Callable[[Requests], Any]) -> None:
    closed = []

    def watched() -> Requests:
        try:
            yield from asking("a", "b", "c")
        finally:
            closed.append(True)

    with pytest.raises(KeyError):
        execute(together(watched(), asking("a", "worse"), watched()))
    assert closed == [True, True]


def test_who_asks_for_parts_may_handle_their_error(execute: Callable[[Requests], Any]) -> None:
    def careful() -> Requests:
        try:
            yield Together((asking("worse"), asking("a")))
        except KeyError:
            return (yield "instead")

    assert execute(careful()) == "got instead"


def test_parts_may_have_parts(execute: Callable[[Requests], Any]) -> None:
    assert execute(together(together(asking("a"), asking("b")), asking("c"))) == [[["got a"], ["got b"]], ["got c"]]


def test_a_relay_stands_between_each_part_and_its_responses(execute: Callable[[Requests], Any]) -> None:
    def louder(request: str) -> Generator[str, Any, str]:
        response = yield request
        return f"{response}!".upper()

    assert execute(relay(together(asking("a"), asking("b", "bad")), louder)) == [["GOT A!"], ["GOT B!", "refused"]]


def test_no_generator_runs_in_another_thread() -> None:
    threads = set()

    def watched(*requests: str) -> Requests:
        for request in requests:
            threads.add(threading.get_ident())
            yield request

    run(together(watched("a", "b"), watched("c")), echo)
    assert threads == {threading.get_ident()}
