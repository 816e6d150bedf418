// All events, as cards: for users who want a seat, and for operators who manage the events.

import * as api from "./api.js";
import { createDialog } from "./create.js";
import { icon } from "./icons.js";
import { dateTime, number, phase, PHASES, plural, span, TYPES, until } from "./words.js";
import { attempt } from "/assets/attempt.js";
import { el, replace } from "/assets/dom.js";
import { KeyedList } from "/assets/list.js";
import { moreButton, PagesAgain } from "/assets/pages.js";
import { poll } from "/assets/poll.js";

const ORDER = ["OPEN", "UPCOMING", "CLOSED", "FINISHED", "CANCELLED"];
const REFRESH = 5000;

export async function eventList(shown, { operating }) {
  const head = el("header", { className: "head" }, el("h1", {}, operating ? "Operate" : "Events"), el("span", { className: "space" }));
  const cards = el("ul", { className: "cards" });
  if (operating) head.append(createButton());

  const list = new KeyedList(cards, { key: ({ eventId }) => eventId, draw: (event) => card(event, operating), state: (event) => `${phase(event)}${when(event)}${event.capacityRemaining}${event.name}`, signal: shown.signal });
  const none = el("p", { className: "empty", hidden: true }, operating ? "There is no event yet. Create the first one." : "There is no event yet.");
  const pages = new PagesAgain(api.events, ({ eventId }) => eventId);

  function draw(events) {
    list.show(events.toSorted((a, b) => ORDER.indexOf(phase(a)) - ORDER.indexOf(phase(b))));
    none.hidden = events.length > 0;
    more.hidden = !pages.hasMore;
  }
  const more = moreButton(() => attempt("Not all events are shown.", async () => draw(await pages.readOn())), { className: "button more", signal: shown.signal });
  draw(await pages.readOn());
  replace(shown.element, head, cards, none, more);
  // The pages that were read are read again, one at a time, so that seats and phases are current.
  poll({ every: () => REFRESH, read: () => pages.again(), show: draw, signal: shown.signal });
}

function createButton() {
  const open = () => createDialog((made) => { location.hash = `#/operate/${made.eventId}`; });
  return el("button", { className: "button primary", type: "button", onclick: open }, icon("plus"), el("span", {}, "New event"));
}

function card(event, operating) {
  const href = `#/${operating ? "operate" : "events"}/${event.eventId}`;
  return el(
    "li",
    {},
    el(
      "a",
      { className: "card", href },
      el("span", { className: "facts" }, chip(event), el("span", { className: "type" }, icon(event.eventType === "LOTTERY" ? "dice" : "queue"), TYPES[event.eventType])),
      el("strong", { dir: "auto" }, event.name),
      el("span", { className: "when" }, when(event)),
      seatBar(event),
    ),
  );
}

export function chip(event) {
  const at = phase(event);
  return el("span", { className: `chip ${at.toLowerCase()}` }, PHASES[at]);
}

export function when(event) {
  const at = phase(event);
  if (at === "UPCOMING") return `Opens ${dateTime(event.opensAt)}, in ${span(until(event.opensAt))}`;
  if (at === "OPEN") return `Open until ${dateTime(event.closesAt)}, for ${span(until(event.closesAt))}`;
  if (at === "CANCELLED" && until(event.closesAt) > 0) return `Was to close ${dateTime(event.closesAt)}`;
  return `Closed ${dateTime(event.closesAt)}`;
}

// The description, with the operator's line breaks; nothing if it is empty.
export const about = (event) => (event.description ? el("p", { className: "about", dir: "auto" }, event.description) : null);

// How many seats are left, as words and as a bar.
export function seatBar(event) {
  const { capacityTotal: total, capacityRemaining: left } = event;
  const bar = el("span", { className: "bar" }, el("span", { className: "filled" }));
  bar.firstChild.style.width = `${(100 * (total - left)) / total}%`;
  const words = event.eventType === "LOTTERY" && left === total ? plural(total, "seat") : left === 0 ? `All ${plural(total, "seat")} taken` : `${number(left)} of ${plural(total, "seat")} left`;
  return el("span", { className: "seats" }, bar, el("span", { className: "left" }, words));
}
