"""Accounts in trouble: late and lost responses, double clicks, an expired token, two tabs, thousands of entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect
from tests.browser.conftest import Server
from tests.browser.streams import END_STREAMS, end_streams, forget_token
from tests.browser.test_accounts import api, opened
from tests.browser.test_axe import violations
from tests.browser.test_countries_trouble import SCROLL_TO_THE_END, UNAVAILABLE

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("A16", "X17")


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("accounts")


def open_as(page: Page, server: Server, user: str, at: str = "") -> Page:
    """Open the page as a signed-in user. The token is set only once, so that a later sign-in or sign-out lasts."""
    keep = f"sessionStorage.setItem('partita-token', '{server.token(user)}')"
    page.add_init_script(f"if (!sessionStorage.getItem('asked')) {keep}; sessionStorage.setItem('asked', 'once')")
    page.goto(f"{server.url}/accounts/{at}")
    return page


def balance(page: Page) -> Locator:
    return page.get_by_label("Balance", exact=True)


def entries(server: Server, user: str, pk: str) -> list[int]:
    with api(server, user) as client:
        return [entry["amount"] for entry in client.get(f"/accounts/{pk}/entries").json()["items"]]


def sign_in_again(page: Page, server: Server, user: str) -> None:
    again = page.get_by_role("dialog", name="Sign in again")
    again.get_by_text("Use a token").click()
    again.get_by_role("textbox", name="Token").fill(server.token(user))
    again.get_by_role("button", name="Use token").click()
    expect(again).to_be_hidden()


def test_a_transfer_is_made_once_however_often_it_is_pressed(open_page: OpenPage, server: Server) -> None:
    opened(server, "pia", "pia-1")
    opened(server, "pia", "pia-2", 0)
    page = open_as(open_page(), server, "pia", "#/pia-1")
    page.get_by_label("To account").fill("pia-2")
    page.get_by_label("Amount").fill("12.50")
    keys: set[str] = set()

    def lose(route: Route) -> None:
        keys.add(route.request.headers["idempotency-key"])
        route.fetch()  # the transfer is made, and its response is lost
        route.abort("connectionreset")

    page.route("**/api/transfers", lose)
    page.get_by_role("button", name="Move money").dblclick()
    expect(
        page.get_by_role("alert").filter(has_text="If you press again, the money still moves only once.")
    ).to_be_visible()
    page.get_by_role("button", name="Move money").click()
    expect(
        page.get_by_role("alert").filter(has_text="If you press again, the money still moves only once.")
    ).to_be_visible()
    expect(page.get_by_label("Amount")).to_have_value("12.50")
    page.unroute("**/api/transfers")
    page.get_by_role("button", name="Move money").click()
    expect(page.locator(".toast .text").last).to_have_text("Transferred 12.50.")
    expect(balance(page)).to_have_text("87.50")
    expect(page.get_by_label("Amount")).to_have_value("")
    assert len(keys) == 1
    assert entries(server, "pia", "pia-1") == [-1250, 10_000]

    # an error is shown next to the field that has to change
    page.get_by_label("To account").fill("nobody-1")
    page.get_by_label("Amount").fill("1")
    page.get_by_role("button", name="Move money").click()
    expect(page.get_by_text("There is no account nobody-1.")).to_be_visible()
    expect(page.get_by_label("To account")).to_be_focused()


def test_who_is_not_known_any_more_signs_in_over_the_statement(open_page: OpenPage, server: Server) -> None:
    page = open_as(open_page(), server, "demo", "#/acc-1001")
    months = page.get_by_label("Month")
    rows = page.locator(".entries tbody tr")
    expect(rows.first).to_be_visible()
    before, shown = rows.all_inner_texts(), months.input_value()
    page.evaluate("sessionStorage.setItem('partita-token', 'rubbish')")

    # the statement of another month: the current one stays
    months.select_option(index=1)
    expect(page.locator(".toast.wrong")).to_contain_text("The statement was not read.")
    assert rows.all_inner_texts() == before
    expect(months).to_have_value(shown)
    page.get_by_role("button", name="Sign in", exact=True).click()
    sign_in_again(page, server, "demo")
    expect(months).not_to_have_value(shown)
    expect(page.locator(".entries caption")).not_to_be_empty()

    # a deposit: the typed amount stays, and is sent after the sign-in
    page.goto(f"{server.url}/accounts/#/acc-1009")
    expect(page.get_by_role("heading", level=1)).to_have_text("Bicycle fund")
    page.evaluate("sessionStorage.setItem('partita-token', 'rubbish')")
    page.get_by_role("radio", name="Deposit").check()
    page.get_by_label("Amount").fill("1")
    page.get_by_role("button", name="Move money").click()
    page.get_by_role("button", name="Sign in again").click()
    sign_in_again(page, server, "demo")
    expect(page.locator(".toast .text").last).to_have_text("Deposited 1.00.")
    page.get_by_role("radio", name="Withdraw").check()
    page.get_by_label("Amount").fill("1")
    page.get_by_role("button", name="Move money").click()
    expect(balance(page)).to_have_text("191.50")


def test_after_a_new_sign_in_the_stream_goes_on_with_what_was_missed(open_page: OpenPage, server: Server) -> None:
    opened(server, "nia", "nia-1")
    page = open_page()
    page.add_init_script(END_STREAMS)
    open_as(page, server, "nia", "#/nia-1")
    expect(balance(page)).to_have_text("100.00")
    end_streams(page, 1, lambda: forget_token(page))
    expect(page.locator(".toast.wrong")).to_contain_text("What you see may be out of date.")
    with api(server, "nia") as client:
        client.post("/accounts/nia-1/deposit", json={"amount": 100}).raise_for_status()
    page.get_by_role("button", name="Sign in", exact=True).click()
    sign_in_again(page, server, "nia")
    expect(balance(page)).to_have_text("101.00")
    expect(page.locator(".toast.wrong")).to_have_count(0)
    with api(server, "nia") as client:
        client.post("/accounts/nia-1/deposit", json={"amount": 200}).raise_for_status()
    expect(balance(page)).to_have_text("103.00")


def test_two_tabs_see_each_others_changes_and_keep_their_words(open_page: OpenPage, server: Server) -> None:
    opened(server, "rita", "rita-1")
    page = open_as(open_page(), server, "rita", "#/rita-1")
    expect(balance(page)).to_have_text("100.00")
    other = page.context.new_page()
    open_as(other, server, "rita", "#/rita-1")
    settings = page.locator(".panel").filter(has=page.get_by_role("heading", name="Settings"))
    settings.get_by_label("Name").fill("Mine")

    # money that moved meanwhile, here or elsewhere, does not conflict with a new name
    other.get_by_role("radio", name="Deposit").check()
    other.get_by_label("Amount").fill("5")
    other.get_by_role("button", name="Move money").click()
    expect(balance(page)).to_have_text("105.00")
    expect(page.locator(".entries tbody tr")).to_have_count(2)
    with api(server, "rita") as client:
        client.post("/accounts/rita-1/deposit", json={"amount": 100}).raise_for_status()
    settings.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Mine")
    expect(balance(page)).to_have_text("106.00")

    # another new name does
    expect(other.get_by_role("heading", level=1)).to_have_text("Mine")
    settings.get_by_label("Name").fill("Mine again")
    theirs = other.locator(".panel").filter(has=other.get_by_role("heading", name="Settings"))
    theirs.get_by_label("Name").fill("Theirs")
    theirs.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Theirs")
    settings.get_by_role("button", name="Rename").click()
    expect(settings.get_by_role("alert")).to_contain_text("renamed elsewhere, to “Theirs”")
    assert violations(page) == {}
    expect(settings.get_by_label("Name")).to_have_value("Mine again")
    settings.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Mine again")


def test_late_answers_do_not_replace_what_is_chosen(open_page: OpenPage, server: Server) -> None:
    page = open_as(open_page(), server, "demo", "#/acc-1001")
    months = page.get_by_label("Month")
    expect(page.locator(".entries tbody tr").first).to_be_visible()
    names = months.locator("option").all_inner_texts()
    values: list[str] = months.locator("option").evaluate_all("all => all.map((each) => each.value)")
    late: list[Route] = []

    def hold(route: Route) -> None:
        late.append(route)

    # a late statement of another month
    page.route(f"**/entries?month={values[1]}*", hold)
    with page.expect_request(f"**/entries?month={values[1]}*"):
        months.select_option(values[1])
    expect(page.locator(".place[aria-busy]")).to_be_visible()
    months.select_option(values[2])
    expect(page.locator(".entries caption")).to_have_text(f"Entries of {names[2]}")
    with page.expect_response(f"**/entries?month={values[1]}*"):
        late[0].continue_()
    page.unroute_all()
    months.select_option(values[0])
    expect(page.locator(".entries caption")).to_have_text(f"Entries of {names[0]}")
    page.go_back()
    expect(page.locator(".entries caption")).to_have_text(f"Entries of {names[2]}")

    # a late response for another account
    page.route("**/api/accounts/acc-1004?*", hold)
    with page.expect_request("**/api/accounts/acc-1004?*"):
        page.get_by_role("link", name="Household").click()
    expect(page.locator("#content .skeleton")).to_be_visible()
    page.get_by_role("link", name="Bicycle fund").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Bicycle fund")
    with page.expect_response("**/api/accounts/acc-1004?*"):
        late[1].continue_()
    page.get_by_role("link", name="Empty so far").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Empty so far")
    expect(page.get_by_text("No money has moved yet.")).to_be_visible()


def test_what_cannot_be_read_is_said_and_read_again(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    for path in ("**/api/accounts?*", "**/statements", "**/versions?*", "**/grants?*"):
        page.route(path, lambda route: route.fulfill(status=503, json=UNAVAILABLE))
    open_as(page, server, "demo", "#/acc-1001")
    said = (
        "The accounts cannot be read",
        "The statement cannot be read",
        "The versions cannot be read",
        "The users cannot be read",
    )
    for text in said:
        expect(page.get_by_role("heading", name=text)).to_be_visible()
    page.unroute_all()
    for _ in said:
        page.get_by_role("button", name="Try again").first.click()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    expect(page.locator(".entries tbody tr").first).to_be_visible()
    expect(page.get_by_role("link", name="Bicycle fund")).to_be_visible()

    # without a network the balance does not change, and the page reconnects automatically
    for path in ("**/api/**", "**/healthz"):
        page.route(path, lambda route: route.abort("connectionrefused"))
    expect(balance(page)).to_have_text("200.00")
    page.get_by_role("radio", name="Deposit").check()
    page.get_by_label("Amount").fill("1")
    page.get_by_role("button", name="Move money").click()
    expect(page.get_by_role("alert").filter(has_text="The server cannot be reached.")).to_be_visible()
    expect(page.locator(".connection-bar")).to_contain_text("Connection lost.")
    expect(balance(page)).to_have_text("200.00")
    page.unroute_all()
    expect(page.locator(".connection-bar")).to_be_empty()
    expect(page.get_by_label("Amount")).to_have_value("1")


def pretend(page: Page, number: int) -> None:
    """Replace the API with a fake that has this number of accounts, entries in a month, versions and grants."""

    def entry(at: int) -> dict[str, Any]:
        some = {"entry_id": f"{at:06}", "account": "many", "at": "2026-05-01T00:00:00Z", "kind": "deposit", "amount": 1}
        return some | {"by": None, "counterpart": None, "memo": f"Entry {at:04}"}

    def version(at: int) -> dict[str, Any]:
        return {**accounts[0], "name": f"Name {at:04}", "last_write": at, "by": "m"}

    accounts = [
        {"pk": f"many-{at:04}", "name": f"Account {at:04}", "balance": at, "owner": "m"} for at in range(number)
    ]

    def paged(items: list[dict[str, Any]]) -> Callable[[Route], None]:
        def answer(route: Route) -> None:
            start = int(parse_qs(urlsplit(route.request.url).query).get("cursor", ["0"])[0])
            more = str(start + 100) if start + 100 < len(items) else None
            route.fulfill(json={"items": items[start : start + 100], "next_cursor": more})

        return answer

    month = {"month": "2026-05", "opening": 0, "received": number, "spent": 0, "closing": number, "entries": number}
    page.route("**/api/accounts?*", paged(accounts))
    page.route("**/api/accounts?shared=*", paged([]))
    many = accounts[0] | {"last_write": 1, "access": "own"}
    page.route("**/api/accounts/many-0000?*", lambda route: route.fulfill(json=many))
    page.route("**/statements", lambda route: route.fulfill(json={"items": [month]}))
    page.route("**/entries?*", paged([entry(at) for at in range(number)]))
    page.route("**/versions?*", paged([version(at) for at in range(number)]))
    page.route("**/grants?*", paged([{"user_id": f"user-{at:04}", "access": "view"} for at in range(number)]))


def test_of_thousands_those_near_the_screen_are_drawn(open_page: OpenPage, server: Server) -> None:
    page = open_page()
    pretend(page, 5000)
    open_as(page, server, "many", "#/many-0000")
    rows = ".entries tbody tr:not(.spacer)"
    expect(page.locator(rows).first).to_contain_text("Entry 0000")
    expect(page.locator(rows).nth(99).locator(".after")).to_have_text("49.01")
    page.wait_for_function(
        SCROLL_TO_THE_END, arg=[rows, "Entry 0700+0.0143.00"]
    )  # the amount, and the balance after it
    assert page.locator(rows).count() < 250
    page.wait_for_function(SCROLL_TO_THE_END, arg=[".accounts li:not(.spacer)", "Account 0700"])
    assert page.locator(".accounts li").count() < 250
    page.wait_for_function(SCROLL_TO_THE_END, arg=[".versions tbody tr:not(.spacer)", "Name 0700"])
    assert page.locator(".versions tbody tr").count() < 250
    page.wait_for_function(SCROLL_TO_THE_END, arg=[".grants li:not(.spacer)", "user-0700"])
    assert page.locator(".grants li").count() < 250
