// What operators may do: change, delete, restore and create. The token stays in this tab.

import * as api from "./api.js";
import { el, replace } from "/assets/dom.js";
import { choices } from "/assets/signin.js";

export function editor(country, latest, changed) {
  return panel("Edit", (signedOut) => (latest.isDeleted ? restoring(country, changed, signedOut) : editing(country, changed, signedOut)));
}

export function creator(alpha2, created) {
  return panel(`Create ${alpha2}`, (signedOut) => {
    const fields = dataFields({ name: "", alpha3Code: "", numericCode: "" });
    const { said, run } = saying(created);
    const save = run(() => api.create(alpha2, values(fields), reasonIn(fields)), "Created.");
    return [
      ...head(`Create ${alpha2}`, "Its first version holds from now on."),
      el("form", { onsubmit: save }, grid(fields), actions(button("Create", "primary"), forget(signedOut)), said),
    ];
  });
}

// A panel for operators: first the token, then what it is for.
export function panel(title, draw) {
  const section = el("section", { className: "panel" });
  const redraw = () => replace(section, ...(api.token.get() ? draw(redraw) : signIn(title, redraw)));
  redraw();
  return section;
}

function editing(country, changed, signedOut) {
  const fields = dataFields(country);
  const { said, run } = saying(changed);
  const save = run(() => api.save(country.alpha2Code, values(fields), reasonIn(fields), country.etag), "A new version is in place.");
  const remove = run(() => api.remove(country.alpha2Code, reasonIn(fields), country.etag), "Deleted. Every version is still there.");
  return [
    ...head("Edit", "Saving closes the open version and adds the next, at one instant."),
    el("form", { onsubmit: save }, grid(fields), actions(button("Save version", "primary"), button("Delete", "danger", remove), forget(signedOut)), said),
  ];
}

function restoring(country, changed, signedOut) {
  const { said, run } = saying(changed);
  const reason = reasonField();
  const restore = run(() => api.restore(country.alpha2Code, reasonIn([reason])), "Restored.");
  return [...head("Edit", "A withdrawn country can be restored: one more version."), grid([reason]), actions(button("Restore", "primary", restore), forget(signedOut)), said];
}

function signIn(title, done) {
  const input = field("Operator token", { name: "token", type: "password", required: true, autocomplete: "off" }, "wide");
  const submit = (event) => {
    event.preventDefault();
    api.token.set(input.control.value);
    done();
  };
  const said = el("p", { className: "said wrong", role: "alert" });
  const buttons = el("div", { className: "actions" });
  const byToken = el("details", { className: "by-token" }, el("summary", {}, "Use a token"), el("pre", {}, "partita token --user you --role operator"), el("form", { onsubmit: submit }, grid([input]), actions(button("Use token", "primary"))));
  choices({ roles: ["operator"], done, failed: (text) => { said.textContent = text; } }).then((found) => {
    replace(buttons, found);
    if (!found.length) byToken.open = true;
  });
  return [...head(title, "Operators may add versions."), buttons, said, byToken];
}

// Where the outcome of a write is said, and how one is run.
export function saying(done) {
  const said = el("p", { className: "said", role: "status" });
  const run = (work, message) => async (event) => {
    event.preventDefault();
    said.className = "said";
    said.textContent = "Saving…";
    try {
      await work();
      await done(message);
    } catch (error) {
      if (error.status === 401) api.token.forget();
      said.className = "said wrong";
      said.textContent = error.message;
    }
  };
  return { said, run };
}

export const head = (title, lead) => [el("h2", {}, title), el("p", { className: "lead" }, lead)];
export const grid = (fields) => el("div", { className: "grid" }, ...fields.map(({ label }) => label));
export const actions = (...buttons) => el("div", { className: "actions" }, ...buttons);
const forget = (signedOut) => button("Forget token", "", () => { api.token.forget(); signedOut(); });

function dataFields(country) {
  return [
    field("Name", { name: "name", value: country.name, required: true, maxLength: 200 }, "wide"),
    field("Alpha-3", { name: "alpha3Code", value: country.alpha3Code, required: true, pattern: "[A-Za-z]{3}", className: "mono", maxLength: 3 }),
    field("Numeric", { name: "numericCode", value: country.numericCode ?? "", required: true, pattern: "[0-9]{3}", className: "mono", maxLength: 3, inputMode: "numeric" }),
    reasonField(),
  ];
}

const reasonField = () => field("Reason", { name: "reason", maxLength: 200, placeholder: "why, for those who read it later" }, "wide all");
const reasonIn = (fields) => fields.at(-1).control.value.trim();

function values(fields) {
  const [name, alpha3Code, numericCode] = fields.map(({ control }) => control.value.trim());
  return { name, alpha3Code: alpha3Code.toUpperCase(), numericCode };
}

export function field(title, properties, wide = "") {
  const control = el("input", { type: "text", ...properties });
  return { control, label: el("label", { className: `field ${wide}` }, el("span", {}, title), control) };
}

export function button(title, kind, onclick = null) {
  return el("button", { className: `button ${kind}`, type: onclick ? "button" : "submit", onclick: onclick ?? undefined }, title);
}
