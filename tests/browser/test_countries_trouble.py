"""Countries in trouble: late and lost responses, a lost server, an expired token, two tabs, thousands of versions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import Server, serving

import partita_services.countries

OpenPage = Callable[..., Page]
Made = Callable[[str, str], None]

pytestmark = pytest.mark.req("R09", "X17")

PAGES = Path(partita_services.countries.__file__).parent / "pages"
UNAVAILABLE = {"status": 503, "code": "store_unavailable", "detail": "The service is not available now."}
SCROLL_TO_THE_END = """([rows, last]) => {
    const all = document.querySelectorAll(rows);
    all[all.length - 1]?.scrollIntoView();  // again and again: what comes meanwhile is below it
    return [...all].some((row) => row.textContent.includes(last));
}"""


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("countries")


@pytest.fixture
def address(server: Server) -> str:
    return f"{server.url}/countries/"


def as_operator(page: Page, server: Server, address: str) -> Page:
    """Open the page as an operator. The token is set only once, so that a later sign-in or sign-out lasts."""
    keep = f"sessionStorage.setItem('partita-token', '{server.token('ada', 'operator')}')"
    page.add_init_script(f"if (!sessionStorage.getItem('asked')) {keep}; sessionStorage.setItem('asked', 'once')")
    page.goto(address)
    return page


def versions_of(server: Server, code: str) -> list[str]:
    found = httpx.get(f"{server.url}/countries/api/countries/{code}/history").json()["items"]
    return [version["name"] for version in found]


@pytest.fixture
def made(server: Server) -> Iterator[Made]:
    """A function that creates a country, which is deleted at the end, because other tests count the current ones."""
    headers = {"Authorization": f"Bearer {server.token('bob', 'operator')}"}
    codes: list[str] = []
    with httpx.Client(base_url=f"{server.url}/countries/api/countries/", headers=headers) as client:

        def make(code: str, numeric: str) -> None:
            codes.append(code)
            data = {"name": "First", "alpha3Code": f"{code}A", "numericCode": numeric}
            client.put(code, json=data).raise_for_status()

        yield make
        for code in codes:
            client.delete(code).raise_for_status()


def title(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1).and_(page.locator("#content h1"))).to_have_text(text)


def test_a_link_shows_what_was_seen_and_back_goes_back(open_page: OpenPage, address: str) -> None:
    page = open_page()
    page.goto(f"{address}#/TR?as_of=1999-12-31&list=withdrawn&q=ger")
    answer = page.locator(".answer strong")
    expect(answer).to_have_text("Turkey")
    expect(page.locator(".answer")).to_contain_text("On 31 December 1999")
    expect(page.get_by_label("List", exact=True)).to_have_value("withdrawn")
    expect(page.locator("#list a").first).to_contain_text("German Democratic Republic")

    # every choice is in the address
    page.get_by_label("Day", exact=True).fill("2022-12-01")
    expect(answer).to_have_text("Türkiye")
    expect(page).to_have_url(re.compile(r"#/TR\?as_of=2022-12-01&list=withdrawn&q=ger$"))
    page.get_by_label("List", exact=True).select_option("As of a day")
    page.get_by_label("Date of the list").fill("1985-06-01")
    page.get_by_label("Search by name or code").fill("ussr")
    expect(page.locator("#found")).to_have_text(re.compile("^1 of "))
    expect(page.locator("#list a")).to_have_count(1)
    page.locator("#list a").click()
    title(page, "USSR, Union of Soviet Socialist Republics")
    expect(page.locator(".answer")).to_contain_text("On 1 June 1985")  # the day of the list
    expect(page).to_have_url(re.compile(r"#/SU\?as_of=1985-06-01&list=day&day=1985-06-01&q=ussr$"))

    # the address shows the same to others, and Back works
    page.reload()
    title(page, "USSR, Union of Soviet Socialist Republics")
    expect(page.locator(".answer")).to_contain_text("On 1 June 1985")
    expect(page.get_by_label("Date of the list")).to_have_value("1985-06-01")
    page.go_back()
    title(page, "Türkiye")
    expect(page.locator(".answer")).to_contain_text("On 1 December 2022")
    for _ in range(3):
        page.go_back()
    expect(answer).to_have_text("Turkey")
    expect(page.locator("#list a").first).to_contain_text("German Democratic Republic")
    page.go_forward()
    expect(answer).to_have_text("Türkiye")


def test_a_country_that_comes_late_does_not_replace_the_chosen_one(open_page: OpenPage, address: str) -> None:
    page = open_page()
    late: list[Route] = []

    def hold(route: Route) -> None:
        late.append(route)

    page.route("**/api/countries/TR/history?*", hold)
    with page.expect_request("**/api/countries/TR/history?*"):
        page.goto(f"{address}#/TR")
    expect(page.locator("#content .skeleton")).to_be_visible()
    page.locator("#list a[data-code=NO]").click()
    title(page, "Norway")
    with page.expect_response("**/api/countries/TR/history?*"):
        late[0].continue_()
    page.get_by_role("link", name="Sweden SE").click()
    title(page, "Sweden")
    expect(page).to_have_title("Sweden · Countries")
    page.get_by_role("link", name="Skip to the country").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#content")).to_be_focused()
    title(page, "Sweden")


def test_flags_are_drawn_and_only_those_near_the_screen_are_loaded(open_page: OpenPage, address: str) -> None:
    page = open_page()
    flags: set[str] = set()
    page.on("request", lambda request: flags.add(request.url) if "/flags/" in request.url else None)
    page.goto(f"{address}#/TR")
    hero = page.get_by_role("img", name="Flag of Türkiye")
    expect(hero).to_be_visible()
    page.wait_for_function("() => document.querySelector('.hero img').naturalWidth > 0")
    expect(page.locator("#list img[alt='']").first).to_be_visible()
    expect(page.locator("#list img")).to_have_count(249)
    assert 0 < len(flags) < 200
    page.goto(f"{address}#/SU")
    expect(page.locator(".hero svg.flag.none")).to_have_text("SU")
    named = re.findall(r"\b[A-Z]{2}\b", (PAGES / "js" / "flag.js").read_text().partition(".split")[0])
    assert sorted(named) == sorted(file.stem for file in (PAGES / "flags").glob("*.svg"))
    assert "MIT" in (PAGES / "flags" / "LICENSE").read_text()


def test_what_cannot_be_read_is_said_and_read_again(open_page: OpenPage, address: str) -> None:
    page = open_page()
    for path in ("**/api/countries.json", "**/api/countries/NO/history?*"):
        page.route(path, lambda route: route.fulfill(status=503, json=UNAVAILABLE))
    page.goto(f"{address}#/NO")
    expect(page.get_by_role("alert")).to_have_count(2)
    expect(page.locator("#list")).to_contain_text("The list cannot be read")
    expect(page.locator("#content")).to_contain_text("The service is in trouble right now.")
    page.unroute_all()
    page.locator("#list").get_by_role("button", name="Try again").click()
    expect(page.locator("#list a")).to_have_count(249)
    page.locator("#content").get_by_role("button", name="Try again").click()
    title(page, "Norway")

    # without a network the content stays, and the page reconnects automatically
    for path in ("**/api/**", "**/healthz"):
        page.route(path, lambda route: route.abort("connectionrefused"))
    page.locator("#list a[data-code=SE]").click()
    expect(page.locator("#content").get_by_role("alert")).to_contain_text("The server cannot be reached.")
    expect(page.locator(".connection-bar")).to_contain_text("Connection lost.")
    expect(page.locator("#list a")).to_have_count(249)
    page.unroute_all()
    title(page, "Sweden")
    expect(page.locator(".connection-bar")).to_be_empty()


def test_who_is_not_known_any_more_signs_in_and_has_saved(
    open_page: OpenPage, server: Server, address: str, made: Made
) -> None:
    made("QS", "981")
    page = as_operator(open_page(), server, f"{address}#/QS")
    name = page.get_by_label("Name", exact=True)
    name.fill("Typed with care")
    page.evaluate("sessionStorage.setItem('partita-token', 'rubbish')")
    page.get_by_role("button", name="Save version").click()
    page.get_by_role("button", name="Sign in again").click()
    again = page.get_by_role("dialog", name="Sign in again")
    again.get_by_text("Use a token").click()
    again.get_by_role("textbox", name="Token").fill(server.token("ada", "operator"))
    again.get_by_role("button", name="Use token").click()
    title(page, "Typed with care")
    assert versions_of(server, "QS") == ["Typed with care", "First"]


MINE, THEIRS = "עולם", "שלום"


def test_two_tabs_keep_each_others_words(open_page: OpenPage, server: Server, address: str, made: Made) -> None:
    made("QU", "982")
    page = as_operator(open_page(), server, f"{address}#/QU")
    title(page, "First")
    other = page.context.new_page()
    as_operator(other, server, f"{address}#/QU")
    page.get_by_label("Name", exact=True).fill(MINE)
    page.locator("#list a[data-code=NO]").click()
    title(page, "Norway")
    page.go_back()
    title(page, "First")
    expect(page.get_by_label("Name", exact=True)).to_have_value(MINE)
    places = page.locator("#list")
    places.evaluate("list => { list.scrollTop = 1000; }")
    other.get_by_label("Name", exact=True).fill(THEIRS)
    other.get_by_role("button", name="Save version").click()
    title(page, THEIRS)  # reported by the other tab; the text typed here stays
    expect(page.get_by_label("Name", exact=True)).to_have_value(MINE)
    expect(places.locator("[data-code=QU]")).to_contain_text(THEIRS)
    assert places.evaluate("list => list.scrollTop") == 1000  # read again, and still where it was
    page.get_by_label("Search by name or code").fill("an")
    assert places.evaluate("list => list.scrollTop") == 0  # the best matches
    page.get_by_label("Search by name or code").fill("")
    expect(places.locator("[data-code=QU]")).to_be_in_viewport()
    page.get_by_role("button", name="Save version").click()
    expect(page.get_by_role("alert").filter(has_text="changed elsewhere while you were writing")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value(MINE)
    page.get_by_role("button", name="Save version").click()
    title(page, MINE)
    title(other, MINE)
    assert versions_of(server, "QU") == [MINE, THEIRS, "First"]
    diff = page.locator(".versions > li").first.locator(".diff")
    before, after = (diff.locator(each).evaluate("each => each.getBoundingClientRect().x") for each in ("del", "ins"))
    assert before < after  # from left to right, although both names are from right to left


def test_lost_answers_and_double_clicks_make_one_version(
    open_page: OpenPage, server: Server, address: str, made: Made
) -> None:
    made("QV", "983")
    page = as_operator(open_page(), server, f"{address}#/QV")
    sent: list[str] = []

    def lose(route: Route) -> None:
        if route.request.method != "PUT":
            return route.continue_()
        sent.append(route.request.headers["idempotency-key"])
        route.fetch()  # the version is written, and its response is lost
        return route.abort("connectionreset")

    page.route("**/api/countries/QV?*", lose)
    page.get_by_label("Name", exact=True).fill("Second")
    page.get_by_role("button", name="Save version").dblclick()
    expect(page.get_by_role("alert").filter(has_text="cannot be reached")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Second")
    assert len(set(sent)) == 1
    page.unroute_all()
    page.get_by_role("button", name="Save version").click()
    expect(page.locator(".toast .text").last).to_have_text("The new version is saved.")
    title(page, "Second")
    assert versions_of(server, "QV") == ["Second", "First"]


def version(number: int) -> dict[str, Any]:
    day = f"{2000 + number // 336:04}-{number // 28 % 12 + 1:02}-{number % 28 + 1:02}T00:00:00Z"
    data = {"alpha2Code": "NO", "alpha3Code": "NOR", "numericCode": "578", "name": f"Norway {number}"}
    return data | {
        "versionNumber": number,
        "isDeleted": False,
        "createDate": day,
        "expiryDate": None,
        "change": "changed",
    }


def test_of_thousands_of_versions_those_near_the_screen_are_drawn(open_page: OpenPage, address: str) -> None:
    versions = [version(number) for number in range(5000, 0, -1)]
    asked: list[str] = []

    def answer(route: Route) -> None:
        url = urlsplit(route.request.url)
        wanted = parse_qs(url.query)
        asked.append(url.path)
        start = int(wanted.get("cursor", ["0"])[0])
        end = start + int(wanted.get("limit", ["1"])[0])
        more = str(end) if end < len(versions) else None
        one = versions[0] if "as_of" not in wanted else versions[-7]
        listed = {"items": versions[start:end], "next_cursor": more, "position": None}
        route.fulfill(json=listed if url.path.endswith(("history", "changes")) else one)

    page = open_page()
    for path in ("**/api/countries/NO?*", "**/api/countries/NO/history?*", "**/api/changes?*"):
        page.route(path, answer)
    page.route("**/compare/*", lambda route: route.fulfill(json={"changes": []}))
    page.goto(f"{address}#/NO")
    expect(page.locator(".versions > li").first).to_contain_text("Norway 5000")
    assert len([path for path in asked if path.endswith("history")]) <= 2  # one page, and the next one near the screen
    page.get_by_label("Day", exact=True).fill("2000-01-08")  # much earlier than the versions read so far
    expect(page.locator(".answer strong")).to_have_text("Norway 7")
    page.wait_for_function(SCROLL_TO_THE_END, arg=[".versions > li:not(.spacer)", "Norway 4400"])
    assert page.locator(".versions > li").count() < 250
    page.goto(f"{address}#/changes")
    expect(page.locator(".latest li").first).to_contain_text("Norway 5000 changed")
    page.wait_for_function(SCROLL_TO_THE_END, arg=[".latest li:not(.spacer)", "Norway 4400"])
    assert page.locator(".latest li").count() < 250


def test_a_server_that_was_killed_comes_back(open_page: OpenPage, tmp_path_factory: pytest.TempPathFactory) -> None:
    data = tmp_path_factory.mktemp("killed")
    page = open_page()
    with serving("countries", data) as first:
        page.goto(f"{first.url}/countries/#/NO")
        title(page, "Norway")
        expect(page.locator("#list a")).to_have_count(249)
        port = first.url.rpartition(":")[2]
    page.locator("#list a[data-code=SE]").click()
    expect(page.locator("#content").get_by_role("alert")).to_contain_text("The server cannot be reached.")
    expect(page.locator(".connection-bar")).to_contain_text("Connection lost.")
    with serving("countries", data, "--port", port):
        title(page, "Sweden")
        expect(page.locator(".connection-bar")).to_be_empty()
