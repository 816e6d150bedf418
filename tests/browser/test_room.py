"""Everything has room on every screen, and nothing that is fixed to the window covers what a person needs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect
from tests.browser.conftest import Server
from tests.browser.held import Held
from tests.browser.pretended import Pretended
from tests.browser.todo import add, open_board

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("X17")


def scrolled(page: Page, least: int, most: int) -> None:
    page.wait_for_function("([least, most]) => scrollY >= least && scrollY <= most", arg=[least, most])


def box(locator: Locator) -> FloatRect:
    found = locator.bounding_box()
    assert found is not None
    return found


def overlap(one: Locator, other: Locator) -> bool:
    """Return whether two elements cover each other in part."""
    first, second = box(one), box(other)
    return first["y"] < second["y"] + second["height"] and second["y"] < first["y"] + first["height"]


@pytest.mark.parametrize("width", [390, 1280])
def test_a_person_leaves_a_country_while_the_server_is_away(
    open_page: OpenPage, serve: Callable[[str], Server], width: int
) -> None:
    page = open_page(width, 844)
    page.goto(f"{serve('countries').url}/countries/#/TR")
    expect(page.get_by_role("heading", name="Türkiye")).to_be_visible()
    expect(page.locator("#found")).to_have_text("249 countries")
    page.context.set_offline(True)
    bar = page.locator(".connection-bar")
    expect(bar).to_contain_text("Connection lost.")
    assert not overlap(bar, page.locator("header.top"))
    if width == 390:
        page.get_by_role("link", name="← All countries").click()
    else:
        page.get_by_role("link", name="Countries", exact=True).click()
    expect(page).to_have_url(f"{serve('countries').url}/countries/#/")
    page.wait_for_function("""() => {
        scrollTo(0, document.documentElement.scrollHeight);
        const end = document.getElementById("list").getBoundingClientRect().bottom;
        return end <= document.querySelector(".connection-bar").getBoundingClientRect().top;
    }""")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_message_covers_neither_the_actions_on_selected_tasks_nor_the_bar(
    open_page: OpenPage, serve: Callable[[str], Server], width: int
) -> None:
    server, user = serve("todo"), f"r-select-{width}"
    title = "W" * 200
    add(server, user, title, "Mop")
    page = open_board(open_page(width, 844), server, user)
    page.get_by_role("button", name=f"Complete {title}").click()
    toast, tools = page.locator(".toast"), page.get_by_role("toolbar", name="Selected tasks")
    expect(toast).to_contain_text("Moved")
    page.get_by_role("button", name="Select", exact=True).click()
    page.get_by_label("Select Mop").check()
    page.wait_for_function("() => document.documentElement.style.getPropertyValue('--tools') > '1'")
    assert not overlap(toast, tools)
    assert box(toast)["height"] < 200  # a long title is cut, and leaves room for the tasks
    page.context.set_offline(True)
    bar = page.locator(".connection-bar")
    expect(bar).to_contain_text("Connection lost.")
    page.wait_for_function("() => document.documentElement.style.getPropertyValue('--bar') > '1'")
    assert not overlap(bar, tools)
    assert not overlap(bar, toast)


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_fields_of_a_dialog_fit_and_its_buttons_stay_in_view(
    open_page: OpenPage, serve: Callable[[str], Server], width: int
) -> None:
    page = open_page(width, 640)
    pretended = Pretended(page.context)
    page.goto(f"{serve('commitcollect').url}/commitcollect/")
    page.get_by_role("button", name="New milestone").click()
    dialog = page.get_by_role("dialog")
    button = dialog.get_by_role("button", name="Commit to it")
    assert box(dialog)["y"] + box(dialog)["height"] >= box(button)["y"] + box(button)["height"]
    title, last = dialog.get_by_label("Title"), dialog.get_by_label("To", exact=True)
    end = box(title)["x"] + box(title)["width"]
    assert box(last)["x"] + box(last)["width"] <= end + 1
    dialog.get_by_role("checkbox").last.focus()  # a field that has the focus is not behind the buttons
    assert not overlap(dialog.get_by_role("checkbox").last, button)
    pretended.lost = 9  # also the attempts that the page repeats
    title.fill("A hundred")
    button.click()
    said = dialog.get_by_role("alert")
    expect(said).to_contain_text("The server cannot be reached.")
    assert not overlap(said, button)


SPACED = """() => {
    const sheet = new CSSStyleSheet();
    const all = "line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important";
    sheet.replaceSync(`* { ${all} } p { margin-bottom: 2em !important }`);
    document.adoptedStyleSheets = [sheet];
}"""
CUT = "names => names.filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.textContent)"


def test_text_may_be_spaced_on_a_small_phone(open_page: OpenPage, serve: Callable[[str], Server]) -> None:
    """The spacing of WCAG's criterion 1.4.12."""
    shown = {
        ("todo", "todo/"): ".tabs",
        ("commitcollect", "commitcollect/"): ".button.large",
        ("commitcollect", "commitcollect/operate.html"): "article",
        ("countries", "countries/"): "#list a",
    }
    for (service, path), there in shown.items():
        server, page = serve(service), open_page(320, 640)
        if path != "commitcollect/":
            page.add_init_script(f"sessionStorage.setItem('partita-token', '{server.token('ada', 'operator')}')")
        page.goto(f"{server.url}/{path}")
        expect(page.locator(there).first).to_be_visible()
        page.evaluate(SPACED)
        assert (path, page.evaluate("document.documentElement.scrollWidth")) == (path, 320)
        assert page.locator(".list .name").evaluate_all(CUT) == []


@pytest.mark.parametrize("width", [320, 1280])
def test_every_page_names_the_person_and_offers_to_leave_in_the_same_way(
    open_page: OpenPage, serve: Callable[[str], Server], width: int
) -> None:
    looks = set()
    paths = {"accounts": "accounts/", "countries": "countries/", "events": "events/", "todo": "console/"}
    for service, path in paths.items():
        server, page = serve(service), open_page(width, 640)
        page.add_init_script(f"sessionStorage.setItem('partita-token', '{server.token('ada')}')")
        page.goto(f"{server.url}/{path}")
        leave, name = page.get_by_role("button", name="Sign out"), page.locator(".person")
        expect(leave).to_be_visible()
        expect(name).to_have_text("ada")
        font = name.evaluate("each => getComputedStyle(each).fontSize + getComputedStyle(each).fontWeight")
        assert box(leave)["x"] + box(leave)["width"] <= width - 8
        looks.add((box(leave)["width"] < 50, box(leave)["height"], name.is_visible(), font))
    assert len(looks) == 1


def test_the_panel_for_signing_in_is_in_the_middle(open_page: OpenPage, serve: Callable[[str], Server]) -> None:
    for service in ("accounts", "events", "todo"):
        page = open_page(1280, 800)
        page.goto(f"{serve(service).url}/{service}/")
        expect(page.locator(".signin")).to_be_visible()
        panel = box(page.locator(".signin"))
        assert (service, round(panel["x"] + panel["width"] / 2)) == (service, 640)


def test_back_returns_to_the_same_place_in_the_list_of_events(
    open_page: OpenPage, serve: Callable[[str], Server]
) -> None:
    server, page = serve("events"), open_page(390, 500)
    page.add_init_script(f"sessionStorage.setItem('partita-token', '{server.token('ada')}')")
    page.goto(f"{server.url}/events/")
    card = page.locator("a.card").last
    name = card.locator("strong").inner_text()
    card.scroll_into_view_if_needed()
    page.wait_for_function("() => scrollY > 300")
    left = page.evaluate("scrollY")
    card.click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    expect(page).to_have_title(f"{name} · Events")
    scrolled(page, 0, 0)
    page.go_back()
    expect(page.locator("a.card").last).to_be_visible()
    expect(page).to_have_title("Events")
    scrolled(page, left - 50, left + 50)
    page.get_by_role("link", name="My requests").click()  # a link begins at the top
    expect(page).to_have_title("My requests · Events")
    scrolled(page, 0, 0)


def test_all_text_grows_with_the_font_size_that_the_browser_is_set_to(
    open_page: OpenPage, serve: Callable[[str], Server]
) -> None:
    small = """() => {
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const found = [];
        while (walker.nextNode()) {
            const { parentElement: holder, textContent: text } = walker.currentNode;
            if (!text.trim() || !holder.checkVisibility() || holder.closest("svg, script")) continue;
            if (parseFloat(getComputedStyle(holder).fontSize) < 22) found.push(text.trim());
        }
        return found;
    }"""
    places = {"accounts": "accounts/#/acc-1004", "countries": "countries/#/TR", "events": "events/", "todo": "todo/"}
    for service, path in [
        *places.items(),
        ("todo", "console/#/todo"),
        ("todo", ""),
        ("commitcollect", "commitcollect/"),
    ]:
        server, page = serve(service), open_page()
        page.add_init_script(f"sessionStorage.setItem('partita-token', '{server.token('demo')}')")
        page.goto(f"{server.url}/{path}")
        expect(page.locator("h1:not(.loading)").first).to_be_attached()
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        assert (path, page.evaluate(small)) == (path, [])


def test_a_page_without_scripts_says_so_at_its_top(browser: Browser, serve: Callable[[str], Server]) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 600})
    page = context.new_page()
    for service in ("accounts", "commitcollect", "countries", "events", "todo"):
        for path in (f"/{service}/", "/console/"):
            page.goto(serve(service).url + path)
            assert box(page.locator("noscript p"))["y"] < 200
    context.close()


def test_placeholders_have_the_height_of_two_lines_on_every_page(
    open_page: OpenPage, serve: Callable[[str], Server]
) -> None:
    held = {"accounts": "**/api/accounts?*", "events": "**/api/events?*", "todo": "**/console/api/services"}
    for service, calls in held.items():
        server, page = serve(service), open_page()
        waits = Held(page, calls)
        page.add_init_script(f"sessionStorage.setItem('partita-token', '{server.token('ada')}')")
        page.goto(f"{server.url}/{'console' if service == 'todo' else service}/")
        waits.wait()
        expect(page.locator(".skeleton .bar").first).to_be_visible()
        lines = [box(each) for each in page.locator(".skeleton .bar").first.locator("span").all()]
        assert len(lines) == 2
        assert {line["height"] for line in lines} == {12}
        assert lines[0]["width"] > lines[1]["width"] > 50
        assert box(page.locator(".skeleton .bar").first)["height"] > 40
        waits.release()
