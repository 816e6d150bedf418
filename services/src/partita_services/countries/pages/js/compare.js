// Two versions of a country side by side, and the fields in which they differ.

import * as api from "./api.js";
import { el, replace } from "/assets/dom.js";
import { LABELS, period } from "./format.js";

// Nothing to compare where there is one version alone.
export function comparePanel(code, versions) {
  if (versions.length < 2) return null;
  const before = chooser("Before", versions, versions.at(1));
  const after = chooser("After", versions, versions[0]);
  const table = el("div", { role: "status" });
  let asked = 0;
  const show = async () => {
    const question = ++asked;
    const compared = await api.compare(code, before.control.value, after.control.value).catch((error) => error);
    if (question === asked) replace(table, compared instanceof Error ? el("p", { className: "wrong" }, compared.message) : differences(compared));
  };
  for (const { control } of [before, after]) control.addEventListener("change", show);
  show();
  return el("section", { className: "panel compare" }, el("h2", {}, "Compare"), el("div", { className: "grid two" }, before.label, after.label), table);
}

function chooser(title, versions, chosen) {
  const option = (version) => el("option", { value: version.versionNumber, selected: version === chosen }, `Version ${version.versionNumber}, ${period(version)}`);
  const control = el("select", {}, ...versions.map(option));
  return { control, label: el("label", { className: "field" }, el("span", {}, title), control) };
}

function differences({ changes = [] }) {
  if (!changes.length) return el("p", { className: "lead" }, "They say the same.");
  const row = ({ field, before, after }) =>
    el("tr", {}, el("th", { scope: "row" }, LABELS[field] ?? field), el("td", {}, el("del", {}, text(before))), el("td", {}, el("ins", {}, text(after))));
  return el("table", { className: "differences" }, el("tbody", {}, ...changes.map(row)));
}

const text = (value) => (typeof value === "boolean" ? (value ? "yes" : "no") : String(value ?? "none"));
