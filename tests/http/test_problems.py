"""Every error is a problem with a stable code, and no problem reveals internals."""

from __future__ import annotations

import gzip
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest
from tests.http.toy import RAISED

from partita import errors
from partita.http import HttpProblem

pytestmark = pytest.mark.req("X04")

EXPECTED = [
    (errors.InvalidCursor("no cursor"), 400, "invalid_cursor"),
    (errors.InvalidKey("empty"), 422, "invalid_key"),
    (errors.ItemMissing("nothing there"), 404, "item_missing"),
    (errors.ConditionFailed("false"), 409, "condition_failed"),
    (errors.AlreadyExists("there already"), 409, "already_exists"),
    (errors.VersionConflict("second"), 409, "version_conflict"),
    (errors.TransactionCancelled([errors.Reason("ConditionalCheckFailed")]), 409, "transaction_cancelled"),
    (errors.TransactionConflict("held"), 409, "transaction_conflict"),
    (errors.IdempotencyInProgress("running"), 409, "idempotency_in_progress"),
    (errors.IdempotencyMismatch("other"), 422, "idempotency_mismatch"),
    (errors.IllegalTransition("not from there"), 409, "illegal_transition"),
    (errors.Throttled("too fast"), 503, "throttled"),
    (errors.StoreUnavailable("no response"), 503, "store_unavailable"),
    (errors.StoreMoved("gone"), 503, "store_moved"),
    (errors.StoreReadOnly("mounted read-only"), 503, "store_read_only"),
    (errors.StoreDamaged("bad page in secret.db"), 500, "store_damaged"),
    (errors.BudgetExceeded("too much"), 500, "budget_exceeded"),
    (errors.ModelError("wrong"), 500, "model"),
    (ZeroDivisionError("secret"), 500, "internal"),
    (HttpProblem(412, "precondition_failed", "changed"), 412, "precondition_failed"),
]


async def response_to(error: Exception, client: httpx.AsyncClient) -> httpx.Response:
    name = uuid4().hex
    RAISED[name] = error
    return await client.get(f"/toy/api/raise/{name}")


@pytest.mark.parametrize(("error", "status", "code"), EXPECTED, ids=lambda value: getattr(value, "code", str(value)))
async def test_an_error_has_its_status_and_code(
    error: Exception, status: int, code: str, client: httpx.AsyncClient
) -> None:
    response = await response_to(error, client)
    problem = response.json()
    assert response.headers["Content-Type"] == "application/problem+json"
    assert (status, status, code) == (response.status_code, problem["status"], problem["code"])


@pytest.mark.parametrize("error", [errors.StoreDamaged("bad page"), errors.StoreMoved("gone")])
async def test_a_path_in_the_log_does_not_control_a_terminal(
    error: Exception, client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    name = f"{uuid4().hex}\x1b[31m\r\x9bforged"
    RAISED[name] = error
    await client.get(f"/toy/api/raise/{quote(name)}")
    (line,) = [record.getMessage() for record in caplog.records if "failed" in record.getMessage()]
    assert line.startswith(f"GET /toy/api/raise/{quote(name)} failed: ")


async def test_a_problem_carries_message_and_hint(client: httpx.AsyncClient) -> None:
    problem = (await response_to(errors.VersionConflict("Another was first."), client)).json()
    assert problem["detail"] == "Another was first."
    assert problem["hint"] == errors.VersionConflict.hint


@pytest.mark.parametrize("error", [errors.StoreDamaged("bad page in secret.db"), ZeroDivisionError("secret")])
async def test_a_fault_tells_nothing_of_the_inside(error: Exception, client: httpx.AsyncClient) -> None:
    response = await response_to(error, client)
    assert "secret" not in response.text
    assert "Traceback" not in response.text
    assert response.headers["X-Request-Id"]


async def test_throttling_says_when_to_try_again(client: httpx.AsyncClient) -> None:
    response = await response_to(errors.Throttled("too fast"), client)
    assert response.headers["Retry-After"] == "1"


async def test_bad_input_names_every_field(client: httpx.AsyncClient) -> None:
    response = await client.post("/toy/api/measured", json={"size": 0, "inner": {"a": "x"}})
    assert response.status_code == 422
    problem = response.json()
    assert problem["code"] == "invalid_request"
    places = {(error["location"], error["field"]) for error in problem["errors"]}
    assert places == {("query", "unit"), ("body", "size"), ("body", "inner.a")}


async def test_of_many_wrong_fields_the_first_are_named(client: httpx.AsyncClient) -> None:
    wrong = {f"f{place}": "x" for place in range(75)}
    problem = (await client.post("/toy/api/measured?unit=m", json={"size": 1, "inner": wrong})).json()
    assert [error["field"] for error in problem["errors"]] == [f"inner.f{place}" for place in range(20)]
    assert problem["detail"].endswith("; and 55 more")


async def test_the_name_of_a_field_is_shown_in_part(client: httpx.AsyncClient) -> None:
    response = await client.post("/toy/api/measured?unit=m", json={"size": 1, "inner": {"n" * 700: "x"}})
    (error,) = response.json()["errors"]
    assert error["field"] == "inner." + "n" * 294 + "…"
    assert len(response.content) < 1_000


@pytest.mark.parametrize(("body", "field"), [([], ""), ("text", ""), ({"size": 1, "inner": []}, "inner")])
async def test_what_is_no_object_is_told_in_terms_of_json(body: object, field: str, client: httpx.AsyncClient) -> None:
    response = await client.post("/toy/api/measured?unit=m", json=body)
    expected = {"location": "body", "field": field, "message": "Input should be a JSON object"}
    assert (response.status_code, response.json()["errors"]) == (422, [expected])


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("words", "text", "Input should be a JSON array"),
        ("ids", {}, "Input should be a JSON array"),
        ("words", ["a", "b", "c"], "Array should have at most 2 items, not 3"),
        ("ids", [], "Array should have at least 1 item, not 0"),
        ("table", {"a": 1, "b": 2}, "Object should have at most 1 item, not more"),
        ("text", " ", "String should have at least 1 character that is not a space"),
    ],
)
async def test_the_parts_of_a_body_are_described_in_terms_of_json(
    field: str, value: object, message: str, client: httpx.AsyncClient
) -> None:
    response = await client.post("/toy/api/measured?unit=m", json={"size": 1, field: value})
    expected = {"location": "body", "field": field, "message": message}
    assert (response.status_code, response.json()["errors"]) == (422, [expected])


async def test_what_is_no_json_is_bad_input(client: httpx.AsyncClient) -> None:
    headers = {"Content-Type": "application/json"}
    response = await client.post("/toy/api/measured?unit=m", content=b"{", headers=headers)
    message = "JSON decode error: Expecting property name enclosed in double quotes, at character 1"
    expected = {"location": "body", "field": "", "message": message}
    assert (response.status_code, response.json()["errors"]) == (422, [expected])
    assert "hint" not in response.json()


async def test_a_compressed_body_is_told_that_it_is_not_understood(client: httpx.AsyncClient) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    response = await client.post("/toy/api/measured?unit=m", content=gzip.compress(b'{"size": 1}'), headers=headers)
    said = "Send the body as it is: no Content-Encoding is understood."
    assert (response.status_code, response.json()["hint"]) == (422, said)


async def test_json_that_is_sent_as_a_form_is_told_its_content_type(client: httpx.AsyncClient) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}  # the default of curl --data
    response = await client.post("/toy/api/measured?unit=m", content=b'{"size": 1}', headers=headers)
    assert (response.status_code, response.json()["hint"]) == (422, "Send JSON, with `Content-Type: application/json`.")


@pytest.mark.parametrize("path", ["/nowhere", "/toy/api/nowhere", "/toy/nowhere", "/unknown/api/tasks"])
async def test_an_unknown_route_is_a_problem(path: str, client: httpx.AsyncClient) -> None:
    response = await client.get(path)
    problem = response.json()
    assert (response.status_code, problem["code"]) == (404, "not_found")
    assert problem["detail"] == "There is nothing at this path."


async def test_a_wrong_method_names_the_right_ones(client: httpx.AsyncClient) -> None:
    response = await client.delete("/toy/api/size")
    problem = response.json()
    assert (response.status_code, problem["code"]) == (405, "method_not_allowed")
    assert problem["detail"] == "This path does not accept DELETE."
    assert problem["hint"] == "It accepts GET, HEAD, POST."
    assert response.headers["Allow"] == "GET, HEAD, POST"
