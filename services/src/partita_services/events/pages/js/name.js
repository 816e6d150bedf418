// The name of an applicant, and whether others may see it.

import { el } from "/assets/dom.js";
import { field } from "/assets/form.js";

const WHO = "Show my name to operators, and to everybody in the list of winners";

// Two fields that keep what was typed; `value` returns what to send, undefined if there is nothing.
export function nameFields() {
  const name = el("input", { name: "displayName", maxLength: 80, autocomplete: "name", dir: "auto" });
  const shows = el("input", { type: "checkbox", className: "box", disabled: true });
  name.addEventListener("input", () => {
    shows.disabled = !name.value.trim();
    if (shows.disabled) shows.checked = false;
  });
  const element = el("div", { className: "applicant" }, field("Your name (optional)", name), el("label", { className: "tick" }, shows, el("span", {}, WHO)));
  const value = () => (name.value.trim() ? { displayName: name.value.trim(), showsName: shows.checked } : undefined);
  return { element, value };
}

// The name on a request, for its applicant, who may hide it, show it or remove it.
export function nameRow(request, rename) {
  const { displayName, showsName } = request;
  if (!displayName) return null;
  const act = (label, applicant) => el("button", { className: "button small", type: "button", onclick: () => rename(applicant) }, label);
  return el(
    "p",
    { className: "named" },
    "You applied as ",
    el("bdi", { className: "name" }, displayName),
    showsName ? ". Others may see it. " : ". Only you see it. ",
    act(showsName ? "Hide my name" : "Show my name", { displayName, showsName: !showsName }),
    " ",
    act("Remove my name", {}),
  );
}
