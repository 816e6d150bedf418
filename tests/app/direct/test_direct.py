"""Routes called directly respond as FastAPI does: same statuses, same headers, same bodies, same errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Annotated, Any

import httpx
import pytest
from fastapi import (
    APIRouter,
    BackgroundTasks,
    Body,
    Cookie,
    Depends,
    FastAPI,
    Header,
    Path,
    Query,
    Request,
    Response,
)
from fastapi.responses import PlainTextResponse
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field
from starlette.types import Receive, Scope, Send

from partita.app.direct import DirectRoutes
from partita.http import HttpProblem, handle_errors

ROUTER = APIRouter()
CALLS: list[str] = []
"""The names of the dependencies that were called, in order."""


class Body1(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: str = Field(min_length=1, max_length=5)
    size: int = 3


class Wanted(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit: int = Field(default=20, ge=1, le=100)
    word: str | None = None


class Loose(BaseModel):
    model_config = ConfigDict(extra="allow")

    names: list[str] = []
    limit: int = 1


class Shown(BaseModel):
    name: str
    rest: Any = None


async def who(request: Request, x_user: Annotated[str | None, Header()] = None) -> str:
    CALLS.append("who")
    if x_user == "nobody":
        raise HttpProblem(401, "unauthenticated", "Who?")
    return f"{x_user} at {request.url.path}"


def slow(number: Annotated[int, Header()] = 1) -> int:
    CALLS.append("slow")
    return number


async def both(first: Annotated[str, Depends(who)], second: Annotated[int, Depends(slow)], response: Response) -> str:
    CALLS.append("both")
    response.headers["X-Both"] = "yes"
    return f"{first} {second}"


async def stack() -> Any:
    yield 1


Who = Annotated[str, Depends(who)]
Both = Annotated[str, Depends(both)]


@ROUTER.get("/things/special")
async def special() -> Shown:
    return Shown(name="special")


@ROUTER.get("/things/{name}")
async def thing(name: Annotated[str, Path(max_length=8)], caller: Who, response: Response) -> Shown:
    response.headers["ETag"] = '"1"'
    return Shown(name=name, rest=caller)


@ROUTER.get("/things/never")
async def never() -> Shown:
    return Shown(name="never: the template before takes it")


@ROUTER.put("/things/{name}")
async def write(name: str, body: Body1, caller: Both, again: Who, response: Response) -> Shown:
    response.status_code = 201 if body.size > 3 else 200
    return Shown(name=name, rest=[body.title, body.size, caller, again])


@ROUTER.post("/things", status_code=201, response_model=Shown)
async def create(body: Body1, caller: Who) -> Response:
    return Response(json.dumps({"name": body.title}), 201, {"Location": "/x"}, "application/json")


@ROUTER.get("/things")
async def listing(
    wanted: Annotated[Wanted, Query()], caller: Who, zone: Annotated[str | None, Header()] = None
) -> Shown:
    return Shown(name="list", rest=[wanted, zone, caller])


@ROUTER.get("/loose")
async def loose(wanted: Annotated[Loose, Query()]) -> dict[str, Any]:
    return wanted.model_dump()


class Several(BaseModel):
    q: list[int] = []
    flag: bool = False


@ROUTER.get("/numbers/{place}")
async def numbers(
    place: int,
    several: Annotated[Several, Query()],
    c: Annotated[str, Cookie()] = "",
    e: Annotated[list[str] | None, Header()] = None,
) -> Shown:
    return Shown(name=str(place), rest=[several, c, e])


@ROUTER.get("/required")
async def required(word: str, number: Annotated[int, Header(alias="X-Number")]) -> Shown:
    return Shown(name=word, rest=number)


@ROUTER.post("/embedded")
async def embedded(one: Annotated[int, Body()], two: Annotated[str, Body()] = "x") -> Shown:
    return Shown(name=two, rest=one)


@ROUTER.post("/bytes")
async def raw(request: Request) -> Shown:
    return Shown(name=str(len(await request.body())))


@ROUTER.get("/wrong")
async def wrong() -> Shown:
    return {"rest": 1}  # type: ignore[return-value]


@ROUTER.get("/broken")
async def broken() -> Shown:
    raise ZeroDivisionError


@ROUTER.get("/problem")
async def problem() -> Shown:
    raise HttpProblem(409, "conflict", "No.", headers={"Retry-After": "3"})


@ROUTER.delete("/things/{name}", status_code=204, response_class=Response)
async def gone(name: str) -> Response:
    return Response(status_code=204)


# Routes that are left to FastAPI, each for a different reason.


@ROUTER.get("/text", response_class=PlainTextResponse)
async def text() -> str:
    return "text"


@ROUTER.get("/stack")
async def stacked(one: Annotated[int, Depends(stack)]) -> Shown:
    return Shown(name=str(one))


@ROUTER.get("/later")
async def later(tasks: BackgroundTasks) -> Shown:
    tasks.add_task(lambda: None)
    return Shown(name="later")


@ROUTER.get("/sync")
def sync() -> Shown:
    return Shown(name="sync")


@ROUTER.get("/few", response_model_exclude_none=True)
async def few() -> Shown:
    return Shown(name="few")


PREFIX = "/toy/api"
LEFT = {"/text", "/stack", "/later", "/sync", "/few"}


def app_of(router: APIRouter) -> FastAPI:
    app = FastAPI(redirect_slashes=False)
    app.include_router(router)
    handle_errors(app)
    return app


class Served:
    """One app, called through FastAPI and directly."""

    def __init__(self) -> None:
        api = app_of(ROUTER)
        self.outer = FastAPI(redirect_slashes=False)
        self.outer.mount(PREFIX, api)
        self.routes = DirectRoutes()
        self.routes.add(PREFIX, api)
        self.was_direct = False

    async def direct(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["request_id"] = "r"
        found = self.routes.find(scope)
        self.was_direct = found is not None
        await (found or self.outer)(scope, receive, send)

    async def plain(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["request_id"] = "r"
        await self.outer(scope, receive, send)

    async def both(self, method: str, path: str, **more: Any) -> list[Any]:
        """Send a request both ways; return each response with the dependencies that were called."""
        seen = []
        for app in (self.plain, self.direct):
            CALLS.clear()
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://test{PREFIX}") as client:
                response = await client.request(method, path, **more)
            seen.append((response.status_code, sorted(response.headers.items()), response.content, list(CALLS)))
        return seen


SERVED = Served()

REQUESTS: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/things/special", {}),
    ("GET", "/things/abc", {}),
    ("GET", "/things/abc", {"headers": {"X-User": "ann"}}),
    ("GET", "/things/abc", {"headers": {"X-User": "nobody"}}),
    ("GET", "/things/" + "x" * 9, {"headers": {"X-User": "nobody"}}),
    ("GET", "/things/" + "x" * 9, {}),
    ("GET", "/things/never", {}),
    ("GET", "/things/a%2Fb", {}),
    ("GET", "/things/%C3%A9%0A", {}),
    ("GET", "/things/", {}),
    ("GET", "/things/a/b", {}),
    ("POST", "/things/abc", {}),
    ("HEAD", "/things/abc", {}),
    ("OPTIONS", "/things/abc", {}),
    ("PUT", "/things/a", {"json": {"title": "t"}}),
    ("PUT", "/things/a", {"json": {"title": "t", "size": 9}}),
    ("PUT", "/things/a", {"json": {"title": "", "size": "x", "more": 1}}),
    ("PUT", "/things/a", {"json": {}, "headers": {"number": "x"}}),
    ("PUT", "/things/a", {"json": {"title": "t"}, "headers": {"number": "x"}}),
    ("PUT", "/things/a", {"json": {"title": "t"}, "headers": {"X-User": "nobody", "number": "x"}}),
    ("PUT", "/things/a", {"json": {"title": "t"}, "headers": {"number": "7", "X-User": "ann"}}),
    ("PUT", "/things/a", {"content": b"{", "headers": {"Content-Type": "application/json"}}),
    ("PUT", "/things/a", {"content": b"\xff", "headers": {"Content-Type": "application/json"}}),
    ("PUT", "/things/a", {"content": b"[" * 100_000, "headers": {"Content-Type": "application/json"}}),
    ("PUT", "/things/a", {"content": b'{"title": "t"}', "headers": {"Content-Type": "text/plain"}}),
    ("PUT", "/things/a", {"content": b'{"title": "t"}', "headers": {"Content-Type": "application/merge-patch+json"}}),
    ("PUT", "/things/a", {"content": b'{"title": "t"}'}),
    ("PUT", "/things/a", {}),
    ("POST", "/things", {"json": {"title": "t"}}),
    ("POST", "/things", {"json": [1]}),
    ("GET", "/things", {}),
    ("GET", "/things", {"params": {"limit": "7", "word": "a b"}, "headers": {"zone": "Europe/Berlin"}}),
    ("GET", "/things?limit=1&limit=2", {}),
    ("GET", "/things?limit=0&more=1&more=2&other", {}),
    ("GET", "/things?limit=", {}),
    ("GET", "/loose?names=a&names=b&x=1&x=2&y=1", {}),
    ("GET", "/numbers/7?q=1&q=2&flag=yes", {"headers": {"Cookie": "c=d"}}),
    ("GET", "/numbers/7", {"headers": [("e", "1"), ("e", "2")]}),
    ("GET", "/numbers/x?q=1&q=y&flag=maybe", {}),
    ("GET", "/required", {}),
    ("GET", "/required?word=w", {"headers": {"X-Number": "5"}}),
    ("POST", "/embedded", {"json": {"one": 1}}),
    ("POST", "/embedded", {"json": {"two": 2}}),
    ("POST", "/embedded", {"json": 3}),
    ("POST", "/bytes", {"content": b"abc"}),
    ("GET", "/wrong", {}),
    ("GET", "/broken", {}),
    ("GET", "/problem", {}),
    ("DELETE", "/things/a", {}),
    ("GET", "/nowhere", {}),
    ("GET", "", {}),
    ("GET", "/text", {}),
    ("GET", "/stack", {}),
    ("GET", "/later", {}),
    ("GET", "/sync", {}),
    ("GET", "/few", {}),
    ("GET", "/openapi.json", {}),
]


@pytest.mark.parametrize(("method", "path", "more"), REQUESTS, ids=[f"{each[0]} {each[1][:30]}" for each in REQUESTS])
async def test_the_response_is_fastapis(method: str, path: str, more: dict[str, Any]) -> None:
    plain, direct = await SERVED.both(method, path, **more)
    assert direct == plain


async def test_what_it_understands_is_called_directly() -> None:
    for method, path, more in REQUESTS:
        await SERVED.both(method, path, **more)
        known = path.partition("?")[0] not in LEFT | {"/nowhere", "", "/openapi.json", "/things/", "/things/a/b"}
        is_direct = known and method not in ("HEAD", "OPTIONS") and (method, path) != ("POST", "/things/abc")
        assert SERVED.was_direct == (is_direct and "%" not in path), (method, path)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"title": "a", "title": "b"}', "title"),
        (b'{"title": "a", "size": 1, "titl\\u0065": "b"}', "title"),
        (b'{"title": "a", "more": {"x": 1, "x": 1}}', "x"),
        (b'{"title": "a:", "more": [{"x": 1, "y": 2, "y": 1}]}', "y"),
        ('{"title": "a", "title": "b"}'.encode("utf-16"), "title"),
        (b'{"": 1, "": 2}', ""),
    ],
)
async def test_an_object_with_two_values_for_a_name_is_refused(body: bytes, field: str) -> None:
    _, direct = await SERVED.both("PUT", "/things/a", content=body, headers={"Content-Type": "application/json"})
    problem = json.loads(direct[2])
    assert (direct[0], problem["code"]) == (422, "invalid_request")
    said = "this name is given more than once"
    assert problem["errors"] == [{"location": "body", "field": field, "message": said}]


async def test_a_colon_in_a_text_is_no_name() -> None:
    for body in ({"title": "a:b:c"}, {"title": "::", "size": 9}):
        plain, direct = await SERVED.both("PUT", "/things/a", json=body)
        assert (direct, direct[0] < 300) == (plain, True)


async def test_nesting_of_any_depth_is_no_fault() -> None:
    for depth in range(850, 1_000):
        content = b'{"title":' * depth + b"1" + b"}" * depth
        _, direct = await SERVED.both("PUT", "/things/a", content=content, headers={"Content-Type": "application/json"})
        assert direct[0] == 422


async def test_many_names_are_looked_through_once() -> None:
    names = ",".join(f'"{number}": 1' for number in (*range(60_000), 59_999))
    content = f"{{{names}}}".encode()
    _, direct = await SERVED.both("PUT", "/things/a", content=content, headers={"Content-Type": "application/json"})
    assert json.loads(direct[2])["errors"][0]["field"] == "59999"


def texts() -> Iterator[Any]:
    yield st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=9)
    yield st.sampled_from(["1", "0", "101", "true", "", "x"])


VALUES = st.one_of(*texts())
BODIES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 200) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["title", "size", "one", "two", "more"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(
    path=st.sampled_from(["/things", "/loose", "/numbers/1", "/required", "/things/abc"]),
    query=st.lists(st.tuples(st.sampled_from(["limit", "word", "names", "q", "flag", "more"]), VALUES), max_size=5),
    user=st.sampled_from(["ann", "nobody", ""]),
)
def test_any_query_is_read_as_fastapi_reads_it(path: str, query: list[tuple[str, str]], user: str) -> None:
    plain, direct = asyncio.run(SERVED.both("GET", path, params=query, headers={"X-User": user}))
    assert direct == plain


@given(route=st.sampled_from([("PUT", "/things/a"), ("POST", "/things"), ("POST", "/embedded")]), body=BODIES)
def test_any_body_is_read_as_fastapi_reads_it(route: tuple[str, str], body: Any) -> None:
    plain, direct = asyncio.run(SERVED.both(*route, json=body))
    assert direct == plain
