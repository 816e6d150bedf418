// Importing a table: first what it would change, then the changes. For operators.

import * as api from "./api.js";
import { el, replace } from "/assets/dom.js";
import { actions, button, field, grid, head, panel, saying } from "./edit.js";

const VERBS = { create: "new", revise: "changed", delete: "withdrawn", restore: "restored" };

export function importPanel(imported) {
  return panel("Import a list", () => {
    const file = field("CSV file", { name: "file", type: "file", accept: ".csv,text/csv", required: true }, "wide");
    const reason = field("Reason", { name: "reason", maxLength: 200 }, "wide");
    const whole = el("input", { type: "checkbox", name: "whole" });
    const shown = el("div", {});
    const { said, run } = saying((message) => said_(said, message));
    const send = async (apply) => {
      const text = await file.control.files[0].text();
      const result = await api.importTable(text, { whole: whole.checked, apply, reason: reason.control.value.trim() });
      replace(shown, table(result.changes), result.changes.length && !apply ? button("Apply", "primary", applying) : null);
      if (apply) await imported();
    };
    const applying = run(() => send(true), "Imported.");
    const form = el("form", { onsubmit: run(() => send(false), "This is what it would change.") }, grid([file, reason]), el("label", { className: "check" }, whole, "It is the whole list: withdraw what it does not have"), actions(button("Show changes", "primary")));
    return [...head("Import a list", "A table as this page exports it. Nothing is written before you have seen it."), form, said, shown];
  });
}

function said_(line, message) {
  line.className = "said right";
  line.textContent = message;
}

function table(changes) {
  if (!changes.length) return el("p", { className: "lead" }, "Nothing changes.");
  const row = ({ change, alpha2Code, name, differences }) =>
    el("li", {}, el("b", {}, `${alpha2Code} ${VERBS[change]}`), ` ${name ?? ""} `, ...differences.map((each) => el("span", {}, ` ${each.field}: ${each.before ?? "none"} → ${each.after ?? "none"}`)));
  return el("ul", { className: "proposals" }, ...changes.map(row));
}
