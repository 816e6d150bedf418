"""Running generators of requests: with blocking calls, with `await`, and through another generator."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

from partita.runtime import relay, run, run_async, run_some

Numbers = Generator[int, int, str]


def doubling(*, forgives: bool = False) -> Numbers:
    """Yield two numbers as requests, and return a text with both responses."""
    first = yield 1
    try:
        second = yield first + 1
    except ValueError:
        if not forgives:
            raise
        second = 0
    return f"{first} {second}"


def ten_times(request: int) -> int:
    return request * 10


def refuses_eleven(request: int) -> int:
    if request == 11:
        raise ValueError("eleven")
    return request * 10


def passed_on(request: int) -> Generator[int, int, int]:
    """Pass a request on with one added, and return the response with one subtracted."""
    return (yield request + 1) - 1


@pytest.fixture(params=["run", "run_async"])
def to_the_end(request: pytest.FixtureRequest) -> Callable[..., Any]:
    async def with_await(requests: Numbers, execute: Callable[[int], int]) -> str:
        async def executed(request: int) -> int:
            return execute(request)

        return await run_async(requests, executed)

    async def blocking(requests: Numbers, execute: Callable[[int], int]) -> str:
        return run(requests, execute)

    return blocking if request.param == "run" else with_await


async def test_each_request_gets_its_response(to_the_end: Callable[..., Any]) -> None:
    assert await to_the_end(doubling(), ten_times) == "10 110"


async def test_a_generator_may_handle_the_error_of_its_request(to_the_end: Callable[..., Any]) -> None:
    assert await to_the_end(doubling(forgives=True), refuses_eleven) == "10 0"


async def test_a_generator_that_was_begun_goes_on_from_its_first_request() -> None:
    async def execute(request: int) -> int:
        return ten_times(request)

    numbers = doubling()
    assert await run_async(numbers, execute, next(numbers)) == "10 110"


async def test_what_it_does_not_handle_is_raised(to_the_end: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="eleven"):
        await to_the_end(doubling(), refuses_eleven)


def test_a_relay_stands_in_between() -> None:
    asked: list[int] = []

    def execute(request: int) -> int:
        asked.append(request)
        return request * 10

    assert run(relay(doubling(), passed_on), execute) == "19 209"
    assert asked == [2, 21]


def test_an_error_behind_a_relay_reaches_the_generator() -> None:
    def respond(request: int) -> Generator[int, int, int]:
        response = yield request
        if request > 1:
            raise ValueError("too much")
        return response

    assert run(relay(doubling(forgives=True), respond), ten_times) == "10 0"
    with pytest.raises(ValueError, match="too much"):
        run(relay(doubling(), respond), ten_times)


def test_a_relay_may_respond_by_itself() -> None:
    def respond(request: int) -> Generator[int, int, int]:
        return request
        yield  # makes it a generator

    assert run(relay(doubling(), respond), refuses_eleven) == "1 2"


class TestThoseOfSomeKinds:
    """Tests of `run_some`."""

    @staticmethod
    def mixed() -> Generator[int | str, Any, str]:
        """Yield a number and a text as requests, and return a text with both responses."""
        number = yield 1
        try:
            text = yield "a"
        except ValueError:
            text = "none"
        return f"{number} {text}"

    def test_they_are_executed_and_the_others_yielded(self) -> None:
        running = run_some(self.mixed(), lambda request: f"{request}!", (int,))
        assert next(running) == "a"
        with pytest.raises(StopIteration) as end:
            running.send("b")
        assert end.value.value == "1! b"

    def test_an_error_is_the_generators_own_matter(self) -> None:
        running = run_some(self.mixed(), lambda request: f"{request}!", (int,))
        next(running)
        with pytest.raises(StopIteration) as end:
            running.throw(ValueError("no"))
        assert end.value.value == "1! none"

    def test_an_error_of_what_is_executed_too(self) -> None:
        running = run_some(doubling(forgives=True), refuses_eleven, (int,))
        with pytest.raises(StopIteration) as end:
            next(running)
        assert end.value.value == "10 0"
