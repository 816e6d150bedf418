// How an applicant wants to be called, and whether others may see that.

import { el } from "/assets/dom.js";
import { field } from "/assets/form.js";

const WHO = "Operators may see my name, and everybody on the list of winners";

// Two fields that keep what was typed; `value` is what is sent, undefined where there is nothing to send.
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

// What a request says of its applicant, for the applicant: they may hide the name, show it, or take it back.
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
