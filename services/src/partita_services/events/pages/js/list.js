// All events, as cards: for users who want a seat, and for operators who look after them.

import * as api from "./api.js";
import { createDialog } from "./create.js";
import { icon } from "./icons.js";
import { dateTime, number, phase, PHASES, plural, span, TYPES, until } from "./words.js";
import { el, replace } from "/assets/dom.js";

const ORDER = ["OPEN", "UPCOMING", "CLOSED", "FINISHED"];
const REFRESH = 5000;

export async function eventList(shown, { operating }) {
  const head = el("header", { className: "head" }, el("h1", {}, operating ? "Operate" : "Events"), el("span", { className: "space" }));
  const cards = el("ul", { className: "cards" });
  if (operating) head.append(createButton());
  replace(shown.element, head, cards);

  async function load() {
    const { items } = await api.events();
    const sorted = [...items].sort((a, b) => ORDER.indexOf(phase(a)) - ORDER.indexOf(phase(b)));
    draw(cards, sorted, operating);
  }
  await load();
  const timer = setInterval(() => load().catch(() => {}), REFRESH);
  shown.signal.addEventListener("abort", () => clearInterval(timer));
}

function createButton() {
  const open = () => createDialog((made) => { location.hash = `#/operate/${made.eventId}`; });
  return el("button", { className: "button primary", type: "button", onclick: open }, icon("plus"), el("span", {}, "New event"));
}

function draw(cards, events, operating) {
  const focused = document.activeElement?.closest?.(".cards a")?.getAttribute("href");
  replace(cards, ...events.map((event) => card(event, operating)));
  if (events.length === 0) cards.append(el("li", { className: "empty" }, operating ? "There is no event yet. Make the first one." : "There is no event yet."));
  if (focused) cards.querySelector(`a[href="${focused}"]`)?.focus();
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
      el("strong", {}, event.name),
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
  return `Closed ${dateTime(event.closesAt)}`;
}

// How many seats are left, as words and as a bar.
export function seatBar(event) {
  const { capacityTotal: total, capacityRemaining: left } = event;
  const bar = el("span", { className: "bar" }, el("span", { className: "filled" }));
  bar.firstChild.style.width = `${(100 * (total - left)) / total}%`;
  const words = event.eventType === "LOTTERY" && left === total ? plural(total, "seat") : left === 0 ? `All ${plural(total, "seat")} taken` : `${number(left)} of ${plural(total, "seat")} left`;
  return el("span", { className: "seats" }, bar, el("span", { className: "left" }, words));
}
