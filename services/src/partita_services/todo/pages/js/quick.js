// Adding a task in a column: a title and Enter, and the next one.

import { newKey } from "/assets/api.js";
import { el } from "/assets/dom.js";
import { Form } from "/assets/form.js";
import { icon } from "./icons.js";

// Returns the button that opens the form, and the form. `add(title, draft)` creates the task, and may fail.
export function quickAdd(column, add) {
  const input = el("input", { required: true, maxLength: 200, autocomplete: "off", dir: "auto", placeholder: "What is to be done?", ariaLabel: `New task in ${column}` });
  let draft = { key: newKey() };

  async function submit() {
    if (!input.value.trim()) return;
    await add(input.value, draft);
    draft = { key: newKey() };
    input.value = "";
  }

  const form = new Form({ fields: [input], foot: null, submit });
  form.element.className = "quick";
  form.element.hidden = true;
  const button = el("button", { className: "button square plus", type: "button", title: "Add a task here", ariaLabel: `Add a task in ${column}`, ariaExpanded: "false" }, icon("plus"));
  const toggle = (isOpen) => {
    form.element.hidden = !isOpen;
    button.ariaExpanded = String(isOpen);
    (isOpen ? input : button).focus();
  };
  button.addEventListener("click", () => toggle(form.element.hidden));
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    toggle(false);
  });
  return { button, form: form.element };
}
