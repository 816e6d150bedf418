"""The countries page in a real browser: find, edit, look back; with the keyboard, on a phone, without other hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import Server, in_both_schemes
from tests.browser.held import Held

OpenPage = Callable[..., Page]


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("countries")


@pytest.fixture
def address(server: Server) -> str:
    return f"{server.url}/countries/"


def sign_in(page: Page, server: Server) -> None:
    page.get_by_role("button", name="Sign in", exact=True).click()
    dialog = page.get_by_role("dialog", name="Sign in as an operator")
    dialog.get_by_text("Use a token").click()
    dialog.get_by_role("textbox", name="Token").fill(server.token("ada", "operator"))
    dialog.get_by_role("button", name="Use token").click()
    expect(dialog).to_be_hidden()


@pytest.mark.req("R09")
def test_find_a_country_edit_it_and_look_back(open_page: OpenPage, server: Server, address: str) -> None:
    """It edits a country that no other test reads, because the tests share the server."""
    page = open_page()
    page.goto(address)
    page.get_by_label("Search by name or code").fill("eswat")
    expect(page.locator("#list a")).to_have_count(1)
    page.get_by_label("Search by name or code").fill("ESWA")
    page.get_by_label("Search by name or code").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Eswatini")
    expect(page.locator(".versions > li")).to_have_count(2)

    sign_in(page, server)
    page.get_by_label("Name", exact=True).fill("Kingdom of Eswatini")
    page.get_by_role("button", name="Save version").click()
    expect(page.get_by_text("The new version is saved.")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Kingdom of Eswatini")
    expect(page.locator(".versions > li")).to_have_count(3)
    expect(page.locator(".versions > li").first).to_contain_text("Name Eswatini → Kingdom of Eswatini")

    slider = page.get_by_label("Move through time")
    slider.focus()
    slider.press("Home")
    expect(page.locator(".answer")).to_contain_text("On 1 January 1974")
    expect(page.locator(".answer strong")).to_have_text("Swaziland")
    expect(page.locator(".versions > li").last).to_have_class("chosen")
    page.get_by_role("button", name="Next version").click()
    expect(page.locator(".answer strong")).to_have_text("Eswatini")
    slider.press("End")
    expect(page.locator(".answer strong")).to_have_text("Kingdom of Eswatini")


@pytest.mark.req("R09")
def test_any_day_can_be_chosen(open_page: OpenPage, address: str) -> None:
    page = open_page()
    page.goto(f"{address}#/CS")
    for chosen, said in (
        ("1985-03-14", "Czechoslovakia, Czechoslovak Socialist Republic"),
        ("1999-12-31", "No country had the code CS"),
        ("2005-06-30", "Serbia and Montenegro"),
    ):
        page.get_by_label("Day").fill(chosen)
        expect(page.locator(".answer strong")).to_have_text(said)


@pytest.mark.req("R09")
def test_the_list_is_walked_with_the_keyboard_alone(open_page: OpenPage, address: str) -> None:
    page = open_page()
    page.goto(address)
    expect(page.locator("#found")).to_have_text("249 countries")
    page.keyboard.press("/")
    page.keyboard.type("united")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("United Kingdom")
    expect(page.locator("#list a[aria-current=page]")).to_contain_text("United Kingdom")
    expect(page.locator("#content")).to_be_focused()


@pytest.mark.req("R09")
def test_a_withdrawn_code_is_found_in_history(open_page: OpenPage, address: str) -> None:
    page = open_page()
    page.goto(address)
    page.get_by_label("Search by name or code").fill("su")
    page.get_by_role("link", name="Look up SU").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("USSR, Union of Soviet Socialist Republics")
    expect(page.locator(".chip")).to_have_text("Withdrawn")


@pytest.mark.req("R09")
def test_a_country_is_created_deleted_and_restored(open_page: OpenPage, server: Server, address: str) -> None:
    page = open_page()
    page.goto(f"{address}#/QZ")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no country QZ")
    sign_in(page, server)
    page.get_by_label("Name", exact=True).fill("Quizland")
    page.get_by_label("Alpha-3").fill("qzl")
    page.get_by_label("Numeric").fill("999")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Quizland")
    page.get_by_role("button", name="Withdraw", exact=True).click()
    asks = page.get_by_role("dialog", name="Withdraw Quizland?")
    expect(asks.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Enter")
    expect(asks).to_be_hidden()
    expect(page.locator(".versions > li")).to_have_count(1)
    for _ in range(2):
        page.get_by_role("button", name="Withdraw", exact=True).click()
        asks.get_by_role("button", name="Withdraw", exact=True).click()
        expect(page.locator(".chip")).to_have_text("Withdrawn")
        page.get_by_role("button", name="Undo").last.click()
        expect(page.locator(".chip")).to_have_text("Current")
    expect(page.locator(".versions > li")).to_have_count(5)
    page.get_by_role("button", name="Withdraw", exact=True).click()
    asks.get_by_role("button", name="Withdraw", exact=True).click()
    expect(page.get_by_role("button", name="Restore")).to_be_focused()  # at the place of the button that is gone
    page.get_by_role("button", name="Restore").click()
    expect(page.locator(".versions > li")).to_have_count(7)
    expect(page.locator(".chip")).to_have_text("Current")
    page.get_by_role("button", name="Withdraw", exact=True).click()
    asks.get_by_role("button", name="Withdraw", exact=True).click()
    expect(page.locator(".versions > li")).to_have_count(8)


class Operator:
    """Writes versions of countries through the API."""

    def __init__(self, server: Server) -> None:
        headers = {"Authorization": f"Bearer {server.token('ada', 'operator')}"}
        self.api = httpx.Client(base_url=f"{server.url}/countries/api/countries/", headers=headers)
        self.current: set[str] = set()

    def write(self, alpha2: str, name: str, alpha3: str, numeric: str) -> None:
        self.current.add(alpha2)
        data = {"name": name, "alpha3Code": alpha3, "numericCode": numeric}
        self.api.put(alpha2, json=data).raise_for_status()

    def delete(self, alpha2: str) -> None:
        self.current.discard(alpha2)
        self.api.delete(alpha2).raise_for_status()

    def restore(self, alpha2: str) -> None:
        self.current.add(alpha2)
        self.api.post(f"{alpha2}/restore").raise_for_status()


@pytest.fixture
def operator(server: Server) -> Iterator[Operator]:
    """An operator whose countries are deleted at the end, because other tests count the current ones."""
    operator = Operator(server)
    with operator.api:
        yield operator
        for alpha2 in tuple(operator.current):
            operator.delete(alpha2)


def choose(page: Page, version: int, *, said: str) -> None:
    """Click a version, counted from 1, and check that only it is marked, and that the answer shows it."""
    versions = page.locator(".versions > li")
    chosen = versions.filter(has_text=f"Version {version},")
    chosen.get_by_role("button").click()
    expect(page.locator(".answer strong")).to_have_text(said)
    expect(chosen).to_contain_class("chosen")
    expect(page.locator(".versions > .chosen")).to_have_count(1)


@pytest.mark.req("R09")
def test_each_version_of_an_operator_is_shown_when_it_is_chosen(
    open_page: OpenPage, operator: Operator, address: str
) -> None:
    operator.write("QM", "First", "QMA", "991")
    operator.write("QM", "Second", "QMA", "991")
    operator.delete("QM")
    operator.restore("QM")
    operator.write("QM", "Fifth", "QMA", "991")
    page = open_page()
    page.goto(f"{address}#/QM")
    expect(page.locator(".answer strong")).to_have_text("Fifth")
    said = {1: "First", 2: "Second", 3: "No country had the code QM", 4: "Second", 5: "Fifth"}
    for version in (5, 4, 3, 2, 1):
        choose(page, version, said=said[version])
    for version in (2, 3, 4, 5):
        page.get_by_role("button", name="Next version").click()
        expect(page.locator(".answer strong")).to_have_text(said[version])
    expect(page.get_by_role("button", name="Next version")).to_be_disabled()


def version(number: int, name: str, begin: str, end: str | None, *, deleted: bool = False) -> dict[str, Any]:
    data = {"alpha2Code": "QN", "alpha3Code": "QNA", "numericCode": "992", "name": name}
    return data | {"versionNumber": number, "isDeleted": deleted, "createDate": begin, "expiryDate": end}


@pytest.mark.req("R09")
def test_versions_of_one_millisecond_are_told_apart(open_page: OpenPage, address: str) -> None:
    a, b, c, d = (f"2026-01-05T12:00:00.558{micros}Z" for micros in ("000", "001", "829", "830"))
    versions = [
        version(1, "First", a, b),
        version(2, "Second", b, c),
        version(3, "Second", c, d, deleted=True),
        version(4, "Fourth", d, None),
    ]

    def answer(route: Route) -> None:
        asked = urlsplit(route.request.url)
        as_of = parse_qs(asked.query).get("as_of", ["9"])[0]
        if asked.path.endswith("/history"):
            route.fulfill(json={"items": versions[::-1], "next_cursor": None})
        elif held := next((v for v in reversed(versions) if v["createDate"] <= as_of and not v["isDeleted"]), None):
            route.fulfill(json=held)
        else:
            route.fulfill(status=404, json={"detail": "No country has the code QN."})

    page = open_page()
    page.route("**/api/countries/QN*", answer)
    page.route("**/api/countries/QN/**", answer)
    page.goto(f"{address}#/QN")
    for number, said in ((4, "Fourth"), (3, "No country had the code QN"), (2, "Second"), (1, "First")):
        choose(page, number, said=said)
    slider = page.get_by_label("Move through time")
    slider.press("ArrowRight")
    expect(page.locator(".answer")).to_contain_text("On 6 January 2026")
    expect(page.locator(".answer strong")).to_have_text("Fourth")
    slider.press("Home")
    expect(page.locator(".answer strong")).to_have_text("First")


@pytest.mark.req("R09")
def test_an_instant_that_cannot_be_asked_for_is_said(open_page: OpenPage, operator: Operator, address: str) -> None:
    page = open_page()
    page.goto(f"{address}#/NU")
    answer = page.locator(".answer strong")
    expect(answer).to_have_text("Niue")
    slider = page.get_by_label("Move through time")
    for name in ("Niue, as changed", "Niue"):
        data = {"name": name, "alpha3Code": "NIU", "numericCode": "570"}
        operator.api.put("NU", json=data).raise_for_status()
        slider.press("Home")
        expect(page.locator(".answer")).to_contain_text("On 1 January 1974")
        expect(answer).to_have_text("Niue")
        slider.press("End")
        expect(answer).to_have_text("The country was changed in the meantime")
        page.get_by_role("button", name="Show the newest").click()
        expect(answer).to_have_text(name)
    page.route("**/api/countries/NU?*", lambda route: route.abort())
    slider.press("Home")
    expect(page.locator(".answer")).to_contain_text("The country cannot be readThe server cannot be reached.")
    page.unroute("**/api/countries/NU?*")
    page.get_by_role("button", name="Try again").click()
    expect(answer).to_have_text("Niue")


@pytest.mark.req("R09")
def test_a_name_that_folds_to_nothing_is_listed_by_its_code(
    open_page: OpenPage, operator: Operator, address: str
) -> None:
    operator.write("QP", "\u0301", "QPA", "994")
    page = open_page()
    page.goto(address)
    expect(page.locator("#found")).to_have_text("250 countries")
    expect(page.locator("#list a")).to_have_count(250)
    letters = page.locator("#list h2").all_text_contents()
    assert letters == sorted(set(letters))
    expect(page.locator("#list .letter:has-text('Q') + li a")).to_contain_text("QP")


@pytest.mark.req("R09")
def test_what_the_service_refuses_is_said_on_the_page(open_page: OpenPage, server: Server, address: str) -> None:
    page = open_page()
    page.goto(f"{address}#/FR")
    sign_in(page, server)
    page.get_by_label("Alpha-3").fill("DEU")
    page.get_by_role("button", name="Save version").click()
    expect(page.get_by_text("Another country has DEU.")).to_be_visible()
    expect(page.get_by_label("Alpha-3")).to_be_focused()
    expect(page.locator(".versions > li")).to_have_count(1)


@pytest.mark.req("R09")
def test_nothing_is_loaded_from_outside(open_page: OpenPage, server: Server, address: str) -> None:
    page = open_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}#/NO")
    expect(page.get_by_role("heading", level=1)).to_have_text("Norway")
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(server.url).netloc}


@pytest.mark.req("R09")
@pytest.mark.parametrize("code", ["", "#/MK", "#/CS"])
def test_it_fits_a_phone(open_page: OpenPage, address: str, code: str) -> None:
    page = open_page(390, 844, dark=True)
    page.goto(address + code)
    expect(page.locator(".versions > li" if code else "#list a").first).to_be_visible()
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    if code:
        page.get_by_role("link", name="All countries").click()
        expect(page.locator("#list a").first).to_be_visible()


@pytest.mark.req("R09")
def test_every_control_has_a_name(open_page: OpenPage, server: Server, address: str) -> None:
    page = open_page()
    page.goto(f"{address}#/SE")
    sign_in(page, server)
    nameless = page.locator("input, button, a").evaluate_all(
        "all => all.filter(c => !(c.labels?.length || c.textContent.trim() || c.ariaLabel)).map(c => c.outerHTML)"
    )
    assert nameless == []


@pytest.mark.req("R09")
def test_text_can_be_read_in_light_and_dark(open_page: OpenPage, address: str) -> None:
    page = open_page()
    page.goto(f"{address}#/SE")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sweden")
    assert {scheme: page.evaluate(CONTRAST) for scheme in in_both_schemes(page)} == {"light": [], "dark": []}


@pytest.mark.req("R13", "R12")
def test_former_names_and_withdrawn_countries_are_found(open_page: OpenPage, address: str) -> None:
    page = open_page()
    page.goto(address)
    search = page.get_by_label("Search by name or code")
    for text, name, now in (
        ("turkey", "Turkey", "now "),
        ("burma", "Burma, Socialist Republic of the Union of", "withdrawn"),
        ("soviet", "USSR, Union of Soviet Socialist Republics", "withdrawn"),
    ):
        search.fill(text)
        found = page.locator(".former a").filter(has_text=name)
        expect(found).to_contain_text(name)
        expect(found).to_contain_text(now)
    page.locator(".former a").last.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("USSR, Union of Soviet Socialist Republics")
    page.goto(address)
    search.fill("")
    page.get_by_label("List", exact=True).select_option("Withdrawn")
    expect(page.locator("#list")).to_contain_text("Yugoslavia")
    expect(page.locator("#list")).not_to_contain_text("Sweden")


@pytest.mark.req("R14")
def test_the_list_of_a_day_is_shown(open_page: OpenPage, address: str) -> None:
    page = open_page()
    page.goto(address)
    page.get_by_label("List", exact=True).select_option("As of a day")
    page.get_by_label("Date of the list").fill("1985-06-01")
    expect(page.locator("#list")).to_contain_text("USSR, Union of Soviet Socialist Republics")
    expect(page.locator("#list")).not_to_contain_text("Croatia")


@pytest.mark.req("R09", "X17")
def test_a_list_that_comes_late_does_not_replace_the_chosen_one(open_page: OpenPage, address: str) -> None:
    page = open_page()
    late = Held(page, "**/api/countries.json")
    page.goto(address)
    page.get_by_label("List", exact=True).select_option("Withdrawn")
    expect(page.locator("#list")).to_contain_text("Burma")
    with page.expect_response("**/api/countries.json"):
        late.release()
    page.get_by_label("Search by name or code").fill("bu")
    expect(page.locator("#list")).to_contain_text("Burma")
    expect(page.locator("#list")).not_to_contain_text("Look up BU")


@pytest.mark.req("R11", "R15")
def test_versions_say_who_and_why_and_are_compared(open_page: OpenPage, server: Server, address: str) -> None:
    page = open_page()
    page.goto(f"{address}#/RO")
    expect(page.locator(".versions > li").first).to_contain_text("Written by ISO 3166-1: Changed in the standard")
    expect(page.locator(".differences")).to_contain_text("ROM")
    expect(page.locator(".differences")).to_contain_text("ROU")
    page.get_by_label("Before").select_option("2")
    expect(page.locator(".compare")).to_contain_text("These versions have the same content.")
    sign_in(page, server)
    page.get_by_label("Name", exact=True).fill("Romania, again")
    page.get_by_label("Reason").fill("to see it")
    page.get_by_role("button", name="Save version").click()
    expect(page.locator(".versions > li").first).to_contain_text("Written by ada: to see it")
    page.get_by_label("Name", exact=True).fill("Romania")
    page.get_by_role("button", name="Save version").click()
    expect(page.locator(".versions > li")).to_have_count(4)


@pytest.mark.req("R16", "R17")
def test_a_list_is_imported_and_its_changes_are_the_latest(
    open_page: OpenPage, server: Server, address: str, operator: Operator
) -> None:
    operator.write("QR", "Imported", "QRA", "995")
    page = open_page()
    page.goto(f"{address}#/import")
    sign_in(page, server)
    table = "alpha2Code,alpha3Code,numericCode,name\nQR,QRA,995,Imported again\n"
    page.get_by_label("CSV file").set_input_files(
        {"name": "list.csv", "mimeType": "text/csv", "buffer": table.encode()}
    )
    page.get_by_label("Reason").fill("a better list")
    page.get_by_role("button", name="Show changes").click()
    expect(page.locator(".proposals")).to_contain_text("QR changed Imported again")
    expect(page.locator(".proposals li")).to_have_count(1)
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("Imported.", exact=True)).to_be_visible()
    expect(page.get_by_text("The list changed 1 country:")).to_be_visible()
    page.goto(address)
    expect(page.locator(".latest li").first).to_contain_text("Imported again changed")
    expect(page.locator(".latest li").first).to_contain_text("Written by ada: a better list")


CONTRAST = """() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = rgb(getComputedStyle(e).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility()
    && [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())
    && !e.closest(":disabled, .flag, .skip"));
  return texts.filter((e) => {
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05) < 4.5;
  }).map((e) => e.outerHTML.slice(0, 80));
}"""
"""Finds the texts whose contrast is below 4.5 to 1 by the formula of WCAG 2."""
