// Parts of forms: fields, buttons, and where the outcome of a call is said.

import { Refused } from "/assets/api.js";
import { el } from "/assets/dom.js";

// What was typed cannot be sent.
export class Mistake extends Error {}

export function field(title, properties, wide = "") {
  const control = el("input", { type: "text", autocomplete: "off", ...properties });
  return { control, label: el("label", { className: `field ${wide}` }, el("span", {}, title), control) };
}

export function choice(title, options, properties = {}) {
  const control = el("select", properties, ...options.map(([value, text]) => el("option", { value }, text)));
  return { control, label: el("label", { className: "field" }, el("span", {}, title), control) };
}

export function button(title, kind = "", onclick = null) {
  return el("button", { className: `button ${kind}`, type: onclick ? "button" : "submit", onclick: onclick ?? undefined }, title);
}

export const panel = (title, lead, ...children) =>
  el("section", { className: "panel" }, el("h2", {}, title), lead && el("p", { className: "lead" }, lead), ...children);

// Gives the line where an outcome is said, and what runs a call and says it.
export function saying() {
  const said = el("p", { className: "said", role: "status" });
  const say = (text, kind = "") => {
    said.className = `said ${kind}`;
    said.textContent = text;
  };
  const run = (work) => async (event) => {
    event.preventDefault();
    say("Working…");
    try {
      const done = await work();
      if (done) say(done, "right");
    } catch (error) {
      say(error.message, "wrong");
      if (!(error instanceof Refused || error instanceof Mistake)) throw error;
    }
  };
  return { said, say, run };
}
