// My requests, in the order of the queue, newest first.

import * as api from "./api.js";
import { dateTime, outcome } from "./words.js";
import { attempt } from "/assets/attempt.js";
import { el, replace } from "/assets/dom.js";
import { KeyedList } from "/assets/list.js";
import { moreButton, PagesAgain } from "/assets/pages.js";
import { poll } from "/assets/poll.js";

const REFRESH = 2000;

export async function mine(shown) {
  const list = el("ul", { className: "rows" });
  const names = new Map();

  const rows = new KeyedList(list, { key: ({ requestId }) => requestId, draw: (request) => row(request, names.get(request.eventId)), state: (request) => JSON.stringify(request), signal: shown.signal });
  const none = el("p", { className: "empty", hidden: true }, "You have not applied for anything yet. ", el("a", { href: "#/" }, "See what there is."));
  const pages = new PagesAgain(api.mine, ({ requestId }) => requestId);

  async function draw(items) {
    await Promise.all(items.map(async ({ eventId }) => names.has(eventId) || names.set(eventId, (await api.event(eventId).catch(() => ({ name: "An event that is gone" }))).name)));
    rows.show(items);
    none.hidden = items.length > 0;
    more.hidden = !pages.hasMore;
  }
  const more = moreButton(() => attempt("Not all requests are shown.", async () => draw(await pages.readOn())), { className: "button more", signal: shown.signal });
  await draw(await pages.readOn());
  replace(shown.element, el("header", { className: "head" }, el("h1", {}, "My requests")), list, none, more);
  poll({ every: () => REFRESH, read: () => pages.again(), show: draw, signal: shown.signal });
}

function row(request, name) {
  const { text, tone } = outcome(request);
  return el(
    "li",
    {},
    el(
      "a",
      { className: "row", href: `#/events/${request.eventId}` },
      el("strong", {}, name),
      el("span", { className: `chip ${tone}` }, text),
      el("span", { className: "when" }, `Applied ${dateTime(request.requestedAt)}`),
    ),
  );
}
