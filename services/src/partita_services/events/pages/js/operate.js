// One event, for its operators: live figures, outcomes, requests in queue order, and the draw.

import * as api from "./api.js";
import { chart, lastMinute } from "./chart.js";
import { changes } from "./change.js";
import { drawPanel } from "./draw.js";
import { icon } from "./icons.js";
import { about, chip, when } from "./list.js";
import { age, clock, dateTime, fraction, number, outcome, plural, STATUSES, TYPES } from "./words.js";
import { attempt } from "/assets/attempt.js";
import { el, replace } from "/assets/dom.js";
import { onceMore } from "/assets/latest.js";
import { KeyedList } from "/assets/list.js";
import { moreButton, PagesAgain } from "/assets/pages.js";
import { poll } from "/assets/poll.js";

const PAGE = 100;
const AT_ONCE = 10; // pages that are read again after decisions
const [APART, EVERY] = [500, 5000];
const TICK = 1000;

export async function operatePage(shown, id) {
  let event = await api.event(id);
  const hero = el("div", { className: "hero" });
  const acts = el("div", {});
  const tiles = tileRow();
  const plot = chart();
  const outcomes = el("tbody", {});
  const table = requestTable(id, shown);
  const drawing = event.eventType === "LOTTERY" ? drawPanel(event, shown) : null;
  replace(
    shown.element,
    el("a", { className: "back", href: "#/operate" }, "← All events"),
    hero,
    acts,
    tiles.element,
    el(
      "div",
      { className: "columns" },
      panel("Decisions per second", plot.element),
      panel("Outcomes", el("table", { className: "outcomes" }, el("thead", { className: "hidden" }, el("tr", {}, ...["Status", "Requests", "Share"].map((name) => el("th", { scope: "col" }, name)))), outcomes)),
    ),
    drawing?.element,
    panel("Requests in queue order", table.element, download(event, shown)),
  );
  const changed = (now) => { event = { ...event, ...now }; drawHero(); drawActs(); drawing?.change(event); };
  let heroShown = "";
  const drawHero = () => {
    const parts = heading(event);
    const text = parts.map((part) => part?.outerHTML ?? "").join();
    if (text !== heroShown) replace(hero, ...parts);
    heroShown = text;
  };
  const drawActs = () => replace(acts, changes(event, shown, changed)); // not by the clock, because a button that is redrawn loses the focus
  drawHero();
  drawActs();
  let [latest, receivedAt] = [null, 0];
  // No figures arrive while nothing changes, but the last minute moves on.
  const drawChart = () => latest && plot.show(lastMinute(latest.seconds, Date.parse(latest.at) + Date.now() - receivedAt));
  const timer = setInterval(() => { drawHero(); drawing?.tick(); drawChart(); }, TICK);
  shown.signal.addEventListener("abort", () => clearInterval(timer));
  await Promise.all([table.load(), drawing?.load()]);

  for await (const figures of api.figures(id, shown.signal)) {
    [latest, receivedAt] = [figures, Date.now()];
    tiles.show(figures);
    drawChart();
    replace(outcomes, ...Object.entries(figures.counts).map(([status, count]) => outcomeRow(status, count, figures.requests)));
    table.refresh();
  }
}

const heading = (event) => [
  el("div", { className: "facts" }, chip(event), el("span", { className: "type" }, icon(event.eventType === "LOTTERY" ? "dice" : "queue"), TYPES[event.eventType])),
  el("h1", { dir: "auto" }, event.name),
  el("p", { className: "when" }, when(event)),
  about(event),
  event.cancelReason ? el("p", { className: "wrong" }, `Cancelled: ${event.cancelReason}${event.notified === null ? "" : ` (${plural(event.notified, "applicant")} notified)`}`) : null,
];

function panel(title, body, ...tools) {
  const made = el("section", { className: "panel" }, el("header", {}, el("h2", {}, title), el("span", { className: "space" }), ...tools), body);
  made.setAttribute("aria-label", title);
  return made;
}

function tileRow() {
  const value = () => el("strong", {}, "–");
  const [pace, left, backlog, waited] = [value(), value(), value(), value()];
  const gauge = el("span", { className: "bar" }, el("span", { className: "filled" }));
  const [paceNote, leftNote, backlogNote, waitedNote] = ["over the last five seconds", "", "", "how long the oldest has waited"].map((text) => el("span", { className: "note" }, text));
  const tile = (name, ...parts) => el("div", { className: "tile" }, el("h2", {}, name), ...parts);
  const element = el(
    "div",
    { className: "tiles" },
    tile("Decided per second", pace, paceNote),
    tile("Seats left", left, gauge, leftNote),
    tile("Not decided yet", backlog, backlogNote),
    tile("Backlog age", waited, waitedNote),
  );

  function show(figures) {
    pace.textContent = number(Math.round(figures.decidedPerSecond));
    left.textContent = number(figures.capacityRemaining);
    leftNote.textContent = `of ${number(figures.capacityTotal)}`;
    gauge.firstChild.style.width = `${(100 * (figures.capacityTotal - figures.capacityRemaining)) / figures.capacityTotal}%`;
    backlog.textContent = number(figures.backlog);
    backlogNote.textContent = `of ${plural(figures.requests, "request")}`;
    waited.textContent = figures.backlog ? age(figures.backlogSeconds) : "none";
    waitedNote.textContent = figures.backlog ? "how long the oldest has waited" : "everything is decided";
  }

  return { element, show };
}

function outcomeRow(status, count, all) {
  const share = el("span", { className: `share ${status.toLowerCase()}` });
  share.style.width = `${all ? (100 * count) / all : 0}%`;
  return el("tr", {}, el("th", { scope: "row" }, STATUSES[status]), el("td", { className: "count" }, number(count)), el("td", { className: "shares" }, el("span", { className: "bar" }, share)));
}

function download(event, shown) {
  const button = el("button", { className: "button", type: "button" }, icon("download"), el("span", {}, "CSV"));
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const url = URL.createObjectURL(await api.csv(event.eventId));
      el("a", { href: url, download: `requests-${event.eventId}.csv` }).click();
      setTimeout(() => URL.revokeObjectURL(url));
    } catch (error) {
      shown.say(error.message, true);
    }
    button.disabled = false;
  });
  return button;
}

// Requests in queue order, as far as the operator scrolls; they are read again while some are decided.
function requestTable(id, { signal }) {
  const body = el("tbody", {});
  const empty = el("p", { className: "empty", hidden: true }, "Nobody has applied yet.");
  const head = ["", "User", "Status", "Queued", "Decided"].map((name, at) => el("th", { scope: "col", className: at > 2 ? "wide" : "" }, name || el("span", { className: "hidden" }, "Place")));
  const pages = new PagesAgain((cursor) => api.requests(id, PAGE, cursor), ({ requestId }) => requestId);
  const places = new Map(); // in the queue, by request
  const list = new KeyedList(body, { key: ({ requestId }) => requestId, draw: (request) => row(request, places.get(request.requestId)), state: ({ requestId }) => String(places.get(requestId)), spacer: "tr", signal });
  const more = moreButton(() => attempt("Not all requests are shown.", async () => draw(await pages.readOn())), { className: "button more", signal });
  const table = el("table", { className: "requests" }, el("thead", {}, el("tr", {}, ...head)), body);
  const element = el("div", { className: "feed", role: "region", ariaLabel: "Requests", tabIndex: 0 }, table, empty, more);

  function draw(requests) {
    requests.forEach(({ requestId }, at) => places.set(requestId, at + 1));
    list.show(requests);
    more.hidden = !pages.hasMore;
    empty.hidden = requests.length > 0;
  }
  const load = async () => draw(await pages.readOn());
  // Decisions are shown at once on the first pages, and on later pages when it is their turn.
  const refresh = onceMore(async () => {
    for (let read = 0; read < Math.min(pages.number, AT_ONCE) && !signal.aborted; read += 1) draw(await pages.again().catch(() => pages.items));
  }, { apart: APART });
  poll({ every: () => EVERY, read: () => pages.again(), show: draw, signal });
  return { element, load, refresh };
}

function row(request, place) {
  const { text, tone } = outcome(request);
  const exact = (time) => (time ? el("span", { title: dateTime(time) }, clock(time), el("span", { className: "fraction" }, fraction(time))) : "–");
  return el(
    "tr",
    {},
    el("td", { className: "count" }, number(place)),
    el("th", { scope: "row", title: request.requestId }, request.userId, request.displayName ? el("bdi", { className: "name" }, request.displayName) : null),
    el("td", {}, el("span", { className: `chip ${tone}` }, text)),
    el("td", { className: "wide time" }, exact(request.queuedAt)),
    el("td", { className: "wide time" }, exact(request.finishedAt)),
  );
}
