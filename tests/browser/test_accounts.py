"""The page of Accounts: accounts, statements, transfers, sharing and versions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Server, in_both_schemes
from tests.browser.test_countries import CONTRAST

pytestmark = pytest.mark.req("A16")

OpenPage = Callable[..., Page]


@pytest.fixture
def server(serve: Callable[[str], Server]) -> Server:
    return serve("accounts")


@pytest.fixture
def address(server: Server) -> str:
    return f"{server.url}/accounts/"


def api(server: Server, user: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {server.token(user)}"}
    return httpx.Client(base_url=f"{server.url}/accounts/api", headers=headers)


def opened(server: Server, user: str, pk: str, balance: int = 10_000) -> None:
    """Open an account for one test."""
    with api(server, user) as client:
        client.post("/accounts", json={"pk": pk, "name": pk.title(), "balance": balance}).raise_for_status()


def signed_in(page: Page, server: Server, address: str, user: str) -> Page:
    page.goto(address)
    page.evaluate("token => sessionStorage.setItem('partita-token', token)", server.token(user))
    page.reload()
    return page


def test_signing_in_with_a_token_shows_the_accounts(open_page: OpenPage, server: Server, address: str) -> None:
    page = open_page()
    page.goto(address)
    expect(page.get_by_role("button", name="Sign in as a demo user")).to_be_focused()
    page.get_by_text("Use a token").click()
    page.get_by_label("Token").fill("nonsense")
    page.get_by_role("button", name="Use token").click()
    expect(page.get_by_role("alert")).not_to_be_empty()
    page.get_by_label("Token").fill(server.token("demo"))
    page.get_by_role("button", name="Use token").click()
    expect(page.locator(".accounts").first.locator("a")).to_have_count(6)
    expect(page.get_by_role("link", name="Choir, petty cash")).to_contain_text("acc-1007, of grace")
    page.get_by_role("link", name="Bicycle fund").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Bicycle fund")
    expect(page.get_by_label("Balance", exact=True)).to_have_text("191.50")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in as a demo user").click()
    expect(page.get_by_role("link", name="Bicycle fund")).to_be_visible()


def test_a_transfer_is_made_with_the_keyboard_alone(open_page: OpenPage, server: Server, address: str) -> None:
    opened(server, "kate", "kate-1")
    opened(server, "kate", "kate-2", 0)
    page = signed_in(open_page(), server, f"{address}#/kate-1", "kate")
    expect(page.get_by_label("Balance", exact=True)).to_have_text("100.00")
    page.get_by_label("To account").focus()
    page.keyboard.type("kate-2")
    page.keyboard.press("Tab")
    page.keyboard.type("12,5")
    page.keyboard.press("Tab")
    page.keyboard.type("=cmd, for lunch")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Transferred 12.50.")).to_be_visible()
    expect(page.get_by_label("Balance", exact=True)).to_have_text("87.50")
    rows = page.locator(".entries tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("Transfer out")
    expect(rows.first).to_contain_text("to kate-2 · =cmd, for lunch · by kate")
    expect(rows.first.locator(".after")).to_have_text("87.50")
    expect(rows.last.locator(".after")).to_have_text("100.00")
    expect(page.get_by_role("link", name="Kate-2")).to_contain_text("12.50")


def test_deposits_and_withdrawals_and_what_is_refused(open_page: OpenPage, server: Server, address: str) -> None:
    opened(server, "liz", "liz-1", 500)
    page = signed_in(open_page(), server, f"{address}#/liz-1", "liz")
    page.get_by_label("Withdraw").check()
    expect(page.get_by_label("To account")).to_be_hidden()
    for typed, said in (
        ("7", "The balance of this account is 5.00."),
        ("0", "Enter an amount above zero, like 12.50."),
        ("1.234", "Enter an amount above zero, like 12.50."),
    ):
        page.get_by_label("Amount").fill(typed)
        page.get_by_role("button", name="Move money").click()
        expect(page.locator(".wrong", has_text=said)).to_be_visible()
        expect(page.get_by_label("Amount")).to_be_focused()
    page.get_by_label("Deposit").check()
    page.get_by_label("Amount").fill("0.10")
    page.get_by_role("button", name="Move money").click()
    expect(page.get_by_label("Balance", exact=True)).to_have_text("5.10")
    expect(page.get_by_text("Deposited 0.10.")).to_be_visible()
    page.get_by_label("Withdraw").check()
    page.get_by_label("Amount").fill("1")
    page.get_by_role("button", name="Move money").click()
    expect(page.get_by_text("Withdrew 1.00.")).to_be_visible()


def test_a_statement_is_chosen_by_month_and_downloaded(
    open_page: OpenPage, server: Server, address: str, tmp_path: Path
) -> None:
    page = signed_in(open_page(), server, f"{address}#/acc-1001", "demo")
    months = page.get_by_label("Month")
    expect(months.locator("option")).not_to_have_count(0)
    months.select_option(index=2)
    expect(page.locator(".entries tbody tr").last).to_be_visible()
    expect(page.locator(".entries caption")).to_have_text(f"Entries of {months.locator('option').nth(2).inner_text()}")
    closing = page.locator(".totals dd").last.inner_text()
    expect(page.locator(".entries .after").first).to_have_text(closing)
    with page.expect_download() as saving:
        page.get_by_role("button", name="Download CSV").click()
    saving.value.save_as(tmp_path / "statement.csv")
    header = (tmp_path / "statement.csv").read_text().splitlines()[0]
    assert header == "at,entry_id,kind,counterpart,memo,by,amount,balance"


def test_an_account_is_opened_renamed_shared_and_closed(open_page: OpenPage, server: Server, address: str) -> None:
    page = signed_in(open_page(), server, address, "mia")
    expect(page.get_by_text("You have none yet")).to_be_visible()
    page.get_by_role("button", name="Open an account").click()
    dialog = page.get_by_role("dialog", name="Open an account")
    dialog.get_by_label("Name").fill("Savings")
    dialog.get_by_label("Opening balance").fill("20")
    for key in ("acc-1001", "mia-1"):
        dialog.get_by_label("Key").fill(key)
        dialog.get_by_role("button", name="Open account").click()
        said = dialog.get_by_text("Another account has this key.")
        expect(said.or_(page.get_by_role("heading", level=1, name="Savings"))).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Savings")
    settings = page.locator(".panel").filter(has=page.get_by_role("heading", name="Settings"))
    settings.get_by_label("Name").fill("Rainy days")
    settings.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Rainy days")
    versions = page.locator(".versions tbody tr")
    expect(versions).to_have_count(2)
    expect(versions.first).to_contain_text("Rainy days")
    expect(versions.last).to_contain_text("mia")
    page.get_by_label("User").fill("nora")
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.get_by_text("nora may see it.")).to_be_visible()
    expect(page.get_by_text("Nobody else can see this account.")).to_have_count(0)

    other = signed_in(open_page(), server, f"{address}#/mia-1", "nora")
    expect(other.get_by_role("heading", level=1)).to_have_text("Rainy days")
    expect(other.get_by_role("heading", name="Settings")).to_have_count(0)
    expect(other.get_by_text("You may see this account, but not move its money. mia can allow it.")).to_be_visible()
    expect(other.get_by_role("button", name="Move money")).to_have_count(0)

    page.get_by_role("button", name="Stop sharing with nora").press("Enter")
    expect(page.get_by_text("Nobody else can see this account.")).to_be_visible()
    expect(page.get_by_role("button", name="Share", exact=True)).to_be_focused()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Stop sharing with nora").click()
    expect(page.get_by_text("Nobody else can see this account.")).to_be_visible()
    other.reload()
    expect(other.get_by_role("heading", level=1)).to_have_text("There is no account mia-1")
    other.evaluate("location.hash = '#/%E0%A4%A'")  # no key at all
    expect(other.get_by_role("heading", level=1)).to_have_text("There is no account %E0%A4%A")
    expect(other.get_by_text("If it exists, you do not have access to it.")).to_be_visible()

    page.get_by_role("button", name="Close account").click()
    asks = page.get_by_role("dialog", name="Close Rainy days?")
    expect(asks).to_contain_text("20.00 will be paid out.")
    expect(asks.get_by_role("button", name="Keep it")).to_be_focused()
    asks.get_by_role("button", name="Close account").click()
    expect(page.get_by_text("You have none yet")).to_be_visible()


def test_an_expired_token_leads_to_signing_in(open_page: OpenPage, server: Server, address: str) -> None:
    page = signed_in(open_page(), server, f"{address}#/acc-1001", "demo")
    expect(page.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")
    page.evaluate("sessionStorage.setItem('partita-token', 'a.eyJzdWIiOiJkZW1vIn0.c')")
    page.reload()
    expect(page.get_by_role("button", name="Sign in as a demo user")).to_be_visible()
    expect(page.get_by_role("alert")).not_to_be_empty()


def test_nothing_is_loaded_from_outside(open_page: OpenPage, server: Server, address: str) -> None:
    page = open_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    signed_in(page, server, f"{address}#/acc-1001", "demo")
    expect(page.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(server.url).netloc}


@pytest.mark.parametrize("pk", ["", "#/acc-1001"])
def test_it_fits_a_phone(open_page: OpenPage, server: Server, address: str, pk: str) -> None:
    page = signed_in(open_page(390, 844, dark=True), server, address + pk, "demo")
    expect(page.locator(".entries tr" if pk else ".accounts a").last).to_be_visible()
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    if pk:
        page.get_by_role("link", name="All accounts").click()
        expect(page.locator(".accounts a").first).to_be_visible()


def test_every_control_has_a_name(open_page: OpenPage, server: Server, address: str) -> None:
    page = signed_in(open_page(), server, f"{address}#/acc-1001", "demo")
    expect(page.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")
    nameless = page.locator("input, select, button, a").evaluate_all(
        "all => all.filter(c => !(c.labels?.length || c.textContent.trim() || c.ariaLabel)).map(c => c.outerHTML)"
    )
    assert nameless == []


def test_text_can_be_read_in_light_and_dark(open_page: OpenPage, server: Server, address: str) -> None:
    page = signed_in(open_page(), server, f"{address}#/acc-1001", "demo")
    expect(page.locator(".entries tbody tr").last).to_be_visible()
    assert {scheme: page.evaluate(CONTRAST) for scheme in in_both_schemes(page)} == {"light": [], "dark": []}


def test_a_transfer_offers_the_other_accounts(open_page: OpenPage, server: Server, address: str) -> None:
    page = signed_in(open_page(), server, f"{address}#/acc-1004", "demo")
    page.get_by_label("To account").focus()
    offered = page.locator("#known-accounts option")
    expect(offered).to_have_count(6)
    keys = offered.evaluate_all("all => all.map(({ value }) => value)")
    assert "acc-1005" in keys
    assert "acc-1007" in keys  # one that is shared with the person
    assert "acc-1004" not in keys  # the account itself


def test_a_person_without_accounts_is_asked_to_open_the_first(
    open_page: OpenPage, server: Server, address: str
) -> None:
    page = signed_in(open_page(), server, address, "newcomer")
    expect(page.get_by_role("heading", name="You have no account yet")).to_be_visible()
    page.get_by_role("button", name="Open your first account").click()
    dialog = page.get_by_role("dialog", name="Open an account")
    dialog.get_by_label("Key").fill("first-of-newcomer")
    dialog.get_by_label("Name").fill("First")
    dialog.get_by_role("button", name="Open account").click()
    expect(page.get_by_role("heading", name="First")).to_be_visible()
    page.get_by_role("link", name="Accounts", exact=True).click()
    expect(page.get_by_role("heading", name="Choose an account")).to_be_visible()


def test_long_names_and_few_accounts_fit_a_phone(open_page: OpenPage, server: Server, address: str) -> None:
    key = "k" * 64
    with api(server, "long") as client:
        client.post("/accounts", json={"pk": key, "name": "N" * 100, "balance": 10**15}).raise_for_status()
    page = signed_in(open_page(320, 844), server, address, "long")
    welcome = page.get_by_role("heading", name="Choose an account")
    mine = page.get_by_role("heading", name="Your accounts")
    first, second = (each.bounding_box() for each in (welcome, mine))
    assert first is not None
    assert second is not None
    assert 0 < second["y"] - first["y"] < 200
    page.locator(".accounts a").click()
    for part in (page.get_by_role("heading", name="N" * 100), page.locator(".meta"), page.locator(".balance")):
        shown = part.bounding_box()
        assert shown is not None
        assert shown["x"] + shown["width"] <= 320
