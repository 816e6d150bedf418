"""Requests of API Gateway and of function URLs, valid and invalid."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.functions.recorded import Context, recorded

from partita.errors import EventRefused
from partita.functions import HttpHandler
from partita.functions._http import MAX_RESPONSE_BYTES


class Echo:
    """An app that records its request, and returns the response that a test sets."""

    def __init__(self) -> None:
        self.scope: dict[str, Any] = {}
        self.body = b""
        self.status = 200
        self.headers: list[tuple[bytes, bytes]] = [(b"content-type", b"application/json")]
        self.parts: list[bytes] = [b"{}"]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scope, message = scope, await receive()
        self.body = message["body"]
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        for number, part in enumerate(self.parts):
            await send({"type": "http.response.body", "body": part, "more_body": number < len(self.parts) - 1})


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture
def handler(echo: Echo) -> Iterator[HttpHandler]:
    handler = HttpHandler(echo)
    yield handler
    handler.close()


def test_a_request_of_an_http_api_reaches_the_app_whole(handler: HttpHandler, echo: Echo) -> None:
    response = handler(recorded("http-api-v2"), Context())
    assert response == {
        "statusCode": 200,
        "headers": {"content-type": "application/json"},
        "body": "{}",
        "isBase64Encoded": False,
    }
    scope, headers = echo.scope, dict(echo.scope["headers"])
    assert (scope["method"], scope["path"], scope["root_path"], scope["scheme"]) == ("POST", "/echo/a b", "", "https")
    assert scope["query_string"] == b"tag=x&tag=y%20z&empty="
    assert (headers[b"cookie"], headers[b"x-many"]) == (b"cookie1=one; cookie2=two", b"one,two")
    assert scope["client"] == ("205.255.255.176", 0)
    assert echo.body == '{"name": "Zoë"}'.encode()


def test_the_name_of_a_stage_is_not_part_of_the_route(handler: HttpHandler, echo: Echo) -> None:
    handler(recorded("http-api-v2-stage"), Context())
    assert (echo.scope["path"], echo.scope["root_path"]) == ("/prod/echo", "/prod")
    handler(recorded("rest-api-v1"), Context())
    assert (echo.scope["path"], echo.scope["root_path"]) == ("/prod/echo", "/prod")


def test_a_body_may_be_binary(handler: HttpHandler, echo: Echo) -> None:
    handler(recorded("http-api-v2-stage"), Context())
    assert echo.body == bytes([0, 255, 254, 128])


def test_a_request_of_a_function_url_needs_no_body(handler: HttpHandler, echo: Echo) -> None:
    handler(recorded("function-url"), Context())
    assert (echo.scope["method"], echo.scope["path"], echo.body) == ("GET", "/echo", b"")


def test_a_request_of_a_rest_api_keeps_every_value(handler: HttpHandler, echo: Echo) -> None:
    response = handler(recorded("rest-api-v1"), Context())
    assert [value for name, value in echo.scope["headers"] if name == b"x-many"] == [b"one", b"two"]
    assert echo.scope["query_string"] == b"tag=x&tag=y+z"
    assert response["multiValueHeaders"] == {"content-type": ["application/json"]}
    assert "headers" not in response


def test_a_request_of_a_rest_api_may_have_next_to_nothing(handler: HttpHandler, echo: Echo) -> None:
    handler(recorded("rest-api-v1-bare"), Context())
    assert (echo.scope["headers"], echo.scope["query_string"], echo.body) == ([], b"", b"")
    assert (echo.scope["path"], echo.scope["root_path"]) == ("/echo", "")


@pytest.mark.parametrize(("event", "where"), [("http-api-v2", "cookies"), ("rest-api-v1", "multiValueHeaders")])
def test_each_cookie_is_set(handler: HttpHandler, echo: Echo, event: str, where: str) -> None:
    echo.headers += [(b"Set-Cookie", b"a=1; Path=/"), (b"set-cookie", b"b=2")]
    response = handler(recorded(event), Context())
    found = response[where]
    assert (found if where == "cookies" else found["set-cookie"]) == ["a=1; Path=/", "b=2"]


@pytest.mark.parametrize(
    ("headers", "is_text"),
    [
        ([(b"content-type", b"application/problem+json")], True),
        ([(b"content-type", b"image/svg+xml")], True),
        ([(b"content-type", b"text/html; charset=utf-8")], True),
        ([(b"content-type", b"text/plain; charset=latin-1")], False),
        ([(b"content-type", b"image/png")], False),
        ([(b"content-type", b"application/json"), (b"content-encoding", b"gzip")], False),
        ([], True),
    ],
)
def test_what_is_not_text_is_sent_as_base64(
    handler: HttpHandler, echo: Echo, headers: list[tuple[bytes, bytes]], *, is_text: bool
) -> None:
    echo.headers, echo.parts = headers, [b"a", b"b"]
    response = handler(recorded("function-url"), Context())
    assert response["isBase64Encoded"] is not is_text
    body = response["body"]
    assert (body.encode() if is_text else base64.b64decode(body)) == b"ab"


def test_a_body_that_is_not_base64_is_a_problem_of_the_caller(handler: HttpHandler, echo: Echo) -> None:
    response = handler(recorded("http-api-v2-stage") | {"body": "not base64!"}, Context())
    assert (response["statusCode"], json.loads(response["body"])["code"]) == (400, "bad_body")
    assert echo.scope == {}


@pytest.mark.parametrize(
    "event", [None, [], {}, {"version": "2.0"}, {"version": "2.0", "requestContext": {"http": {"method": 1}}}, "s3"]
)
def test_what_is_not_a_request_is_refused(handler: HttpHandler, event: Any) -> None:
    with pytest.raises(EventRefused, match="not an HTTP request"):
        handler(recorded(event) if event == "s3" else event, Context())


def test_a_response_that_aws_would_not_take_is_a_problem(handler: HttpHandler, echo: Echo) -> None:
    echo.parts = [b"x" * (MAX_RESPONSE_BYTES + 1)]
    response = handler(recorded("function-url"), Context())
    assert (response["statusCode"], json.loads(response["body"])["code"]) == (500, "response_too_large")


def test_an_app_that_answers_too_late_is_cancelled_before_aws_does_it() -> None:
    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.Event().wait()

    handler = HttpHandler(slow)
    response = handler(recorded("function-url"), Context(1))
    assert (response["statusCode"], json.loads(response["body"])["code"]) == (504, "timeout")
    handler.close()


def test_a_response_without_an_end_is_told_to_end() -> None:
    stopping = threading.Event()

    async def live(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        while not stopping.is_set():
            await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b"data: end\n\n"})

    handler = HttpHandler(live, stopping=stopping)
    response = handler(recorded("function-url"), Context(2_000))  # less than the time reserved for the end
    assert (response["statusCode"], response["body"].endswith("data: end\n\n")) == (200, True)
    handler.close()


def test_the_next_request_is_not_told_to_end() -> None:
    stopping = threading.Event()
    seen: list[bool] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(stopping.is_set())
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    handler = HttpHandler(app, stopping=stopping)
    stopping.set()
    handler(recorded("function-url"), Context())
    assert seen == [False]
    handler.close()


def test_an_app_that_fails_before_it_answers_fails_the_function() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise ZeroDivisionError

    handler = HttpHandler(broken)
    with pytest.raises(ZeroDivisionError):
        handler(recorded("function-url"), Context())
    handler.close()


def test_an_app_that_answered_and_then_fails_has_answered(caplog: pytest.LogCaptureFixture) -> None:
    async def answers(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 500, "headers": []})
        await send({"type": "http.response.body", "body": b"sorry"})
        raise ZeroDivisionError

    handler = HttpHandler(answers)
    response = handler(recorded("function-url"), Context())
    assert (response["statusCode"], response["body"]) == (500, "sorry")
    assert "failed after it had responded" in caplog.text
    handler.close()


def test_all_requests_run_in_one_event_loop() -> None:
    loops: set[int] = set()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        loops.add(id(asyncio.get_running_loop()))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    handler = HttpHandler(app)
    for _ in range(3):
        handler(recorded("function-url"), Context())
    assert len(loops) == 1
    handler.close()
