// The draw of a lottery: hold it when the event has closed, and verify it here.

import * as api from "./api.js";
import { icon } from "./icons.js";
import { verify } from "./verify.js";
import { dateTime, number, phase, plural, span, until } from "./words.js";
import { el, replace } from "/assets/dom.js";

const SHOWN = 8;

// `canHold` is whether there is a button that holds the draw; everybody may verify one that was held.
export function drawPanel(first, shown, { canHold = true } = {}) {
  let event = first;
  const state = el("div", { className: "draw" });
  const element = el("section", { className: "panel" }, el("header", {}, el("h2", {}, "Draw")), state);
  element.setAttribute("aria-label", "Draw");
  let held = null;
  let frozen = null; // the draw, once its entries are frozen
  let drawn = "";

  async function load() {
    show(await api.draw(event.eventId));
  }

  function show(draw) {
    held = draw.seed ? draw : null;
    frozen = draw.entriesHash ? draw : null;
    drawn = "";
    tick();
    if (held) replace(state, ...result(held, event, shown));
  }

  function tick() {
    if (held) return;
    const isClosed = !["UPCOMING", "OPEN"].includes(phase(event));
    const isCancelled = phase(event) === "CANCELLED";
    const now = isCancelled ? "cancelled" : isClosed ? `closed ${frozen?.entriesHash}` : span(until(event.closesAt));
    if (now !== drawn) replace(state, ...(isCancelled ? [el("p", { className: "lead" }, "There is no draw, because the event was cancelled.")] : waiting(isClosed)));
    drawn = now;
  }

  // Shows the event as it is now, such as after it was cancelled.
  function change(now) {
    event = now;
    tick();
  }

  function waiting(isClosed) {
    const words = isClosed ? "The event has closed. The draw freezes the entries, ranks them by the seed, and reveals the seed." : `The draw can be held when the event has closed, in ${span(until(event.closesAt))}.`;
    const button = el("button", { className: "button primary", type: "button", disabled: !isClosed, onclick: () => hold() }, icon("dice"), el("span", {}, "Hold the draw"));
    const from = event.entropySource ? published("External value", event.entropySource) : null;
    if (frozen && event.entropySource) return [el("p", { className: "lead" }, "The entries are frozen. The draw is held when the external value is known."), from, published("Commitment", event.commitment), published("Entries", frozen.entriesHash), canHold ? valueForm() : null];
    return [el("p", { className: "lead" }, words), from, published("Commitment", event.commitment), canHold ? el("div", { className: "actions" }, button) : null];

    function valueForm() {
      const value = el("input", { name: "entropy", required: true, maxLength: 1000, autocomplete: "off", ariaLabel: "The value that the source has published" });
      return el("form", { className: "actions", onsubmit: (submitted) => { submitted.preventDefault(); hold(value.value.trim()); } }, value, el("button", { className: "button primary" }, icon("dice"), el("span", {}, "Draw with this value")));
    }

    async function hold(entropy = null) {
      button.disabled = true;
      try {
        show(await api.holdDraw(event.eventId, entropy));
        shown.say(held ? "The draw was held." : "The entries are frozen.");
      } catch (error) {
        button.disabled = false;
        shown.say(error.message, true);
      }
    }
  }

  return { element, load, tick, change };
}

function result(draw, event, shown) {
  const checks = el("ul", { className: "checks", "aria-live": "polite" });
  const button = el("button", { className: "button primary", type: "button", onclick: check }, icon("shield"), el("span", {}, "Verify in this browser"));

  async function check() {
    button.disabled = true;
    const found = await verify(draw, event.commitment);
    replace(checks, ...found.map(([what, holds]) => el("li", { className: holds ? "holds" : "fails" }, icon(holds ? "check" : "close"), el("span", {}, what))));
    const good = found.every(([, holds]) => holds);
    shown.say(good ? "The draw is correct." : "The draw is not correct.", !good);
    button.disabled = false;
  }

  return [
    el("p", { className: "lead" }, `Held ${dateTime(draw.drawnAt)}: ${plural(draw.winners.length, "winner")}, ${number(draw.waitingList.length)} on the waiting list.`),
    el("div", { className: "lists" }, entries("Winners", draw.winners, named(event, draw.winners)), entries("Waiting list", draw.waitingList)),
    published("Commitment", draw.commitment),
    published("Seed", draw.seed),
    published("Entries", draw.entriesHash),
    ...(draw.entropySource ? [published("External value", draw.entropySource), published("Value", draw.entropy)] : []),
    el("div", { className: "actions" }, button),
    checks,
  ];
}

// The names of winners who allow everybody to see them; none if they cannot be read.
const named = (event, ids) => (ids.length ? api.names(event.eventId, ids.slice(0, SHOWN)).catch(() => ({ items: [] })) : null);

function entries(title, ids, names = null) {
  const rest = ids.length - SHOWN;
  return el("div", {}, el("h3", {}, title), el("ol", {}, ...ids.slice(0, SHOWN).map((id) => entry(id, names))), rest > 0 ? el("p", { className: "small" }, `and ${number(rest)} more`) : null, ids.length === 0 ? el("p", { className: "small" }, "nobody") : null);
}

function entry(id, names) {
  const item = el("li", {}, el("code", {}, id));
  names?.then(({ items }) => {
    const found = items.find(({ requestId }) => requestId === id);
    if (found) item.append(" ", el("bdi", { className: "name" }, found.displayName));
  });
  return item;
}

const published = (name, value) => el("p", { className: "published" }, el("span", {}, name), el("code", {}, value ?? "–"));
