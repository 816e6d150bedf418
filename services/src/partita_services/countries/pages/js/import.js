// Importing a list, for operators: first it shows the changes, then it makes them.

import { button } from "/assets/dialog.js";
import { el, isolated, replace } from "/assets/dom.js";
import { field, Form } from "/assets/form.js";
import { toast } from "/assets/toast.js";
import * as api from "./api.js";
import { LABELS, shown } from "./format.js";
import { operatorPanel, signIn } from "./operator.js";

const VERBS = { create: "new", revise: "changed", delete: "withdrawn", restore: "restored" };

export function importPanel(imported) {
  return operatorPanel("Import a list", "Choose a CSV file in the format that this page exports. The changes are shown before anything is written.", () => {
    const file = el("input", { name: "file", type: "file", accept: ".csv,text/csv", required: true });
    const reason = el("input", { name: "reason", maxLength: 200, autocomplete: "off", dir: "auto" });
    const whole = el("input", { type: "checkbox", name: "whole" });
    const place = el("div", { className: "proposed" });
    const send = async (isApplied) => {
      const text = await file.files[0].text();
      const { changes } = await api.importTable(text, { whole: whole.checked, apply: isApplied, reason: reason.value.trim() });
      const apply = el("button", { className: "button primary", type: "button", onclick: () => form.send(() => send(true)) }, "Apply");
      replace(place, proposals(changes, isApplied), changes.length && !isApplied ? apply : null);
      if (!isApplied) return;
      toast("Imported.");
      imported();
    };
    const fields = [field("CSV file", file), field("Reason", reason), el("label", { className: "check" }, whole, "The list is complete: withdraw countries that are missing from it")];
    const form = new Form({ fields, foot: el("div", { className: "actions" }, button("Show changes", "primary")), submit: () => send(false), signIn });
    form.element.addEventListener("input", () => replace(place)); // the shown changes belong to the previous list
    return el("div", {}, form.element, place);
  });
}

function proposals(changes, isApplied) {
  if (!changes.length) return el("p", { className: "lead", role: "status" }, "Nothing changes.");
  const difference = (each) => el("span", {}, ` ${LABELS[each.field] ?? each.field}: ${isolated(shown(each.before))} → ${isolated(shown(each.after))}`);
  const row = ({ change, alpha2Code, name, differences }) => el("li", {}, el("b", {}, `${alpha2Code} ${VERBS[change]}`), ` ${isolated(name ?? "")} `, ...differences.map(difference));
  const number = changes.length === 1 ? "1 country" : `${changes.length} countries`;
  return [
    el("p", { className: "lead", role: "status" }, `The list ${isApplied ? "changed" : "changes"} ${number}:`),
    el("div", { className: "proposals", tabIndex: 0, role: "region", ariaLabel: "What the list changes" }, el("ul", {}, ...changes.map(row))),
  ];
}
