// My requests, in the order of the queue, newest first.

import * as api from "./api.js";
import { dateTime, outcome } from "./words.js";
import { el, replace } from "/assets/dom.js";

const REFRESH = 2000;

export async function mine(shown) {
  const list = el("ul", { className: "rows" });
  replace(shown.element, el("header", { className: "head" }, el("h1", {}, "My requests")), list);
  const names = new Map();

  async function load() {
    const { items } = await api.mine();
    await Promise.all(items.map(async ({ eventId }) => names.has(eventId) || names.set(eventId, (await api.event(eventId)).name)));
    replace(list, ...items.map((request) => row(request, names.get(request.eventId))));
    if (items.length === 0) list.append(el("li", { className: "empty" }, "You have not applied for anything yet. ", el("a", { href: "#/" }, "See what there is.")));
    return items;
  }
  await load();
  const timer = setInterval(() => load().catch(() => {}), REFRESH);
  shown.signal.addEventListener("abort", () => clearInterval(timer));
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
