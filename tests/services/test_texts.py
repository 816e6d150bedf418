"""Every text that people write and read is visible, in every service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from partita import AsyncSession, insert
from partita.app import build_app
from partita.app._prepared import describe_apis
from partita.http import AppState, Caller, Identity, Role
from partita.service import discover
from partita.testing import FakeClock
from partita_services.accounts.bootstrap import SERVICE as ACCOUNTS
from partita_services.countries.bootstrap import SERVICE as COUNTRIES
from partita_services.todo.bootstrap import SERVICE as TODO
from partita_services.todo.model import Task

pytestmark = pytest.mark.req("X22")

NOT_FOR_PEOPLE = {
    "commitcollect PUT /models/{model_id} picture",
    "commitcollect-site POST /webhooks/strava/{address} aspect_type",
    "commitcollect-site POST /webhooks/strava/{address} object_type",
    "commitcollect-site POST /webhooks/strava/{address} updates",
    "todo POST /tasks/bulk/status task_ids",
}
"""Texts that programs write: a drawing, what Strava sends, and identifiers."""


def free_texts(description: dict[str, Any], schema: dict[str, Any], name: str = "") -> Iterator[str]:
    """Yield the names of the fields that may be any text."""
    if "$ref" in schema:
        schema = description["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if schema.get("type") == "string" and {"const", "enum", "format", "pattern"}.isdisjoint(schema):
        yield name
    inner = [*schema.get("anyOf", ()), schema.get("items", {}), schema.get("additionalProperties", {})]
    for each in (each for each in inner if each and isinstance(each, dict)):
        yield from free_texts(description, each, name)
    for field, each in schema.get("properties", {}).items():
        yield from free_texts(description, each, field)


def test_no_field_of_a_request_may_be_any_text() -> None:
    found = {
        f"{name} {method.upper()} {path} {field}"
        for service in discover()
        for name, description in describe_apis(service).items()
        for path, operations in description["paths"].items()
        for method, operation in operations.items()
        if (body := operation.get("requestBody", {}).get("content", {}).get("application/json")) is not None
        for field in free_texts(description, body["schema"])
    }
    assert found == NOT_FOR_PEOPLE


ACCOUNT = {"pk": "a1", "name": "Ada", "balance": 500}
COUNTRY = {"name": "Bolivia", "alpha3Code": "BOL", "numericCode": "068"}
PROFILE = {"email": "ann@example.com", "name": "Ann"}


@pytest.fixture
async def client(store: Any, fake_clock: FakeClock, identity: Identity) -> Any:
    """A client of all three services, authorized as an operator."""
    session = AsyncSession(store, clock=fake_clock)
    services = (ACCOUNTS, COUNTRIES, TODO)
    for service in services:
        await session.create_tables(service.tables)
    app = build_app(services, AppState(session, identity))
    headers = {"Authorization": f"Bearer {identity.token(Caller('ann', Role.OPERATOR))}"}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://test", headers=headers
    ) as calling:
        await calling.post("/accounts/api/accounts", json=ACCOUNT)
        yield calling


@pytest.mark.parametrize("hidden", ["\u200b", "\ufeff", "a\x00b", "a\x07", "a\u202eb", "a\nb", "a\tb"])
@pytest.mark.parametrize(
    ("route", "body", "field"),
    [
        ("POST /todo/api/tasks", {}, "title"),
        ("POST /todo/api/tasks", {"title": "a"}, "category"),
        ("PUT /todo/api/me", PROFILE, "name"),
        ("POST /accounts/api/accounts", ACCOUNT, "name"),
        ("POST /accounts/api/accounts", ACCOUNT, "owner"),
        ("POST /accounts/api/accounts/a1/deposit", {"amount": 1}, "memo"),
        ("PUT /countries/api/countries/BO", COUNTRY, "name"),
        ("POST /countries/api/imports", {"countries": []}, "reason"),
    ],
)
async def test_a_hidden_character_is_refused_with_its_field(
    route: str, body: dict[str, Any], field: str, hidden: str, client: httpx.AsyncClient
) -> None:
    method, path = route.split()
    refused = await client.request(method, path, json=body | {field: hidden})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
    assert [each["field"] for each in refused.json()["errors"]] == [field]


@pytest.mark.parametrize("hidden", ["a\u200b@b.example", "a@b.\u202eexample", "a\x00@b.example"])
async def test_an_email_has_no_hidden_characters(hidden: str, client: httpx.AsyncClient) -> None:
    refused = await client.put("/todo/api/me", json=PROFILE | {"email": hidden})
    assert [each["field"] for each in refused.json()["errors"]] == ["email"]


async def test_a_name_in_a_list_has_no_hidden_characters(client: httpx.AsyncClient) -> None:
    lines = "alpha2Code,alpha3Code,numericCode,name\nBO,BOL,068,Boli\u200bvia\n"
    refused = await client.post("/countries/api/imports.csv", content=lines.encode())
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_list")
    assert refused.json()["detail"] == (
        "Line 2 is not a country: name: has an invisible character: U+200B, at position 5."
    )


async def test_nobody_gets_a_grant_without_a_visible_name(client: httpx.AsyncClient) -> None:
    refused = await client.put("/accounts/api/accounts/a1/grants/%E2%80%8B", json={"access": "view"})
    assert [each["field"] for each in refused.json()["errors"]] == ["user_id"]


async def test_a_description_has_lines(client: httpx.AsyncClient) -> None:
    task = await client.post("/todo/api/tasks", json={"title": "a", "description": "a\r\n\tb"})
    assert (task.status_code, task.json()["description"]) == (201, "a\n\tb")
    refused = await client.patch(f"/todo/api/tasks/{task.json()['task_id']}", json={"description": "a\x00"})
    assert [each["field"] for each in refused.json()["errors"]] == ["description"]


async def test_an_earlier_text_stays_readable(store: Any, fake_clock: FakeClock, client: httpx.AsyncClient) -> None:
    session = AsyncSession(store, clock=fake_clock)
    task = await session.run(insert(Task(user_id="ann", title="a\u200b\x07", created_at=1, updated_at=1)))
    url = f"/todo/api/tasks/{task.task_id}"
    assert (await client.get(url)).json()["title"] == "a\u200b\x07"
    changed = await client.patch(url, json={"status": "completed"})
    assert (changed.status_code, changed.json()["title"]) == (200, "a\u200b\x07")
