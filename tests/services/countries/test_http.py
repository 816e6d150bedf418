"""The countries API over HTTP: lookups by any code and instant, writes that never overwrite, and caching."""

from __future__ import annotations

import csv
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import httpx
import pytest
from tests.services.routes import routes_of

from partita.http import Caller, Identity
from partita.store._requests import ScanTable, TransactWriteItems
from partita.testing import Crash, FakeClock, FaultyStore
from partita_services.countries.http import ROUTER
from partita_services.countries.model import Country
from partita_services.countries.responses import caching

ROUTES = routes_of(ROUTER)

BOLIVIA = {"name": "Bolivia", "alpha3Code": "BOL", "numericCode": "068"}
PLURINATIONAL = {**BOLIVIA, "name": "Bolivia, Plurinational State of"}
CHILE = {"name": "Chile", "alpha3Code": "CHL", "numericCode": "152"}


async def put(api: httpx.AsyncClient, alpha2: str, data: dict[str, str], **headers: str) -> httpx.Response:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return await api.put(f"/countries/{alpha2}", json=data, headers=names)


async def numbers(api: httpx.AsyncClient, code: str) -> list[int]:
    history = await api.get(f"/countries/{code}/history")
    return [version["versionNumber"] for version in history.json()["items"]]


# --- reading ---


@pytest.mark.req("R01")
@pytest.mark.parametrize("code", ["BO", "bo", "BOL", "bol", "068"])
async def test_the_latest_version_is_found_by_any_code_in_any_case(api: httpx.AsyncClient, code: str) -> None:
    await put(api, "BO", BOLIVIA)
    response = await api.get(f"/countries/{code}")
    assert response.status_code == 200
    assert response.json() == {
        "alpha2Code": "BO",
        "alpha3Code": "BOL",
        "numericCode": "068",
        "name": "Bolivia",
        "versionNumber": 1,
        "isDeleted": False,
        "createDate": "2026-01-01T12:00:00.000000Z",
        "expiryDate": None,
        "writtenBy": "ada",
        "reason": None,
        "writtenAt": "2026-01-01T12:00:00.000000Z",
    }


@pytest.mark.req("R01")
@pytest.mark.parametrize("code", ["BO", "BOL", "068"])
async def test_a_deleted_country_is_gone_and_shows_its_last_version(api: httpx.AsyncClient, code: str) -> None:
    await put(api, "BO", BOLIVIA)
    deleted = await api.delete("/countries/BO")
    response = await api.get(f"/countries/{code}")
    problem = response.json()
    assert (response.status_code, response.headers["Content-Type"]) == (410, "application/problem+json")
    assert (problem["code"], problem["country"]) == ("country_gone", deleted.json())
    assert "errors" not in problem


@pytest.mark.req("R01")
@pytest.mark.parametrize("code", ["BO", "BOL", "068"])
async def test_what_was_never_known_is_not_found(api: httpx.AsyncClient, code: str) -> None:
    for path in (f"/countries/{code}", f"/countries/{code}/history"):
        response = await api.get(path)
        assert (response.status_code, response.json()["code"]) == (404, "item_missing")


@pytest.mark.req("R01")
@pytest.mark.parametrize("code", ["B", "BOLI", "06", "0681", "B1", "%C3%84B"])
async def test_what_is_no_code_is_refused(api: httpx.AsyncClient, code: str) -> None:
    assert (await api.get(f"/countries/{code}")).status_code == 422


@pytest.mark.req("R01")
async def test_a_code_that_a_country_gave_up_is_gone(api: httpx.AsyncClient) -> None:
    await put(api, "BO", BOLIVIA)
    await put(api, "BO", {**BOLIVIA, "alpha3Code": "BLV"})
    response = await api.get("/countries/BOL")
    assert (response.status_code, response.json()["country"]["versionNumber"]) == (410, 1)


@pytest.mark.req("R03")
async def test_history_is_newest_first_and_paged(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    for name in ("First", "Second", "Third"):
        await put(api, "BO", {**BOLIVIA, "name": name})
        fake_clock.advance(60)
    page = (await api.get("/countries/068/history", params={"limit": 2})).json()
    rest = (await api.get("/countries/068/history", params={"limit": 2, "cursor": page["next_cursor"]})).json()
    versions = [*page["items"], *rest["items"]]
    assert [version["name"] for version in versions] == ["Third", "Second", "First"]
    assert [version["expiryDate"] for version in versions] == [None, *(v["createDate"] for v in versions[:2])]
    assert rest["next_cursor"] is None


@pytest.mark.req("R03", "X06")
async def test_a_foreign_cursor_is_refused(api: httpx.AsyncClient) -> None:
    for alpha2, data in (("BO", BOLIVIA), ("CL", CHILE)):
        await put(api, alpha2, data)
        await put(api, alpha2, {**data, "name": "Other"})
    cursor = (await api.get("/countries/BO/history", params={"limit": 1})).json()["next_cursor"]
    response = await api.get("/countries/CL/history", params={"limit": 1, "cursor": cursor})
    assert (response.status_code, response.json()["code"]) == (400, "invalid_cursor")


@pytest.mark.req("R03")
@pytest.mark.parametrize("code", ["BO", "BOL", "068"])
async def test_any_instant_has_the_version_that_was_current(
    api: httpx.AsyncClient, fake_clock: FakeClock, code: str
) -> None:
    await put(api, "BO", BOLIVIA)
    fake_clock.advance(3600)
    await put(api, "BO", PLURINATIONAL)
    fake_clock.advance(3600)
    await api.delete("/countries/BO")
    found = {}
    for instant in ("2026-01-01T11:59:59Z", "2026-01-01T12:00:00Z", "2026-01-01T15:00:00+02:00", "2026-01-02"):
        response = await api.get(f"/countries/{code}", params={"as_of": instant})
        found[instant] = (response.status_code, response.json().get("name"))
    assert found == {
        "2026-01-01T11:59:59Z": (404, None),
        "2026-01-01T12:00:00Z": (200, "Bolivia"),
        "2026-01-01T15:00:00+02:00": (200, "Bolivia, Plurinational State of"),
        "2026-01-02": (410, None),
    }


@pytest.mark.req("R03")
async def test_a_code_that_came_later_is_missing_until_then(api: httpx.AsyncClient) -> None:
    await put(api, "BO", BOLIVIA)
    problem = (await api.get("/countries/bo", params={"as_of": "1999-01-01"})).json()
    assert problem["detail"] == "No country had the code BO until 1999-01-01T00:00:00+00:00."


@pytest.mark.req("R03")
async def test_a_bare_plus_in_an_address_is_the_plus_of_an_offset(api: httpx.AsyncClient) -> None:
    await put(api, "BO", BOLIVIA)
    later = await api.get("/countries/BO?as_of=2026-01-01T14:30:00+02:00")
    assert (later.status_code, later.json()["alpha2Code"]) == (200, "BO")


@pytest.mark.req("R03")
@pytest.mark.parametrize(
    "instant",
    [
        "now",
        "1767268800",
        "20260101",
        "2026-W01",
        "2026-13-01",
        "2026-01-01T25:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "",
    ],
)
async def test_what_is_no_instant_is_refused(api: httpx.AsyncClient, instant: str) -> None:
    response = await api.get("/countries/BO", params={"as_of": instant})
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "as_of")


@pytest.mark.req("R03")
@pytest.mark.parametrize(
    "instant", ["2026-02-29", "2026-06-30T23:59:60Z", "2026-01-01T00:00:00+24:00", "2026-01-01T1:0"]
)
async def test_an_instant_that_is_none_is_told_how_it_is_written(api: httpx.AsyncClient, instant: str) -> None:
    (error,) = (await api.get("/countries/BO", params={"as_of": instant})).json()["errors"]
    how = "an instant is written as YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ"
    assert error["message"] in (how, f"there is no such day, time or offset; {how}")


@pytest.mark.req("R03")
async def test_a_small_z_stands_for_utc(api: httpx.AsyncClient) -> None:
    await put(api, "BO", BOLIVIA)
    assert (await api.get("/countries/BO", params={"as_of": "2026-01-01T12:00:00z"})).status_code == 200


@pytest.mark.req("R03")
async def test_a_code_that_changed_hands_is_its_owners_of_the_instant(
    api: httpx.AsyncClient, fake_clock: FakeClock
) -> None:
    await put(api, "BO", BOLIVIA)
    fake_clock.advance(3600)
    await api.delete("/countries/BO")
    fake_clock.advance(-3600)  # the next writer's clock is behind
    await put(api, "CL", {**CHILE, "alpha3Code": "BOL"})
    then = await api.get("/countries/BOL", params={"as_of": "2026-01-01T12:59:59.999999Z"})
    later = await api.get("/countries/BOL", params={"as_of": "2026-01-01T13:00:00.000001Z"})
    assert (then.json()["alpha2Code"], later.json()["alpha2Code"]) == ("BO", "CL")


@pytest.mark.req("R03")
async def test_two_instants_are_compared(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    await put(api, "BO", BOLIVIA)
    fake_clock.advance(3600)
    await put(api, "BO", {**PLURINATIONAL, "alpha3Code": "BLV"})
    params = {"from": "2026-01-01T12:30:00Z", "to": "2026-01-01T13:30:00Z"}
    compared = (await api.get("/countries/BLV/diff", params=params)).json()
    assert compared["changes"] == [
        {"field": "name", "before": "Bolivia", "after": "Bolivia, Plurinational State of"},
        {"field": "alpha3Code", "before": "BOL", "after": "BLV"},
    ]
    assert (compared["before"]["versionNumber"], compared["after"]["versionNumber"]) == (1, 2)
    early = await api.get("/countries/BO/diff", params={**params, "from": "1999-01-01"})
    assert (early.status_code, early.json()["detail"]) == (404, "BO had no version at 1999-01-01T00:00:00+00:00.")


# --- lists ---


@pytest.mark.req("R05")
async def test_the_list_has_current_countries_by_name_and_pages(api: httpx.AsyncClient) -> None:
    names = {
        "AX": ("Åland Islands", "ALA", "248"),
        "AF": ("afghanistan", "AFG", "004"),
        "AL": ("Albania", "ALB", "008"),
    }
    for alpha2, (name, alpha3, numeric) in names.items():
        await put(api, alpha2, {"name": name, "alpha3Code": alpha3, "numericCode": numeric})
    await put(api, "BO", BOLIVIA)
    await put(api, "BO", PLURINATIONAL)
    await api.delete("/countries/BO")
    page = (await api.get("/countries", params={"limit": 2})).json()
    rest = (await api.get("/countries", params={"limit": 2, "cursor": page["next_cursor"]})).json()
    assert [c["name"] for c in (*page["items"], *rest["items"])] == ["afghanistan", "Åland Islands", "Albania"]


@pytest.mark.req("R05")
@pytest.mark.parametrize(
    ("prefix", "found"),
    [("al", ["AX", "AL"]), ("ÅL", ["AX", "AL"]), ("alb", ["AL"]), ("%", []), ("", ["AX", "AL", "BO"]), ("b#", [])],
)
async def test_the_list_is_filtered_by_the_beginning_of_a_name(
    api: httpx.AsyncClient, prefix: str, found: list[str]
) -> None:
    await put(api, "AX", {"name": "Åland Islands", "alpha3Code": "ALA", "numericCode": "248"})
    await put(api, "AL", {"name": "Albania", "alpha3Code": "ALB", "numericCode": "008"})
    await put(api, "BO", BOLIVIA)
    response = await api.get("/countries", params={"prefix": prefix})
    assert [country["alpha2Code"] for country in response.json()["items"]] == found


@pytest.mark.req("R05")
async def test_the_whole_list_is_given_as_json_and_csv(api: httpx.AsyncClient) -> None:
    await put(api, "BO", {**BOLIVIA, "name": 'Bolivia, "Plurinational"'})
    await put(api, "CL", CHILE)
    table = await api.get("/countries.csv")
    rows = list(csv.DictReader(StringIO(table.text)))
    assert table.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert rows == [
        {"alpha2Code": "BO", "alpha3Code": "BOL", "numericCode": "068", "name": 'Bolivia, "Plurinational"'},
        {"alpha2Code": "CL", "alpha3Code": "CHL", "numericCode": "152", "name": "Chile"},
    ]
    whole = (await api.get("/countries.json")).json()
    assert [{name: country[name] for name in rows[0]} for country in whole] == rows


# --- writing ---


@pytest.mark.req("R02")
async def test_a_country_is_created_updated_deleted_and_restored_without_overwriting(
    api: httpx.AsyncClient, fake_clock: FakeClock
) -> None:
    responses = [await put(api, "bo", BOLIVIA)]
    fake_clock.advance(60)
    responses.append(await put(api, "BO", PLURINATIONAL))
    fake_clock.advance(60)
    responses.append(await api.delete("/countries/BO"))
    fake_clock.advance(60)
    responses.append(await api.post("/countries/BO/restore"))
    versions = (await api.get("/countries/BO/history")).json()["items"][::-1]
    assert [response.status_code for response in responses] == [201, 200, 200, 200]
    assert [(version["name"], version["isDeleted"]) for version in versions] == [
        ("Bolivia", False),
        ("Bolivia, Plurinational State of", False),
        ("Bolivia, Plurinational State of", True),
        ("Bolivia, Plurinational State of", False),
    ]
    assert [v["expiryDate"] for v in versions] == [*(v["createDate"] for v in versions[1:]), None]


@pytest.mark.req("R02")
async def test_codes_are_unique_among_current_countries(api: httpx.AsyncClient) -> None:
    await put(api, "BO", BOLIVIA)
    for data in ({**CHILE, "alpha3Code": "BOL"}, {**CHILE, "numericCode": "068"}):
        response = await put(api, "CL", data)
        assert (response.status_code, response.json()["code"]) == (409, "unique_taken")
    assert (await api.get("/countries/CL")).status_code == 404
    await api.delete("/countries/BO")
    assert (await put(api, "CL", {**CHILE, "alpha3Code": "BOL"})).status_code == 201
    taken = await api.post("/countries/BO/restore")
    assert (taken.status_code, taken.json()["code"]) == (409, "unique_taken")
    restored = await api.post("/countries/BO/restore", json={**BOLIVIA, "alpha3Code": "BLV"})
    assert (restored.status_code, restored.json()["alpha3Code"]) == (200, "BLV")


@pytest.mark.req("R02")
async def test_a_deleted_country_is_restored_before_it_is_changed(api: httpx.AsyncClient) -> None:
    await put(api, "BO", BOLIVIA)
    await api.delete("/countries/BO")
    response = await put(api, "BO", PLURINATIONAL)
    assert (response.status_code, response.json()["code"]) == (409, "country_deleted")
    assert (await numbers(api, "BO")) == [2, 1]


@pytest.mark.req("R02")
async def test_restoring_what_is_not_deleted_does_not_drop_what_is_said(api: httpx.AsyncClient) -> None:
    first = await put(api, "BO", BOLIVIA)
    refused = await api.post("/countries/BO/restore", json=PLURINATIONAL)
    problem = refused.json()
    assert (refused.status_code, problem["code"], problem["hint"]) == (
        409,
        "country_not_deleted",
        "Change the country with PUT.",
    )
    for body in (None, BOLIVIA):
        same = await api.post("/countries/BO/restore", json=body)
        assert (same.status_code, same.json()) == (200, first.json())
    assert (await numbers(api, "BO")) == [1]


@pytest.mark.req("R02")
async def test_what_was_never_there_cannot_be_deleted_or_restored(api: httpx.AsyncClient) -> None:
    assert (await api.delete("/countries/BO")).status_code == 404
    assert (await api.post("/countries/BO/restore")).status_code == 404


@pytest.mark.req("R04")
async def test_a_write_that_says_nothing_new_adds_no_version(api: httpx.AsyncClient) -> None:
    first = await put(api, "BO", BOLIVIA)
    again = await put(api, "BO", BOLIVIA)
    assert (again.status_code, again.json(), again.headers["ETag"]) == (200, first.json(), first.headers["ETag"])
    await api.delete("/countries/BO")
    await api.delete("/countries/BO")
    await api.post("/countries/BO/restore")
    await api.post("/countries/BO/restore")
    assert (await numbers(api, "BO")) == [3, 2, 1]


@pytest.mark.req("R04", "X05")
async def test_a_retried_write_gets_the_same_response(api: httpx.AsyncClient, fake_clock: FakeClock) -> None:
    await put(api, "BO", BOLIVIA)
    first = await put(api, "BO", PLURINATIONAL, Idempotency_Key="k1")
    fake_clock.advance(60)
    await put(api, "BO", BOLIVIA)
    again = await put(api, "BO", PLURINATIONAL, Idempotency_Key='"k1"')
    other = await put(api, "BO", {**BOLIVIA, "name": "Else"}, Idempotency_Key="k1")
    assert (again.status_code, again.json()) == (200, first.json())
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")
    assert (await numbers(api, "BO")) == [3, 2, 1]


@pytest.mark.req("R04")
@pytest.mark.parametrize("happened", [False, True])
async def test_a_crash_and_a_retry_add_one_version(api: httpx.AsyncClient, store: FaultyStore, happened: bool) -> None:  # noqa: FBT001
    await put(api, "BO", BOLIVIA)
    crash = store.crash_after if happened else store.crash_before
    crash(1, on=TransactWriteItems)
    with pytest.raises(Crash):
        await put(api, "BO", PLURINATIONAL, Idempotency_Key="k1")
    again = await put(api, "BO", PLURINATIONAL, Idempotency_Key="k1")
    assert (again.status_code, again.headers.get("Idempotent-Replayed")) == (200, "true" if happened else None)
    assert (await numbers(api, "BO")) == [2, 1]


# --- conditional requests ---


@pytest.mark.req("R07")
async def test_a_reader_with_the_right_version_is_told_so(api: httpx.AsyncClient) -> None:
    first = await put(api, "BO", BOLIVIA)
    tag = first.headers["ETag"]
    for sent in (tag, f'"0", W/{tag}', "*"):
        response = await api.get("/countries/BO", headers={"If-None-Match": sent})
        assert (response.status_code, response.content, response.headers["ETag"]) == (304, b"", tag)
    await put(api, "BO", PLURINATIONAL)
    fresh = await api.get("/countries/BO", headers={"If-None-Match": tag})
    assert (fresh.status_code, fresh.headers["ETag"] != tag) == (200, True)


@pytest.mark.req("R07")
async def test_closed_versions_may_be_kept_for_ever_and_open_ones_not(
    api: httpx.AsyncClient, fake_clock: FakeClock
) -> None:
    await put(api, "BO", BOLIVIA)
    then = {"as_of": "2026-01-01T12:00:00Z"}
    opened = await api.get("/countries/BO", params=then)
    fake_clock.advance(60)
    await put(api, "BO", PLURINATIONAL)
    closed = await api.get("/countries/BO", params=then)
    latest = await api.get("/countries/BO")
    assert [response.headers["Cache-Control"] for response in (opened, closed, latest)] == [
        "no-cache",
        "public, max-age=31536000, immutable",
        "no-cache",
    ]
    assert opened.headers["ETag"] != closed.headers["ETag"]


@pytest.mark.req("R07")
async def test_a_write_over_another_version_is_refused(api: httpx.AsyncClient) -> None:
    first = await put(api, "BO", BOLIVIA)
    second = await put(api, "BO", PLURINATIONAL, If_Match=first.headers["ETag"])
    assert second.status_code == 200
    for late in (
        await put(api, "BO", BOLIVIA, If_Match=first.headers["ETag"]),
        await api.delete("/countries/BO", headers={"If-Match": first.headers["ETag"]}),
        await api.post("/countries/BO/restore", headers={"If-Match": first.headers["ETag"]}),
        await put(api, "CL", CHILE, If_Match=first.headers["ETag"]),
        await put(api, "BO", BOLIVIA, If_Match=f'"{"9" * 5_000}"'),
        await put(api, "BO", BOLIVIA, If_None_Match="*"),
    ):
        assert (late.status_code, late.json()["code"]) == (412, "precondition_failed")
    assert (await api.delete("/countries/BO", headers={"If-Match": second.headers["ETag"]})).status_code == 200
    assert (await put(api, "CL", CHILE, If_None_Match="*")).status_code == 201


@pytest.mark.req("R07", "X04")
@pytest.mark.parametrize("header", ["If-Match", "If-None-Match"])
async def test_a_precondition_that_is_no_etag_is_refused(header: str, api: httpx.AsyncClient) -> None:
    refused = await api.put("/countries/BO", json=BOLIVIA, headers={header: '"1'})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
    assert [each["field"] for each in refused.json()["errors"]] == [header.lower()]
    assert (await api.get("/countries/BO")).status_code == 404


@pytest.mark.req("R07")
async def test_a_star_in_if_match_writes_only_over_what_is_there(api: httpx.AsyncClient) -> None:
    refused = await put(api, "BO", BOLIVIA, If_Match="*")
    assert (refused.status_code, refused.json()["code"]) == (412, "precondition_failed")
    assert (await api.get("/countries/BO/history")).status_code == 404
    star = {"If-Match": "*"}
    assert (await api.delete("/countries/BO", headers=star)).status_code == 404  # the same as without the header
    await put(api, "BO", BOLIVIA)
    responses = [
        await put(api, "BO", PLURINATIONAL, If_Match="*"),
        await api.delete("/countries/BO", headers=star),
        await api.post("/countries/BO/restore", headers=star),
    ]
    assert [response.status_code for response in responses] == [200] * 3


@pytest.mark.req("R07")
async def test_a_version_that_the_writer_does_not_want_to_replace_stays(api: httpx.AsyncClient) -> None:
    first = (await put(api, "BO", BOLIVIA)).headers["ETag"]
    for sent in (first, f"W/{first}", f'"0", {first}', "*"):
        refused = await put(api, "BO", PLURINATIONAL, If_None_Match=sent)
        assert (refused.status_code, refused.json()["code"]) == (412, "precondition_failed")
    assert (await numbers(api, "BO")) == [1]
    assert (await put(api, "BO", PLURINATIONAL, If_None_Match='"0"')).status_code == 200
    assert (await put(api, "BO", BOLIVIA, If_None_Match=first)).status_code == 200
    assert (await put(api, "CL", CHILE, If_None_Match=first)).status_code == 201


def let_another_be_first(
    monkeypatch: pytest.MonkeyPatch, store: FaultyStore, write: Callable[[], Awaitable[httpx.Response]]
) -> None:
    """Let another writer write between the read and the write of the next request."""
    send = store.execute_async

    async def execute_async(request: Any) -> Any:
        if isinstance(request, TransactWriteItems):
            monkeypatch.setattr(store, "execute_async", send)
            assert (await write()).is_success
        return await send(request)

    monkeypatch.setattr(store, "execute_async", execute_async)


@pytest.mark.req("R07", "R02")
@pytest.mark.parametrize(
    ("is_there", "headers", "expected"),
    [
        (True, {}, (409, "version_conflict")),
        (True, {"If_Match": "*"}, (409, "version_conflict")),
        (True, {"If_None_Match": '"0"'}, (409, "version_conflict")),
        (False, {}, (409, "already_exists")),
        (False, {"If_None_Match": "*"}, (412, "precondition_failed")),
        (False, {"If_None_Match": '"0"'}, (409, "already_exists")),
    ],
)
async def test_the_second_of_two_writers_is_told_what_it_asked_to_be_told(
    api: httpx.AsyncClient,
    store: FaultyStore,
    monkeypatch: pytest.MonkeyPatch,
    is_there: bool,  # noqa: FBT001
    headers: dict[str, str],
    expected: tuple[int, str],
) -> None:
    if is_there:
        await put(api, "BO", BOLIVIA)
    let_another_be_first(monkeypatch, store, lambda: put(api, "BO", {**BOLIVIA, "name": "First"}))
    late = await put(api, "BO", PLURINATIONAL, **headers)
    assert (late.status_code, late.json()["code"]) == expected
    assert (await api.get("/countries/BO")).json()["name"] == "First"


# --- authorization and costs ---


@pytest.mark.req("R08", "X03")
async def test_reads_are_public_and_writes_need_an_operator(api: httpx.AsyncClient, identity: Identity) -> None:
    await put(api, "BO", BOLIVIA)
    user = {"Authorization": f"Bearer {identity.token(Caller('ann'))}"}
    for headers, expected in (({"Authorization": ""}, 401), (user, 403)):
        statuses = [
            (await api.put("/countries/BO", json=BOLIVIA, headers=headers)).status_code,
            (await api.delete("/countries/BO", headers=headers)).status_code,
            (await api.post("/countries/BO/restore", headers=headers)).status_code,
        ]
        assert statuses == [expected] * 3
    for path in ("/countries", "/countries.csv", "/countries.json", "/countries/BO", "/countries/BO/history"):
        assert (await api.get(path, headers={"Authorization": ""})).status_code == 200


@pytest.mark.req("R08", "X04")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("alpha3Code", "bol"),
        ("alpha3Code", "BOLI"),
        ("numericCode", "68"),
        ("numericCode", "٠٦٨"),
        ("name", "  "),
        ("name", "x" * 201),
    ],
)
async def test_bad_data_names_its_field(api: httpx.AsyncClient, field: str, value: str) -> None:
    response = await put(api, "BO", {**BOLIVIA, field: value})
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, field)


REQUESTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "GET /countries": ("GET", "/countries?prefix=b", {}),
    "GET /countries.json": ("GET", "/countries.json", {}),
    "GET /countries.csv": ("GET", "/countries.csv", {}),
    "GET /search": ("GET", "/search?q=bolivia", {}),
    "GET /changes": ("GET", "/changes", {}),
    "GET /countries/{code}/versions/{before}/compare/{after}": ("GET", "/countries/BO/versions/1/compare/1", {}),
    "POST /imports": ("POST", "/imports", {"json": {"countries": []}}),
    "POST /imports.csv": ("POST", "/imports.csv", {"content": "alpha2Code,alpha3Code,numericCode,name\n"}),
    "GET /countries/{code}": ("GET", "/countries/068", {}),
    "GET /countries/{code}/history": ("GET", "/countries/BOL/history", {}),
    "GET /countries/{code}/diff": ("GET", "/countries/BO/diff?from=2026-01-01T12:00&to=2026-01-02", {}),
    "PUT /countries/{alpha2}": ("PUT", "/countries/BO", {"json": PLURINATIONAL}),
    "DELETE /countries/{alpha2}": ("DELETE", "/countries/BO", {}),
    "POST /countries/{alpha2}/restore": ("POST", "/countries/BO/restore", {}),
}
"""A request for each route of the service."""


@pytest.mark.req("X09", "R08")
@pytest.mark.parametrize("route", ROUTES)
async def test_no_route_scans(api: httpx.AsyncClient, store: FaultyStore, route: str) -> None:
    await put(api, "BO", BOLIVIA)
    store.requests.clear()
    method, path, body = REQUESTS[route]
    response = await api.request(method, path, **body)
    assert response.is_success
    assert [request for request in store.requests if isinstance(request, ScanTable)] == []
    assert store.requests != []


@pytest.mark.req("X07")
async def test_every_response_says_what_it_consumed(api: httpx.AsyncClient) -> None:
    """The figures must be those in docs/services/countries.md."""

    def of(response: httpx.Response) -> str:
        said = response.headers["X-Consumed-Capacity"].split(", ")
        return ", ".join(part for part in said if not part.endswith("rcu=0;wcu=0"))

    reads = "country_versions;rcu=1;wcu=0"
    assert of(await put(api, "BO", BOLIVIA)) == f"{reads}, Country.plan;rcu=2;wcu=0, write_version;rcu=0;wcu=12"
    assert of(await put(api, "BO", PLURINATIONAL)) == f"{reads}, write_version;rcu=0;wcu=12"
    assert (
        of(await put(api, "BO", {**BOLIVIA, "alpha3Code": "BLV", "numericCode": "069"}))
        == f"{reads}, Country.plan;rcu=2;wcu=0, write_version;rcu=0;wcu=20"
    )
    assert of(await api.delete("/countries/BO")) == f"{reads}, write_version;rcu=0;wcu=16"
    assert (
        of(await api.post("/countries/BO/restore")) == f"{reads}, Country.plan;rcu=2;wcu=0, write_version;rcu=0;wcu=16"
    )
    keyed = await put(api, "BO", BOLIVIA, Idempotency_Key="k1")
    again = await put(api, "BO", BOLIVIA, Idempotency_Key="k1")
    codes = "Country.plan;rcu=2;wcu=0, write_version;rcu=0;wcu=22"
    assert of(keyed) == f"request_by_key;rcu=1;wcu=0, {reads}, {codes}"
    assert of(again) == "request_by_key;rcu=1;wcu=0"
    assert of(await api.get("/countries/BO")) == "country_versions;rcu=0.5;wcu=0"
    assert of(await api.get("/countries/BOL")) == "versions_with_alpha3;rcu=0.5;wcu=0"
    assert of(await api.get("/countries/068")) == "versions_with_numeric;rcu=0.5;wcu=0"
    assert of(await api.get("/countries/BO/history")) == "country_versions;rcu=1;wcu=0"
    assert of(await api.get("/countries")) == "active_countries;rcu=0.5;wcu=0"
    assert of(await api.get("/countries.csv")) == "export_countries;rcu=0.5;wcu=0"


@pytest.mark.req("R09")
async def test_the_page_is_served_beside_the_api(api: httpx.AsyncClient) -> None:
    for path, kind in (("", "text/html"), ("style.css", "text/css"), ("js/app.js", "text/javascript")):
        response = await api.get(f"http://test/countries/{path}")
        assert (response.status_code, response.headers["Content-Type"].split(";")[0]) == (200, kind)
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert (await api.get("http://test/countries/nothing")).status_code == 404
    [shown] = (await api.get("http://test/console/api/services")).json()
    assert shown["page"] == "/countries/"


def test_a_response_may_be_kept_only_if_no_version_in_it_can_change() -> None:
    open_version = Country(alpha2="AA", name="Atlantis", alpha3="AAA")
    closed = open_version.model_copy(update={"expires": datetime(2026, 1, 1, tzinfo=UTC)})
    assert caching(closed, closed) != caching(closed, open_version) == caching(open_version)
