"""Lists that return only the requested fields of items, and query parameters that a route does not have."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Self

import httpx
import pytest
from fastapi import APIRouter, Depends
from fastapi import Query as QueryParameter
from pydantic import ConfigDict, Field

from partita import AsyncSession, EmbeddedStore, Entity, Key, Registry, Session, Table, put, query
from partita.app import build_app
from partita.http import (
    AppState,
    CamelModel,
    Db,
    FieldPaging,
    Identity,
    Instant,
    Partial,
    PartialListing,
    known_parameters,
)
from partita.service import Service
from partita.store import QueryTable
from partita.testing import FaultyStore

pytestmark = pytest.mark.req("X14")

TABLE = Table("fields-books", registry=Registry())
DAY = datetime(2026, 1, 2, tzinfo=UTC)


class Book(Entity, table=TABLE):
    """A book."""

    primary: ClassVar = Key("SHELF#{shelf}", "BOOK#{number:03}")

    shelf: str
    number: Annotated[int, Field(alias="bookNumber")]
    title: str = ""
    bought: Annotated[datetime | None, Field(alias="boughtAt")] = None


class BookView(CamelModel):
    """A book as it is shown: its label is made of two fields."""

    book_number: int = Field(examples=[1])
    title: str
    bought_at: Instant | None
    label: str

    @classmethod
    def of(cls, book: Book) -> Self:
        """The view of a book."""
        title = book.title.upper()
        return cls(book_number=book.number, title=title, bought_at=book.bought, label=f"{book.shelf} {book.number}")


class BookQuery(FieldPaging[BookView]):
    """The parameters of a list of books."""

    model_config = ConfigDict(extra="forbid")

    shelf: str = "a"


class BookListing(PartialListing[BookView]):
    """A page of books, and their shelf."""

    shelf: str


@query(Book, Book.primary)
def books_on(shelf: str) -> None:
    """The books on a shelf."""


ROUTER = APIRouter(dependencies=[Depends(known_parameters)])


@ROUTER.get("/books")
async def list_books(db: Db, wanted: Annotated[BookQuery, QueryParameter()]) -> BookListing:
    """Books as they are shown."""
    books = wanted.fields.narrow(books_on(wanted.shelf), computed=["title"])
    page = await db.run(books.page(wanted.limit, after=wanted.cursor))
    shown = wanted.fields.show(page.items, BookView.of)
    return BookListing(items=shown, next_cursor=page.next_cursor, shelf=wanted.shelf)


@ROUTER.get("/stored")
async def list_stored(db: Db, wanted: Annotated[FieldPaging[Book], QueryParameter()]) -> PartialListing[Book]:
    """Books as they are stored."""
    page = await db.run(wanted.fields.narrow(books_on("a")).page(wanted.limit, after=wanted.cursor))
    return PartialListing.of(page, wanted.fields)


@ROUTER.get("/plain")
async def plain() -> list[Partial[BookView]]:
    """Return nothing; the route has no parameters."""
    return []


SERVICE = Service("fields", "Fields", "Made for tests.", (TABLE,), lambda: ROUTER)


@pytest.fixture
def store() -> Iterator[FaultyStore]:
    with EmbeddedStore(":memory:") as embedded:
        session = Session(embedded)
        session.create_tables(SERVICE.tables)
        for number in (1, 2):
            session.run(put(Book(shelf="a", number=number, title=f"b{number}", bought=DAY if number == 1 else None)))
        yield FaultyStore(embedded)


@pytest.fixture
async def client(store: FaultyStore) -> AsyncIterator[httpx.AsyncClient]:
    app = build_app([SERVICE], AppState(AsyncSession(store, secret=b"s" * 32), Identity(b"k" * 32)))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test/fields/api") as client:
        yield client


async def items(client: httpx.AsyncClient, path: str) -> Any:
    response = await client.get(path)
    assert response.status_code == 200, response.text
    return response.json()["items"]


def read(store: FaultyStore) -> set[str] | None:
    """Return the attributes that the last query asked for; None for all."""
    (*_, sent) = [request for request in store.requests if isinstance(request, QueryTable)]
    return None if sent.projection is None else {str(path.parts[0]) for path in sent.projection}


WHOLE = [
    {"bookNumber": 1, "title": "B1", "boughtAt": "2026-01-02T00:00:00.000000Z", "label": "a 1"},
    {"bookNumber": 2, "title": "B2", "boughtAt": None, "label": "a 2"},
]


async def test_without_fields_items_are_whole(client: httpx.AsyncClient, store: FaultyStore) -> None:
    assert await items(client, "/books") == WHOLE
    assert read(store) is None


@pytest.mark.parametrize("names", ["bookNumber", "boughtAt", "boughtAt,bookNumber"])
async def test_what_is_stored_as_it_is_shown_is_read_alone(
    client: httpx.AsyncClient, store: FaultyStore, names: str
) -> None:
    expected = [{name: book[name] for name in names.split(",")} for book in WHOLE]
    assert await items(client, f"/books?fields={names}") == expected
    assert read(store) == {*names.split(","), "PK", "SK"}


@pytest.mark.parametrize("names", ["label", "title", "title,bookNumber"])
async def test_what_is_computed_is_read_whole_and_shown_alone(
    client: httpx.AsyncClient, store: FaultyStore, names: str
) -> None:
    expected = [{name: book[name] for name in names.split(",")} for book in WHOLE]
    assert await items(client, f"/books?fields={names}") == expected
    assert read(store) is None


async def test_an_entity_is_shown_in_part(client: httpx.AsyncClient, store: FaultyStore) -> None:
    assert await items(client, "/stored?fields=title,bookNumber&limit=1") == [{"bookNumber": 1, "title": "b1"}]
    assert read(store) == {"title", "bookNumber", "PK", "SK"}
    assert (await items(client, "/stored?limit=1"))[0]["shelf"] == "a"


async def test_fields_may_change_from_page_to_page(client: httpx.AsyncClient) -> None:
    first = (await client.get("/books?limit=1&fields=title")).json()
    assert await items(client, f"/books?limit=1&cursor={first['next_cursor']}") == WHOLE[1:]


@pytest.mark.parametrize("names", ["colour", "", "title,", "title, label", "book_number"])
async def test_unknown_fields_are_refused(client: httpx.AsyncClient, names: str) -> None:
    response = await client.get("/books", params={"fields": names})
    (error,) = response.json()["errors"]
    assert (response.status_code, error["location"], error["field"]) == (422, "query", "fields")
    assert "bookNumber, title, boughtAt, label" in error["message"]


async def test_the_description_names_the_fields_and_requires_none(client: httpx.AsyncClient) -> None:
    described = (await client.get("/openapi.json")).json()
    parameters = {each["name"]: each for each in described["paths"]["/books"]["get"]["parameters"]}
    assert parameters["fields"]["schema"]["pattern"] == (
        "^(bookNumber|title|boughtAt|label)(,(bookNumber|title|boughtAt|label))*$"
    )
    listing = described["components"]["schemas"]["BookListing"]["properties"]["items"]["items"]
    partial = described["components"]["schemas"][listing["$ref"].rpartition("/")[2]]
    assert (list(partial["properties"]), "required" in partial) == (list(WHOLE[0]), False)


@pytest.mark.parametrize("path", ["/stored?fields=title&colour=red", "/books?colour=red", "/plain?colour=red"])
async def test_a_parameter_that_the_route_does_not_have_is_refused(client: httpx.AsyncClient, path: str) -> None:
    response = await client.get(path)
    assert response.status_code == 422
    assert {(error["location"], error["field"]) for error in response.json()["errors"]} == {("query", "colour")}


async def test_a_parameter_that_may_come_once_does_not_come_twice(client: httpx.AsyncClient) -> None:
    """Otherwise all values except the last would be ignored."""
    response = await client.get("/books?shelf=a&shelf=b")
    assert response.status_code == 422
    assert "it may be given only once" in response.text
    assert (await client.get("/books?shelf=b")).status_code == 200
