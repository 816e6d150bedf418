// What operators change about an event that is there: its terms, and whether it takes place.

import * as api from "./api.js";
import { icon } from "./icons.js";
import { phase } from "./words.js";
import { el } from "/assets/dom.js";

const MINUTE = 60_000;
const local = (time) => new Date(time - new Date(time).getTimezoneOffset() * MINUTE).toISOString().slice(0, 16);

// The buttons; `changed` gets the event as it is then.
export function changes(event, shown, changed) {
  if (phase(event) === "CANCELLED") return null;
  const edit = el("button", { className: "button", type: "button", onclick: () => editDialog(event, shown, changed) }, "Edit");
  const cancel = el("button", { className: "button danger", type: "button", onclick: () => cancelDialog(event, shown, changed) }, "Cancel the event");
  return el("div", { className: "actions" }, edit, cancel);
}

function editDialog(event, shown, changed) {
  const at = phase(event); // by the clock, when the dialog opens
  const name = el("input", { name: "name", required: true, maxLength: 100, value: event.name });
  const seats = el("input", { name: "seats", type: "number", required: true, min: at === "UPCOMING" ? 1 : event.capacityTotal, max: 1_000_000, value: event.capacityTotal, inputMode: "numeric" });
  const opens = el("input", { name: "opens", type: "datetime-local", required: true, value: local(Date.parse(event.opensAt)), disabled: at !== "UPCOMING" });
  const closes = el("input", { name: "closes", type: "datetime-local", required: true, value: local(Date.parse(event.closesAt)), disabled: !["UPCOMING", "OPEN"].includes(at) });
  // Only what was changed is sent: a field for date and time knows no seconds.
  const change = () => ({
    ...(name.value !== event.name ? { name: name.value } : {}),
    ...(Number(seats.value) !== event.capacityTotal ? { capacityTotal: Number(seats.value) } : {}),
    ...(opens.value !== opens.defaultValue ? { opensAt: new Date(opens.value).toISOString() } : {}),
    ...(closes.value !== closes.defaultValue ? { closesAt: new Date(closes.value).toISOString() } : {}),
  });
  opens.defaultValue = opens.value;
  closes.defaultValue = closes.value;
  const fields = [field("Name", name), field("Seats", seats), el("div", { className: "pair" }, field("Opens", opens), field("Closes", closes))];
  dialog("Edit the event", fields, "Save", async () => {
    changed(await api.edit(event.eventId, change()));
    shown.say("The event was changed.");
  });
}

function cancelDialog(event, shown, changed) {
  const reason = el("input", { name: "reason", required: true, maxLength: 200, autocomplete: "off" });
  const words = el("p", {}, "Nobody gets a seat any more, and everybody who applied is told why. This cannot be undone.");
  dialog("Cancel the event", [words, field("Reason, for those who applied", reason)], "Cancel the event", async () => {
    changed(await api.cancelEvent(event.eventId, reason.value));
    shown.say("The event was cancelled.");
  });
}

function dialog(title, fields, label, act) {
  const made = el("dialog", { className: "editor" });
  const said = el("p", { className: "wrong", role: "alert" });
  made.setAttribute("aria-label", title);
  async function submit(submitted) {
    submitted.preventDefault();
    try {
      await act();
      made.close();
    } catch (error) {
      const wrong = (error.problem?.errors ?? []).map((each) => `${each.field}: ${each.message}`);
      said.textContent = wrong.length ? wrong.join("; ") : error.message;
    }
  }
  const close = el("button", { className: "button square", type: "button", ariaLabel: "Close", onclick: () => made.close() }, icon("close"));
  const footer = el("footer", {}, el("span", { className: "space" }), el("button", { className: "button primary" }, label));
  made.append(el("form", { onsubmit: submit }, el("header", {}, el("h2", {}, title), close), ...fields, said, footer));
  made.addEventListener("close", () => made.remove());
  document.body.append(made);
  made.showModal();
}

const field = (label, input) => el("label", { className: "field" }, el("span", {}, label), input);
