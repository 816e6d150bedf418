"""The kit that all pages share: lists, changes, messages, wording, time and colours."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Server

OpenPage = Callable[..., Page]

pytestmark = pytest.mark.req("X17")

EMPTY = """<!doctype html><html lang="en"><title>Kit</title><link rel="stylesheet" href="/assets/base.css">
<header class="top"><a class="brand" href="/">Kit</a></header><main id="main"></main></html>"""


@pytest.fixture
def page(open_page: OpenPage, serve: Callable[[str], Server]) -> Page:
    """An empty page that can import the kit."""
    page = open_page()
    address = f"{serve('todo').url}/kit"
    page.route(address, lambda route: route.fulfill(body=EMPTY, content_type="text/html"))
    page.goto(address)
    return page


@pytest.mark.parametrize("path", ["/todo/", "/console/"])
def test_a_page_names_the_modules_that_it_loads(open_page: OpenPage, serve: Callable[[str], Server], path: str) -> None:
    page = open_page()
    page.goto(serve("todo").url + path, wait_until="networkidle")
    loaded = page.evaluate("() => performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)")
    link = page.evaluate("async () => (await fetch(location)).headers.get('Link')")
    named = re.findall(r"<([^>]+)>; rel=modulepreload", link)
    assert sorted(named) == sorted({each for each in loaded if each.endswith(".js")})


def test_a_list_draws_only_what_changed_and_keeps_the_keyboard(page: Page) -> None:
    found = page.evaluate("""async () => {
        const { KeyedList } = await import("/assets/list.js");
        const { el } = await import("/assets/dom.js");
        const rows = el("ul", {});
        document.getElementById("main").append(rows);
        let drawn = 0;
        const draw = (item) => { drawn += 1; return el("li", {}, el("button", {}, item.text)); };
        const list = new KeyedList(rows, { key: (item) => item.id, draw });
        const shown = () => [...rows.children].map((row) => row.textContent).join("");
        const items = [..."abcdef"].map((text, id) => ({ id: String(id), text }));
        const steps = [];
        const step = (next) => { drawn = 0; list.show(next); steps.push([shown(), drawn]); };
        step(items);
        rows.children[3].firstChild.focus();
        step([...items.slice(1), items[0]]);
        step([items[5], ...items.slice(0, 5)]);
        step(items.toReversed());
        step(items.filter(({ id }) => id !== "1"));
        step(items.map((item) => (item.id === "3" ? { ...item, text: "D" } : item)));
        return { steps, focused: document.activeElement.textContent };
    }""")
    assert found == {
        "steps": [["abcdef", 6], ["bcdefa", 0], ["fabcde", 0], ["fedcba", 0], ["acdef", 0], ["abcDef", 2]],
        "focused": "D",
    }


def test_only_the_newest_question_shows_its_answer(page: Page) -> None:
    shown = page.evaluate("""async () => {
        const { latest } = await import("/assets/latest.js");
        const [ask, shown] = [latest(), []];
        const answers = [0, 1, 2].map(() => Promise.withResolvers());
        const [show, fail] = [(answer) => shown.push(answer), (error) => shown.push(`not: ${error.message}`)];
        const asked = answers.map(({ promise }) => ask(() => promise, show, fail));
        answers[2].resolve("third");
        await asked[2];
        answers[0].resolve("first");
        answers[1].reject(new Error("second"));
        await Promise.all(asked);
        await ask(() => Promise.reject(new Error("fourth")), show, fail);
        return shown;
    }""")
    assert shown == ["third", "not: fourth"]


def test_news_come_after_the_list_that_is_read_meanwhile(page: Page) -> None:
    found = page.evaluate("""async () => {
        const { live } = await import("/assets/stream.js");
        const [encoder, streams] = [new TextEncoder(), new Map()];
        const headers = { Date: new Date().toUTCString() };
        window.fetch = async (path) => {
            const stream = new ReadableStream({ start: (controller) => streams.set(path, controller) });
            return new Response(stream, { headers });
        };
        const write = async (path, event, id) => {
            while (!streams.has(path)) await new Promise((passed) => setTimeout(passed));
            streams.get(path).enqueue(encoder.encode(`event: ${event}\\nid: ${id}\\ndata: {}\\n\\n`));
        };
        sessionStorage.setItem("partita-token", "x.e30.x");
        const stop = new AbortController();
        const start = (path, log, patience) => {
            const told = ({ event, id }) => log.push(`${event} ${id}`);
            const news = live(path, told, { signal: stop.signal, patience });
            news.ready.then(() => log.push("ready"));
            return news;
        };
        const heard = (path, event) => new Promise((resolve) => {
            const channel = new BroadcastChannel(`partita  ${path}`);
            channel.onmessage = ({ data }) => data.event === event && resolve();
        });

        const [first, gate] = [[], Promise.withResolvers()];
        const news = start("/first", first, 600_000);
        await write("/first", "ready", 5);
        await news.ready;
        const reading = news.during(() => gate.promise.then(() => first.push("list")));
        const isHeard = heard("/first", "task");
        await write("/first", "task", 6);
        await isHeard;
        gate.resolve();
        await reading;

        const late = [];
        const slow = start("/late", late, 0);
        await slow.ready;
        const isLate = heard("/late", "ready");
        await write("/late", "ready", 7);
        await isLate;
        stop.abort();
        return { first, late };
    }""")
    assert found == {"first": ["ready", "list", "task 6"], "late": ["ready", "reset 7"]}


def test_of_thousands_of_rows_those_near_the_screen_are_drawn(page: Page) -> None:
    found = page.evaluate("""async () => {
        const { KeyedList } = await import("/assets/list.js");
        const { el } = await import("/assets/dom.js");
        const rows = el("ul", {});
        document.getElementById("main").append(rows);
        const height = (item) => 20 + (item.id % 3) * 10;
        const draw = (item) => {
            const row = el("li", {}, String(item.id));
            row.style.height = `${height(item)}px`;
            return row;
        };
        const list = new KeyedList(rows, { key: (item) => String(item.id), draw });
        list.show(Array.from({ length: 5000 }, (_, id) => ({ id })));
        const before = rows.children.length;
        scrollTo(0, 80_000);
        await new Promise((passed) => requestAnimationFrame(() => requestAnimationFrame(passed)));
        const seen = document.elementFromPoint(100, 300).textContent;
        const revealed = list.reveal("4999").textContent;
        const height1000 = Math.round(rows.offsetHeight / 1000);
        return { before, after: rows.children.length, height: height1000, seen: Number(seen), revealed };
    }""")
    assert 20 < found["before"] < 400
    assert found["after"] < 400
    assert found["height"] == 150
    assert 2500 < found["seen"] < 2800
    assert found["revealed"] == "4999"


LONG_LIST = """async (rem) => {
    const { KeyedList } = await import("/assets/list.js");
    const { el } = await import("/assets/dom.js");
    const rows = el("ul", {});
    document.getElementById("main").append(rows);
    const draw = (item) => {
        const row = el("li", {}, String(item.id));
        row.style.height = `${rem[item.id % rem.length]}rem`;
        return row;
    };
    const list = new KeyedList(rows, { key: (item) => String(item.id), draw });
    list.show(Array.from({ length: 5000 }, (_, id) => ({ id })));
    window.settled = () => new Promise((passed) => requestAnimationFrame(() => requestAnimationFrame(passed)));
    window.seenAt = (at) => Number(document.elementFromPoint(100, at).dataset.key ?? -1);
}"""


def test_a_list_stays_where_it_is_when_the_font_changes(page: Page) -> None:
    page.evaluate(LONG_LIST, [1.1, 1.47, 1.84, 2.21, 2.58, 2.95, 3.32])
    found = page.evaluate("""async () => {
        const seen = [];
        const see = async (change) => {
            change();
            await settled();
            seen.push([5, 300, 800].map(seenAt));
        };
        await see(() => scrollTo(0, 60_000));
        const { style } = document.documentElement;
        for (const size of ["32px", "8px", "16px"]) await see(() => { style.fontSize = size; });
        await see(() => scrollBy(0, 700));
        await see(() => scrollTo(0, 1e9));
        return { seen, end: seenAt(innerHeight - 5) };
    }""")
    assert all(0 <= top < middle < end for top, middle, end in found["seen"]), found  # no place is empty
    jumped, larger, smaller, back, further, _ = (top for top, _, _ in found["seen"])
    assert {larger, smaller, back} <= {jumped, jumped - 1, jumped + 1}
    assert 18 <= further - back <= 22  # 700 pixels of 35 for each row
    assert found["end"] == 4999  # although the first estimate of the heights was wrong


def test_a_list_prints_all_its_rows_and_stays_where_it_is(page: Page) -> None:
    page.evaluate(LONG_LIST, [1, 2, 3])
    page.evaluate("""async () => {
        scrollTo(0, 60_000);
        await settled();
        window.before = seenAt(300);
        addEventListener("beforeprint", () => { window.printed = document.querySelectorAll("li[data-key]").length; });
    }""")
    page.pdf()
    found = page.evaluate("""async () => {
        await settled();
        return { printed, drawn: document.querySelectorAll("li[data-key]").length, moved: seenAt(300) - before };
    }""")
    assert found["printed"] == 5000
    assert found["drawn"] < 400
    assert found["moved"] == 0


def test_a_grid_of_thousands_keeps_its_columns_and_the_keyboard(page: Page) -> None:
    found = page.evaluate("""async () => {
        const { KeyedList } = await import("/assets/list.js");
        const { el } = await import("/assets/dom.js");
        const rows = el("ul", {});
        Object.assign(rows.style, { display: "grid", gridTemplateColumns: "repeat(3, 100px)", gap: "10px" });
        document.getElementById("main").append(rows);
        const draw = (item) => {
            const row = el("li", {}, el("button", {}, String(item.id)));
            row.style.minHeight = `${40 + (item.id % 4) * 10}px`;
            return row;
        };
        const list = new KeyedList(rows, { key: (item) => String(item.id), draw });
        list.show(Array.from({ length: 5000 }, (_, id) => ({ id })));
        const drawn = () => [...rows.children].filter((row) => row.dataset.key);
        const left = rows.getBoundingClientRect().left;
        const at = (row) => Math.round((row.getBoundingClientRect().left - left) / 110);
        const astray = () => drawn().filter((row) => at(row) !== row.dataset.key % 3).length;
        const settled = () => new Promise((passed) => requestAnimationFrame(() => requestAnimationFrame(passed)));
        drawn()[4].firstChild.focus();
        const number = [drawn().length];
        const [keys, seen, wrong] = [[], [], [astray()]];
        for (const top of [30_000, 60_000, 0]) {
            scrollTo(0, top);
            await settled();
            number.push(drawn().length);
            wrong.push(astray());
            keys.push(document.activeElement.textContent);
            seen.push(Number(drawn().find((row) => row.getBoundingClientRect().bottom > 300).dataset.key));
        }
        list.show(list.items.filter(({ id }) => id !== 4)); // it had the keyboard, and is gone
        const revealed = list.reveal("4999").textContent;
        return { number, wrong, keys, seen, revealed, height: Math.round(rows.offsetHeight / 1000) };
    }""")
    assert max(found["number"]) < 250
    assert found["wrong"] == [0, 0, 0, 0]
    assert found["keys"] == ["4", "4", "4"]
    assert 1100 < found["seen"][0] < 1500
    assert 2300 < found["seen"][1] < 2900
    assert found["seen"][2] < 30
    assert found["revealed"] == "4999"
    assert 126 <= found["height"] <= 132


def test_changes_wait_for_each_other_and_go_back_together(page: Page) -> None:
    found = page.evaluate("""async () => {
        const { Optimistic } = await import("/assets/optimistic.js");
        let shown = "a";
        const log = [];
        const changes = new Optimistic({ failed: (error) => log.push(error.message) });
        const change = (to, send) => {
            const before = shown;
            const settle = (result, isLast) => log.push([result, isLast]);
            const [show, rollback] = [to, before].map((text) => () => { shown = text; });
            return changes.change("one", { show, send, settle, rollback });
        };
        await Promise.all([change("b", async () => "B"), change("c", async () => "C")]);
        const refuse = async () => { throw Object.assign(new Error("refused"), { status: 409 }); };
        await Promise.all([change("d", refuse), change("e", async () => "E")]);
        return { log, shown, isWaiting: changes.isWaiting("one") };
    }""")
    assert found == {"log": [["B", False], ["C", True], "refused"], "shown": "c", "isWaiting": False}


@pytest.mark.parametrize(
    ("status", "problem", "words"),
    [
        (0, {}, "The server cannot be reached. Check the connection, and try again."),
        (401, {"detail": "Send `Authorization: Bearer TOKEN`."}, "Sign in to continue."),
        (401, {"detail": "The token has expired."}, "Your sign-in has expired."),
        (401, {"code": "unauthenticated", "detail": "The token is not valid."}, "Sign in to continue."),
        (401, {"code": "unauthenticated", "detail": "You are not signed in."}, "You are not signed in."),
        (
            422,
            {"errors": [{"field": "", "message": "closesAt must be after opensAt"}]},
            "Closes at must be after opens at.",
        ),
        (
            422,
            {"errors": [{"field": "email", "message": "String should match pattern '@'"}]},
            "Email: Enter an email address, such as ann@example.org.",
        ),
        (
            422,
            {"code": "import_invalid", "detail": "The list has no column 'numericCode'."},
            "The list has no column 'numericCode'.",
        ),
        (409, {"code": "email_taken", "detail": "Another user has this email."}, "Another user has this email."),
        (412, {"code": "precondition_failed", "detail": "x"}, "This was changed elsewhere in the meantime."),
        (503, {"detail": "x"}, "The service is in trouble right now. Try again in a moment."),
        (
            422,
            {"errors": [{"field": "capacityTotal", "message": "Input should be less than or equal to 10"}]},
            "Capacity total: Enter 10 or less.",
        ),
    ],
)
def test_problems_are_in_peoples_words(page: Page, status: int, problem: dict[str, Any], words: str) -> None:
    explain = "async ([status, problem]) => (await import('/assets/explain.js')).explain(status, problem)"
    assert page.evaluate(explain, [status, problem]) == words


def test_the_time_is_the_servers(page: Page) -> None:
    found = page.evaluate("""async () => {
        const { noteTime, now } = await import("/assets/time.js");
        const at = Date.parse("2031-05-05T05:05:05Z");
        noteTime(new Date(at).toUTCString(), performance.now() - 20, performance.now());
        return Math.abs(now() - at - 500);
    }""")
    assert found < 1000


def test_a_dialog_keeps_what_was_typed_and_says_what_is_wrong(page: Page) -> None:
    page.evaluate("""async () => {
        const { button, openDialog } = await import("/assets/dialog.js");
        const { el } = await import("/assets/dom.js");
        const { field } = await import("/assets/form.js");
        const { Refused } = await import("/assets/api.js");
        const { toast } = await import("/assets/toast.js");
        window.sent = 0;
        const submit = async () => {
            window.sent += 1;
            toast("Trying");
            throw new Refused(422, { errors: [{ field: "name", message: "Field required" }] });
        };
        const body = [field("Name", el("input", { name: "name" }))];
        openDialog({ title: "Ask", body, buttons: [button("Go")], submit });
    }""")
    dialog = page.get_by_role("dialog", name="Ask")
    dialog.get_by_label("Name").fill("Ann")
    page.mouse.click(5, 5)
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Go").click()
    expect(dialog.get_by_text("Fill this in.")).to_be_visible()
    with page.expect_event("dialog") as asked:  # before what was typed is lost
        page.evaluate("setTimeout(() => location.reload())")
    assert asked.value.type == "beforeunload"
    asked.value.dismiss()
    expect(dialog.get_by_label("Name")).to_have_value("Ann")
    expect(dialog.locator(".toast")).to_have_text("Trying")  # screen readers ignore anything outside an open dialog
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.locator("body > .toasts .toast")).to_have_count(1)
    assert page.evaluate("window.sent") == 1


def test_the_focus_goes_to_the_neighbour_of_what_was_removed(page: Page) -> None:
    page.evaluate("""async () => {
        const { el } = await import("/assets/dom.js");
        const { openDialog } = await import("/assets/dialog.js");
        await import("/assets/focus.js");
        const main = document.getElementById("main");
        main.tabIndex = -1;
        const drop = ({ target }) => target.closest("li").remove();
        const row = (text) => el("li", {}, el("input", {}), el("button", { onclick: drop }, text));
        const ask = (event) => {
            const one = event.target.closest("li");
            const close = () => { one.remove(); dialog.close(); };
            const button = el("button", { type: "button", onclick: close }, "Drop");
            const dialog = openDialog({ title: "Ask", body: [], buttons: [button] });
        };
        const asks = el("li", {}, el("button", { onclick: ask }, "asks"));
        main.append(el("ul", {}, row("a"), row("b"), asks, row("c")));
        asks.previousSibling.querySelector("button").focus();
    }""")
    focused = page.locator(":focus")
    expect(focused).to_have_text("b")
    page.keyboard.press("Enter")  # removes itself
    expect(focused).to_have_text("asks")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Drop").press("Enter")
    for text in ("c", "a"):
        expect(focused).to_have_text(text)
        page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_names_from_right_to_left_leave_the_sentence_in_order(page: Page) -> None:
    found = page.evaluate("""async () => {
        const { el, isolated } = await import("/assets/dom.js");
        const place = el("p", {});
        document.getElementById("main").append(place);
        const leftOf = (text, part) => {
            place.textContent = text;
            const range = document.createRange();
            range.setStart(place.firstChild, text.indexOf(part));
            range.setEnd(place.firstChild, text.indexOf(part) + part.length);
            return range.getBoundingClientRect().left;
        };
        const order = (text, parts) => parts.toSorted((one, other) => leftOf(text, one) - leftOf(text, other)).join("");
        const moved = (title) => `Moved ${isolated(title)} to Done.`;
        return [
            order(moved("\u05e9\u05dc!"), ["Moved", "\u05e9", "!", "Done"]),
            order(moved("x\u202ey"), ["Moved", "x", "to", "Done"]),
            isolated("Sweep"),
        ];
    }""")
    assert found == ["Moved!\u05e9Done", "MovedxtoDone", "Sweep"]


def test_colours_are_chosen_and_kept(page: Page) -> None:
    scheme = "() => getComputedStyle(document.documentElement).colorScheme"
    page.evaluate("async () => { await import('/assets/nav.js'); }")
    assert page.evaluate(scheme) == "light"
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"() => ({scheme})() === 'dark'")
    page.get_by_label("Services", exact=True).click()
    page.get_by_label("Light", exact=True).check()
    assert page.evaluate(scheme) == "light"
    page.reload()
    page.evaluate("async () => { await import('/assets/theme.js'); }")
    assert page.evaluate(scheme) == "light"


def test_the_address_after_the_hash_is_read_kept_by_links_and_gone_back_to(page: Page) -> None:
    page.evaluate("""async () => {
        const { hashParameters } = await import("/assets/address.js");
        window.seen = [];
        const address = hashParameters(["as_of", "q"], (place) => window.seen.push(place), { kept: ["q"] });
        address.go({ name: "a/b ü", as_of: "1999-12-31", q: "x" });
        address.write({ q: "y&z" }, { isTyped: true });
        document.getElementById("main").innerHTML = '<a href="#/TR">Türkiye</a>';
    }""")
    page.get_by_role("link", name="Türkiye").click()
    page.go_back()
    page.wait_for_function("() => window.seen.length === 3")
    first, link, back = page.evaluate("window.seen")
    assert first == {"name": "a/b ü", "as_of": "1999-12-31", "q": "x"}
    assert link == {"name": "TR", "as_of": "", "q": "y&z"}
    assert back == {"name": "a/b ü", "as_of": "1999-12-31", "q": "y&z"}


def test_who_signs_in_while_a_call_is_under_way_is_known(page: Page) -> None:
    """The call is sent again with the new token; a call that is refused with the current token fails."""
    found = page.evaluate("""async () => {
        const { ask, token } = await import("/assets/api.js");
        const sent = [];
        window.fetch = async (_, { headers }) => {
            sent.push(headers.Authorization);
            if (sent.length === 1) token.set("new");
            return sent.length === 2 ? Response.json({ known: true }) : Response.json({}, { status: 401 });
        };
        token.set("old");
        const answer = await ask("GET", "/x");
        const refused = await ask("GET", "/x").catch(({ status }) => status);
        return { answer, refused, sent };
    }""")
    assert found == {"answer": {"known": True}, "refused": 401, "sent": ["Bearer old", "Bearer new", "Bearer new"]}


def test_one_content_has_one_key(page: Page) -> None:
    found = page.evaluate("""async () => {
        const { keysByContent } = await import("/assets/api.js");
        const key = keysByContent();
        const [one, same, other] = [key({ a: 1 }), key({ a: 1 }), key({ a: 2 })];
        return [one === same, one === other, one === keysByContent()({ a: 1 }), key({ a: 1 }) === one];
    }""")
    assert found == [True, False, False, True]


def test_other_tabs_are_told(page: Page) -> None:
    other = page.context.new_page()
    page.context.route(page.url, lambda route: route.fulfill(body=EMPTY, content_type="text/html"))
    other.goto(page.url)
    listen = """async () => {
        const { tabs } = await import("/assets/tabs.js");
        window.heard = [];
        window.tell = tabs("kit", (what) => window.heard.push(what));
    }"""
    for each in (page, other):
        each.evaluate(listen)
    page.evaluate("window.tell('changed')")
    other.wait_for_function("() => window.heard.join() === 'changed'")
    assert page.evaluate("window.heard") == []
