// The dialog that creates an event.

import * as api from "./api.js";
import { newKey, Refused } from "/assets/api.js";
import { button, openDialog } from "/assets/dialog.js";
import { el } from "/assets/dom.js";
import { field, segments } from "/assets/form.js";
import { now as serverTime } from "/assets/time.js";

const MINUTE = 60_000;

// The value of a date and time field: the local time, without its zone.
export const local = (time) => new Date(time - new Date(time).getTimezoneOffset() * MINUTE).toISOString().slice(0, 16);
const instant = (text) => new Date(text).toISOString();

// Shows at its field that an event would close too early.
export function checkTimes(opens, closes) {
  if (closes.value <= opens.value) throw new Refused(422, { errors: [{ field: "closesAt", message: "Choose a time after the opening." }] });
}

// The key belongs to the dialog, so one event is created however often the button is pressed.
export function createDialog(made) {
  const [now, key] = [serverTime(), newKey()];
  const name = el("input", { name: "name", required: true, maxLength: 100, autocomplete: "off", placeholder: "Opening night, front rows", dir: "auto" });
  const about = el("textarea", { name: "description", maxLength: 2000, rows: 4, dir: "auto", placeholder: "Doors open at seven." });
  const seats = el("input", { name: "capacityTotal", type: "number", required: true, min: 1, max: 1_000_000, value: 500, inputMode: "numeric" });
  const opens = el("input", { name: "opensAt", type: "datetime-local", required: true, value: local(now) });
  const closes = el("input", { name: "closesAt", type: "datetime-local", required: true, value: local(now + 60 * MINUTE) });
  const releases = el("input", { type: "checkbox", className: "box" });
  const drawsItself = el("input", { type: "checkbox", className: "box" });
  const source = el("input", { name: "entropySource", maxLength: 200, autocomplete: "off", placeholder: "drand round 6000000, randomness in hex" });
  const days = el("input", { name: "retentionDays", type: "number", min: 1, max: 3650, value: 400, inputMode: "numeric", required: true });
  const keeps = el("input", { type: "checkbox", className: "box" });
  const type = segments("Who wins", "type", [["FIRST_COME", "First come, first served"], ["LOTTERY", "Lottery"]], "FIRST_COME");

  async function submit() {
    checkTimes(opens, closes);
    const eventType = type.querySelector(":checked").value;
    const draft = { name: name.value, description: about.value, eventType, capacityTotal: Number(seats.value), opensAt: instant(opens.value), closesAt: instant(closes.value), keepsLog: keeps.checked, retentionDays: Number(days.value) };
    if (eventType === "LOTTERY") Object.assign(draft, { drawsItself: drawsItself.checked, entropySource: source.value.trim() || null });
    else draft.freedSeats = releases.checked ? "RELEASE" : "WAITING_LIST";
    made(await api.create(draft, key));
  }

  const firstCome = tick(releases, "No waiting list: users who find no seat may apply again when one is freed");
  const lottery = el("div", { className: "lottery", hidden: true }, tick(drawsItself, "Hold the draw automatically when the event closes"), field("External value that the draw will use (optional)", source));
  type.addEventListener("change", ({ target }) => {
    firstCome.hidden = target.value === "LOTTERY";
    lottery.hidden = target.value !== "LOTTERY";
  });
  openDialog({
    title: "New event",
    className: "editor",
    body: [field("Name", name), field("Description (optional)", about), type, field("Seats", seats), el("div", { className: "pair" }, field("Opens", opens), field("Closes", closes)), firstCome, lottery, field("Days to keep requests after the event closes", days), tick(keeps, "Keep a log of every step of every request")],
    buttons: [el("span", { className: "space" }), button("Create", "primary")],
    submit,
  });
  name.focus();
}

const tick = (box, text) => el("label", { className: "tick" }, box, el("span", {}, text));
