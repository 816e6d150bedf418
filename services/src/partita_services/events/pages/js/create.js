// A dialog that makes an event.

import * as api from "./api.js";
import { icon } from "./icons.js";
import { el } from "/assets/dom.js";

const MINUTE = 60_000;

// What a field for date and time takes: the time of this place, without its zone.
const local = (time) => new Date(time - new Date(time).getTimezoneOffset() * MINUTE).toISOString().slice(0, 16);
const instant = (text) => new Date(text).toISOString();

export function createDialog(made) {
  const now = Date.now();
  const name = el("input", { name: "name", required: true, maxLength: 100, autocomplete: "off", placeholder: "Opening night, front rows" });
  const seats = el("input", { name: "seats", type: "number", required: true, min: 1, max: 1_000_000, value: 500, inputMode: "numeric" });
  const opens = el("input", { name: "opens", type: "datetime-local", required: true, value: local(now) });
  const closes = el("input", { name: "closes", type: "datetime-local", required: true, value: local(now + 60 * MINUTE) });
  const releases = el("input", { type: "checkbox", className: "box", name: "releases" });
  const drawsItself = el("input", { type: "checkbox", className: "box", name: "drawsItself" });
  const source = el("input", { name: "source", maxLength: 200, autocomplete: "off", placeholder: "drand round 6000000, randomness in hex" });
  const days = el("input", { name: "days", type: "number", min: 1, max: 3650, value: 400, inputMode: "numeric", required: true });
  const keeps = el("input", { type: "checkbox", className: "box" });
  const said = el("p", { className: "wrong", role: "alert" });
  const dialog = el("dialog", { className: "editor" });
  dialog.setAttribute("aria-label", "New event");

  async function submit(event) {
    event.preventDefault();
    const eventType = new FormData(event.target).get("type");
    const draft = { name: name.value, eventType, capacityTotal: Number(seats.value), opensAt: instant(opens.value), closesAt: instant(closes.value), keepsLog: keeps.checked, retentionDays: Number(days.value) };
    if (eventType === "LOTTERY") Object.assign(draft, { drawsItself: drawsItself.checked, entropySource: source.value.trim() || null });
    else draft.freedSeats = releases.checked ? "RELEASE" : "WAITING_LIST";
    try {
      const created = await api.create(draft);
      dialog.close();
      made(created);
    } catch (error) {
      const fields = (error.problem?.errors ?? []).map((each) => `${each.field}: ${each.message}`);
      said.textContent = fields.length ? fields.join("; ") : error.message;
    }
  }

  const firstCome = el("label", { className: "tick" }, releases, el("span", {}, "No waiting list: who finds no seat may apply again when one comes back"));
  const lottery = el("div", { hidden: true }, el("label", { className: "tick" }, drawsItself, el("span", {}, "Draw by itself at the closing")), field("Value from outside that the draw will use (optional)", source));
  dialog.addEventListener("change", ({ target }) => {
    if (target.name !== "type") return;
    firstCome.hidden = target.value === "LOTTERY";
    lottery.hidden = target.value !== "LOTTERY";
  });

  dialog.append(
    el(
      "form",
      { onsubmit: submit },
      el("header", {}, el("h2", {}, "New event"), el("button", { className: "button square", type: "button", ariaLabel: "Close", onclick: () => dialog.close() }, icon("close"))),
      field("Name", name),
      el(
        "fieldset",
        { className: "segments" },
        el("legend", {}, "Who wins"),
        el("div", {}, choice("FIRST_COME", "First come, first served", true), choice("LOTTERY", "Lottery", false)),
      ),
      field("Seats", seats),
      el("div", { className: "pair" }, field("Opens", opens), field("Closes", closes)),
      firstCome,
      lottery,
      field("Days to keep requests after the closing", days),
      el("label", { className: "tick" }, keeps, el("span", {}, "Keep a log of every step of every request")),
      said,
      el("footer", {}, el("span", { className: "space" }), el("button", { className: "button primary" }, "Create")),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  name.focus();
}

const field = (label, input) => el("label", { className: "field" }, el("span", {}, label), input);

function choice(value, label, checked) {
  return el("label", {}, el("input", { type: "radio", name: "type", value, checked }), el("span", {}, label));
}
