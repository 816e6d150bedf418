// Changes that operators make to an existing event: editing its terms, and cancelling it.

import * as api from "./api.js";
import { checkTimes, local } from "./create.js";
import { phase } from "./words.js";
import { button, openDialog } from "/assets/dialog.js";
import { el } from "/assets/dom.js";
import { field } from "/assets/form.js";

// The buttons; `changed` is called with the changed event.
export function changes(event, shown, changed) {
  if (phase(event) === "CANCELLED") return null;
  const edit = el("button", { className: "button", type: "button", onclick: () => editDialog(event, shown, changed) }, "Edit");
  const cancel = el("button", { className: "button danger", type: "button", onclick: () => cancelDialog(event, shown, changed) }, "Cancel the event");
  return el("div", { className: "actions" }, edit, cancel);
}

function editDialog(event, shown, changed) {
  const at = phase(event); // by the clock, when the dialog opens
  const name = el("input", { name: "name", required: true, maxLength: 100, value: event.name, dir: "auto" });
  const about = el("textarea", { name: "description", maxLength: 2000, rows: 4, dir: "auto", value: event.description ?? "" });
  const seats = el("input", { name: "capacityTotal", type: "number", required: true, min: at === "UPCOMING" ? 1 : event.capacityTotal, max: 1_000_000, value: event.capacityTotal, inputMode: "numeric" });
  const opens = el("input", { name: "opensAt", type: "datetime-local", required: true, value: local(Date.parse(event.opensAt)), disabled: at !== "UPCOMING" });
  const closes = el("input", { name: "closesAt", type: "datetime-local", required: true, value: local(Date.parse(event.closesAt)), disabled: !["UPCOMING", "OPEN"].includes(at) });
  // Only changed fields are sent, because a date and time field has no seconds.
  const change = () => ({
    ...(name.value !== event.name ? { name: name.value } : {}),
    ...(about.value.trim() !== (event.description ?? "") ? { description: about.value } : {}),
    ...(Number(seats.value) !== event.capacityTotal ? { capacityTotal: Number(seats.value) } : {}),
    ...(opens.value !== opens.defaultValue ? { opensAt: new Date(opens.value).toISOString() } : {}),
    ...(closes.value !== closes.defaultValue ? { closesAt: new Date(closes.value).toISOString() } : {}),
  });
  opens.defaultValue = opens.value;
  closes.defaultValue = closes.value;
  const fields = [field("Name", name), field("Description (optional)", about), field("Seats", seats), el("div", { className: "pair" }, field("Opens", opens), field("Closes", closes))];
  dialog("Edit the event", fields, "Save", async () => {
    const edited = change();
    if (edited.opensAt || edited.closesAt) checkTimes(opens, closes);
    changed(await api.edit(event.eventId, edited));
    shown.say("The event was changed.");
  });
}

function cancelDialog(event, shown, changed) {
  const reason = el("input", { name: "reason", required: true, maxLength: 200, autocomplete: "off" });
  const words = el("p", {}, "Nobody gets a seat any more, and everybody who applied is told the reason. This cannot be undone.");
  dialog("Cancel the event", [words, field("Reason, for those who applied", reason)], "Cancel the event", async () => {
    changed(await api.cancelEvent(event.eventId, reason.value));
    shown.say("The event was cancelled.");
  }, "danger solid");
}

function dialog(title, body, label, submit, kind = "primary") {
  openDialog({ title, body, className: "editor", buttons: [el("span", { className: "space" }), button(label, kind)], submit });
}
