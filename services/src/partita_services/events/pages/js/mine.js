// The caller's requests in queue order, newest first.

import * as api from "./api.js";
import { dateTime, outcome } from "./words.js";
import { attempt } from "/assets/attempt.js";
import { el, replace } from "/assets/dom.js";
import { KeyedList } from "/assets/list.js";
import { moreButton, PagesAgain } from "/assets/pages.js";
import { poll } from "/assets/poll.js";

const REFRESH = 2000;
const GONE = 404;

export async function mine(shown) {
  const list = el("ul", { className: "rows" });
  const names = new Map();

  const rows = new KeyedList(list, { key: ({ requestId }) => requestId, draw: (request) => row(request, names.get(request.eventId)), state: (request) => JSON.stringify(request), signal: shown.signal });
  const none = el("p", { className: "empty", hidden: true }, "You have not applied for anything yet. ", el("a", { href: "#/" }, "See what there is."));
  const pages = new PagesAgain(api.mine, ({ requestId }) => requestId);

  // The requests, once the names of their events are known.
  async function named(items) {
    const missing = [...new Set(items.map(({ eventId }) => eventId))].filter((event) => !names.has(event));
    await Promise.all(missing.map(async (event) => names.set(event, await nameOf(event))));
    return items;
  }

  function draw(items) {
    rows.show(items);
    none.hidden = items.length > 0;
    more.hidden = !pages.hasMore;
  }
  const more = moreButton(() => attempt("Not all requests are shown.", async () => draw(await named(await pages.readOn()))), { className: "button more", signal: shown.signal });
  draw(await named(await pages.readOn()));
  replace(shown.element, el("header", { className: "head" }, el("h1", {}, "My requests")), list, none, more);
  poll({ every: () => REFRESH, read: async () => named(await pages.again()), show: draw, signal: shown.signal });
}

async function nameOf(event) {
  try {
    return (await api.event(event)).name;
  } catch (error) {
    if (error.status !== GONE) throw error;
    return "An event that no longer exists";
  }
}

function row(request, name) {
  const { text, tone } = outcome(request);
  return el(
    "li",
    {},
    el(
      "a",
      { className: "row", href: `#/events/${request.eventId}` },
      el("strong", { dir: "auto" }, name),
      el("span", { className: `chip ${tone}` }, text),
      el("span", { className: "when" }, `Applied ${dateTime(request.requestedAt)}`),
    ),
  );
}
