"""All versions: authors, reasons, withdrawn countries, former names, past lists, the feed of changes, and imports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from tests.services.fields import check_fields

from partita import Procedure, Session
from partita.http import Caller, Identity, Role
from partita.store import QueryTable
from partita.testing import FakeClock, FaultyStore
from partita_services.countries.bootstrap import seed
from partita_services.countries.handlers import Edit
from partita_services.countries.imports import Proposal, apply, propose
from partita_services.countries.iso import Content, Event

BOLIVIA = {"name": "Bolivia", "alpha3Code": "BOL", "numericCode": "068"}
ROW = {"alpha2Code": "BO", **BOLIVIA}


@pytest.fixture
def standard(store: FaultyStore, api: httpx.AsyncClient, fake_clock: FakeClock) -> httpx.AsyncClient:
    """A client of the API with the whole standard, which was loaded a minute ago."""
    session = Session(store, clock=fake_clock)
    for step in seed(fake_clock()):
        session.run(step)
    fake_clock.advance(60)
    return api


async def got(api: httpx.AsyncClient, path: str, **params: Any) -> Any:
    response = await api.get(path, params=params or None)
    assert response.status_code == 200, response.text
    return response.json()


@pytest.mark.req("R11")
async def test_a_version_says_who_wrote_it_and_why(
    api: httpx.AsyncClient, fake_clock: FakeClock, identity: Identity
) -> None:
    grace = {"Authorization": f"Bearer {identity.token(Caller('grace', Role.OPERATOR))}"}
    await api.put("/countries/BO", json=BOLIVIA, params={"reason": " newsletter I-1 "})
    fake_clock.advance(1)
    await api.put("/countries/BO", json={**BOLIVIA, "name": "B"}, params={"reason": "a typo"}, headers=grace)
    fake_clock.advance(1)
    await api.delete("/countries/BO", params={"reason": "gone"})
    fake_clock.advance(1)
    restored = await api.post("/countries/BO/restore", headers=grace)
    history = (await got(api, "/countries/BO/history"))["items"]
    assert [(each["writtenBy"], each["reason"]) for each in history] == [
        ("grace", None),
        ("ada", "gone"),
        ("grace", "a typo"),
        ("ada", "newsletter I-1"),
    ]
    assert restored.json() == history[0]


@pytest.mark.req("R11", "R04")
async def test_a_reason_has_up_to_200_characters(api: httpx.AsyncClient) -> None:
    lengths = [
        (await api.put("/countries/BO", json=BOLIVIA, params={"reason": "x" * n})).status_code for n in (201, 200)
    ]
    assert lengths == [422, 201]


async def test_the_same_content_for_another_reason_adds_no_version(api: httpx.AsyncClient) -> None:
    await api.put("/countries/BO", json=BOLIVIA, params={"reason": "first"})
    again = await api.put("/countries/BO", json=BOLIVIA, params={"reason": "second"})
    assert (again.json()["versionNumber"], again.json()["reason"]) == (1, "first")


@pytest.mark.req("R11")
async def test_the_standard_says_why(standard: httpx.AsyncClient) -> None:
    turkey = (await got(standard, "/countries/TR/history"))["items"]
    assert [(each["name"], each["writtenBy"], each["reason"]) for each in turkey] == [
        ("T\u00fcrkiye", "ISO 3166-1", "Changed in the standard"),
        ("Turkey", "ISO 3166-1", "Assigned"),
    ]
    assert turkey[0]["writtenAt"] == "2026-01-01T12:00:00.000000Z"


@pytest.mark.req("R12")
async def test_the_withdrawn_are_listed_by_name(standard: httpx.AsyncClient) -> None:
    page = await got(standard, "/countries", status="withdrawn", limit=100)
    names = [each["name"] for each in page["items"]]
    assert "USSR, Union of Soviet Socialist Republics" in names
    assert all(each["isDeleted"] for each in page["items"])
    assert names == sorted(names, key=str.casefold)
    assert [
        each["alpha2Code"] for each in (await got(standard, "/countries", status="withdrawn", prefix="uss"))["items"]
    ] == ["SU"]
    assert [each["name"] for each in await got(standard, "/countries.json", status="withdrawn")] == names
    await check_fields(standard, "/countries", status="withdrawn", limit=3)


@pytest.mark.req("R12")
async def test_a_restored_country_is_withdrawn_no_more(api: httpx.AsyncClient) -> None:
    await api.put("/countries/BO", json=BOLIVIA)
    for method, path, listed in (("DELETE", "/countries/BO", ["BO"]), ("POST", "/countries/BO/restore", [])):
        await api.request(method, path)
        page = await got(api, "/countries", status="withdrawn")
        assert [each["alpha2Code"] for each in page["items"]] == listed


@pytest.mark.req("R13")
@pytest.mark.parametrize(
    ("text", "code", "name", "is_former"),
    [
        ("Turkey", "TR", "T\u00fcrkiye", True),
        ("burma", "BU", "Burma, Socialist Republic of the Union of", True),
        ("Soviet", "SU", "USSR, Union of Soviet Socialist Republics", True),
        ("SUN", "SU", "USSR, Union of Soviet Socialist Republics", True),
        ("ROM", "RO", "Romania", False),
        ("810", "SU", "USSR, Union of Soviet Socialist Republics", True),
        ("swazi", "SZ", "Eswatini", True),
        ("turkiye", "TR", "T\u00fcrkiye", False),
        ("plurinational bolivia", "BO", "Bolivia, Plurinational State of", False),
    ],
)
async def test_countries_are_found_by_names_and_codes_that_they_had(
    standard: httpx.AsyncClient, text: str, code: str, name: str, *, is_former: bool
) -> None:
    (first, *_) = [
        each for each in (await got(standard, "/search", q=text))["items"] if each["country"]["alpha2Code"] == code
    ]
    assert (first["country"]["name"], first["isFormer"]) == (name, is_former)


@pytest.mark.req("R13")
async def test_a_search_puts_what_is_current_first_and_finds_nothing_in_nothing(standard: httpx.AsyncClient) -> None:
    found = (await got(standard, "/search", q="germ"))["items"]
    assert [each["country"]["alpha2Code"] for each in found] == ["DE", "DD"]
    kingdom = (await got(standard, "/search", q="united kingdom"))["items"]  # all words, not any
    assert [each["country"]["alpha2Code"] for each in kingdom] == ["GB"]
    assert (await got(standard, "/search", q="atlantis"))["items"] == []
    assert (await got(standard, "/search", q="\u0301"))["items"] == []
    assert (await standard.get("/search")).status_code == 422


@pytest.mark.req("R14")
async def test_the_whole_list_as_of_a_day(standard: httpx.AsyncClient) -> None:
    then = await got(standard, "/countries.json", as_of="1985-06-01")
    by_code = {each["alpha2Code"]: each["name"] for each in then}
    assert by_code["SU"] == "USSR, Union of Soviet Socialist Republics"
    assert by_code["TR"] == "Turkey"
    assert "HR" not in by_code
    assert len(then) == len(by_code)
    for instant, name in (("2022-07-10T23:59:59.999999Z", "Turkey"), ("2022-07-11", "T\u00fcrkiye")):
        turkey = [
            each["name"] for each in await got(standard, "/countries.json", as_of=instant) if each["alpha2Code"] == "TR"
        ]
        assert turkey == [name]
    now = await got(standard, "/countries.json")
    assert await got(standard, "/countries.json", as_of="2026-01-01") == now
    table = (await standard.get("/countries.csv?as_of=1985-06-01")).text
    assert len(table.splitlines()) == len(then) + 1
    assert await got(standard, "/countries.json", as_of="1970-01-01") == []
    assert (await standard.get("/countries.csv?as_of=1985-06-01&status=withdrawn")).status_code == 422


@pytest.mark.req("R15")
async def test_two_versions_are_compared_by_their_numbers(standard: httpx.AsyncClient) -> None:
    compared = await got(standard, "/countries/tur/versions/1/compare/2")
    assert compared["changes"] == [{"field": "name", "before": "Turkey", "after": "T\u00fcrkiye"}]
    by_day = await got(standard, "/countries/TR/diff", **{"from": "2020-01-01", "to": "2025-01-01"})
    assert compared == by_day
    for path in ("/countries/TR/versions/1/compare/3", "/countries/QQ/versions/1/compare/1"):
        assert (await standard.get(path)).status_code == 404


@pytest.mark.req("R16")
@pytest.mark.parametrize(("limit", "pause"), [(1, 0.0), (2, 0.6)])
async def test_the_feed_is_followed_without_a_gap(
    api: httpx.AsyncClient, fake_clock: FakeClock, limit: int, pause: float
) -> None:
    seen: list[tuple[str, str]] = []
    position: str | None = None

    async def follow() -> None:
        nonlocal position
        cursor: str | None = None
        last = position
        while True:
            asked = {name: value for name, value in (("since", position), ("cursor", cursor)) if value}
            page = await got(api, "/changes", limit=limit, **asked)
            seen.extend((each["alpha2Code"], each["change"]) for each in page["items"])
            last = page["position"] or last
            cursor = page["next_cursor"]
            if cursor is None:
                position = last
                return
            fake_clock.advance(pause)

    await follow()
    await api.put("/countries/BO", json=BOLIVIA)
    fake_clock.advance(1)
    await api.put("/countries/BO", json={**BOLIVIA, "name": "B"})
    await api.put("/countries/PE", json={"name": "Peru", "alpha3Code": "PER", "numericCode": "604"})
    fake_clock.advance(4.5)
    await follow()
    assert seen == [("BO", "created")]  # the other changes are too recent to be in the feed
    fake_clock.advance(1)
    await follow()
    await api.delete("/countries/BO")
    fake_clock.advance(10)
    await follow()
    await follow()
    assert seen == [("BO", "created"), ("BO", "changed"), ("PE", "created"), ("BO", "deleted")]
    await check_fields(api, "/changes")


@pytest.mark.req("R16")
async def test_what_is_imported_for_the_past_is_new_in_the_feed(standard: httpx.AsyncClient) -> None:
    page = await got(standard, "/changes", since="2026-01-01T11:59", limit=100)
    assert len(page["items"]) == 100
    assert {each["writtenAt"] for each in page["items"]} == {"2026-01-01T12:00:00.000000Z"}


@pytest.mark.req("R17")
async def test_an_import_is_shown_first_and_then_applied(api: httpx.AsyncClient) -> None:
    await api.put("/countries/QZ", json={"name": "Quiz", "alpha3Code": "QZZ", "numericCode": "999"})
    draft = {"countries": [ROW], "whole": True, "reason": "a new list"}
    shown = (await api.post("/imports", json=draft)).json()
    assert shown["applied"] is False
    assert [(each["change"], each["alpha2Code"], each["name"]) for each in shown["changes"]] == [
        ("delete", "QZ", None),
        ("create", "BO", "Bolivia"),
    ]
    assert (await api.get("/countries/BO")).status_code == 404
    applied = (await api.post("/imports", json={**draft, "apply": True})).json()
    assert applied == {**shown, "applied": True}
    country = await got(api, "/countries/BO")
    assert (country["writtenBy"], country["reason"]) == ("ada", "a new list")
    assert (await api.get("/countries/QZ")).status_code == 410
    assert (await api.post("/imports", json={**draft, "apply": True})).json()["changes"] == []


@pytest.mark.req("R17")
async def test_a_list_that_was_exported_is_imported_as_it_is(api: httpx.AsyncClient) -> None:
    await api.put("/countries/BO", json=BOLIVIA)
    table = (await api.get("/countries.csv")).text
    same = await api.post("/imports.csv", content=table, params={"whole": True})
    assert same.json() == {"applied": False, "changes": []}
    renamed = table.replace("Bolivia", "Bolivien")
    changed = await api.post("/imports.csv", content=renamed, params={"apply": True, "reason": "in German"})
    (change,) = changed.json()["changes"]
    assert change["differences"] == [{"field": "name", "before": "Bolivia", "after": "Bolivien"}]
    assert (await got(api, "/countries/BO"))["reason"] == "in German"


@pytest.mark.req("R17")
@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/imports", {"json": {"countries": [ROW, ROW]}}, 422),
        ("/imports", {"json": {"countries": [{**ROW, "alpha2Code": "XX"}]}}, 409),
        ("/imports", {"json": {"countries": [{**ROW, "name": ""}]}}, 422),
        ("/imports.csv", {"content": b"\xff"}, 422),
        ("/imports.csv", {"content": "nothing"}, 422),
    ],
)
async def test_a_list_that_cannot_be_imported_changes_nothing(
    api: httpx.AsyncClient, path: str, body: Any, status: int
) -> None:
    await api.put("/countries/BO", json=BOLIVIA)
    assert (await api.post(path, **body)).status_code == status
    assert len((await got(api, "/countries/BO/history"))["items"]) == 1


@pytest.mark.req("R17")
async def test_an_import_reports_a_code_that_another_country_has_got_in_the_meantime(
    api: httpx.AsyncClient, store: FaultyStore, fake_clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overtaken(events: Sequence[Event], *, whole: bool) -> Procedure[tuple[Proposal, ...]]:
        proposals = yield from propose(events, whole=whole)
        other = Event("XX", Content("Other", ROW["alpha3Code"], "999"))
        Session(store, clock=fake_clock).run(apply(other, Edit("bob")))
        return proposals

    monkeypatch.setattr("partita_services.countries.http.propose", overtaken)
    refused = await api.post("/imports", json={"countries": [ROW], "apply": True})
    assert (refused.status_code, refused.json()["code"]) == (409, "unique_taken")
    assert (await api.get("/countries/BO")).status_code == 404


@pytest.mark.req("R17")
async def test_imports_are_for_operators(api: httpx.AsyncClient, identity: Identity) -> None:
    user = {"Authorization": f"Bearer {identity.token(Caller('bob'))}"}
    assert (await api.post("/imports", json={"countries": []}, headers=user)).status_code == 403
    assert (await api.post("/imports.csv", content="", headers=user)).status_code == 403


@pytest.mark.req("R08")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/countries?deleted=true"),
        ("GET", "/countries.json?prefix=b"),
        ("GET", "/countries/BO?asof=2026-01-01"),
        ("GET", "/changes?form=x"),
        ("DELETE", "/countries/BO?why=x"),
    ],
)
async def test_a_parameter_that_is_not_there_is_refused(api: httpx.AsyncClient, method: str, path: str) -> None:
    await api.put("/countries/BO", json=BOLIVIA)
    response = await api.request(method, path)
    assert (response.status_code, response.json()["errors"][0]["location"]) == (422, "query")


@pytest.mark.req("R02")
@pytest.mark.parametrize("body", [{}, {"json": {}}, {"content": b""}, {"json": None}])
async def test_an_empty_body_restores_what_was(api: httpx.AsyncClient, body: Any) -> None:
    await api.put("/countries/BO", json=BOLIVIA)
    await api.delete("/countries/BO")
    restored = await api.post("/countries/BO/restore", **body)
    assert (restored.status_code, restored.json()["name"]) == (200, "Bolivia")


@pytest.mark.req("R02")
async def test_a_country_is_restored_with_some_other_data(api: httpx.AsyncClient) -> None:
    await api.put("/countries/BO", json=BOLIVIA)
    await api.delete("/countries/BO")
    restored = (await api.post("/countries/BO/restore", json={"name": "Bolivien"})).json()
    assert (restored["name"], restored["alpha3Code"]) == ("Bolivien", "BOL")


@pytest.mark.req("X14")
async def test_lists_read_only_the_fields_that_are_asked_for(api: httpx.AsyncClient, store: FaultyStore) -> None:
    await api.put("/countries/BO", json=BOLIVIA)
    await check_fields(api, "/countries")
    await check_fields(api, "/countries/BO/history")
    await api.get("/countries?fields=name")
    sent = [request for request in store.requests if isinstance(request, QueryTable)][-1]
    assert {path.parts[0] for path in sent.projection or ()} == {
        *("name", "alpha2Code", "createDate", "activeList", "activeName"),
    }
