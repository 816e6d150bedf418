// Forms: sent once, however often the button is pressed. Each invalid field shows its error.

import { Refused } from "./api.js";
import { el, replace } from "./dom.js";
import { fieldErrors } from "./explain.js";
import { signInAgain } from "./signin.js";
import { guard } from "./unsaved.js";

let made = 0;

// A control with its label, a hint, and room for its error. `name` is the name of the field in the request.
export function field(label, control, { hint = "", name = control.name } = {}) {
  control.id ||= `field-${++made}`;
  const parts = [el("label", { htmlFor: control.id }, label), control];
  if (hint) parts.push(el("small", { id: `${control.id}-hint` }, hint));
  const wrong = el("p", { className: "wrong", id: `${control.id}-wrong` });
  control.setAttribute("aria-describedby", [hint && `${control.id}-hint`, wrong.id].filter(Boolean).join(" "));
  const element = el("div", { className: "field" }, ...parts, wrong);
  element.dataset.field = name;
  element.say = (text) => {
    wrong.textContent = text;
    if (text) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  };
  control.addEventListener("input", () => element.say(""));
  return element;
}

// A choice of one of several values, as a row of buttons.
export function segments(legend, name, options, chosen, className = "segments") {
  const choice = ([value, content]) => el("label", {}, el("input", { type: "radio", name, value, checked: value === chosen }), typeof content === "string" ? el("span", {}, content) : content);
  return el("fieldset", { className: `${className} ${name}` }, el("legend", {}, legend), el("div", {}, ...options.map(choice)));
}

export class Form {
  #isAtWork = false;
  #submit;
  #signIn;
  #last; // what was sent last

  // `submit()` sends the form. Errors are shown at the fields that they name, or below all fields. `signIn()` signs in again.
  constructor({ fields, foot, submit, signIn = signInAgain }) {
    this.#submit = submit;
    this.#signIn = signIn;
    this.isTouched = false;
    this.said = el("div", { className: "wrong", role: "alert" });
    this.element = el("form", { noValidate: false }, ...fields, this.said, foot);
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.element.isUnsaved = () => this.isTouched;
    this.element.addEventListener("input", () => {
      this.isTouched = true;
      guard();
    });
  }

  say(...lines) {
    replace(this.said, ...lines);
    if (lines.length) this.said.scrollIntoView({ block: "nearest" }); // above the buttons of a long dialog
  }

  // Empties controls after their content was sent; the others keep theirs. It resets the form, because otherwise the browser
  // marks the emptied fields as invalid.
  empty(...controls) {
    const others = [...this.element.querySelectorAll("input, select, textarea")].filter((each) => !controls.includes(each));
    const before = others.map((each) => [each, each.value, each.checked]);
    this.element.reset();
    for (const [each, value, checked] of before) Object.assign(each, { value }, checked === undefined ? {} : { checked });
    this.isTouched = false;
  }

  async send(work = this.#submit) {
    if (this.#isAtWork) return; // Enter was pressed twice
    this.#isAtWork = true;
    this.#last = work;
    this.element.setAttribute("aria-busy", "true");
    this.say();
    try {
      await work();
      this.isTouched = false;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (!error.isSaid) this.#refused(error);
    } finally {
      this.#isAtWork = false;
      this.element.removeAttribute("aria-busy");
    }
  }

  #refused(error) {
    const wrong = fieldErrors(error);
    let first = null;
    for (const each of this.element.querySelectorAll("[data-field]")) {
      if (!wrong.has(each.dataset.field)) continue;
      each.say(wrong.get(each.dataset.field));
      first ??= each.querySelector("input, textarea, select");
    }
    if (first) first.focus();
    else if (error.status === 401) this.say(el("p", {}, error.message), this.#signInButton());
    else this.say(el("p", {}, error.message));
  }

  // The form keeps its content, and sends it after the person has signed in again.
  #signInButton() {
    const again = async () => (await this.#signIn()) && this.send(this.#last);
    return el("button", { className: "button", type: "button", onclick: again }, "Sign in again");
  }
}
