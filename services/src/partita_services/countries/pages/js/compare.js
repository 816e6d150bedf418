// Two versions of a country side by side, and the fields in which they differ.

import { el, replace } from "/assets/dom.js";
import { field } from "/assets/form.js";
import { latest } from "/assets/latest.js";
import { failed, skeleton } from "/assets/states.js";
import * as api from "./api.js";
import { LABELS, period, shown } from "./format.js";

export class Compare {
  #asked = latest();

  // If there is only one version, there is nothing to compare, and no `element`.
  constructor(code, history) {
    Object.assign(this, { code, history, element: null });
    if (history.versions.length < 2) return;
    this.before = el("select", {});
    this.after = el("select", {});
    this.place = el("div", { role: "status" });
    this.offer();
    this.before.selectedIndex = 1;
    for (const each of [this.before, this.after]) each.addEventListener("change", () => this.#show());
    this.element = el("section", { className: "panel compare" }, el("h2", {}, "Compare"), el("div", { className: "pair" }, field("Before", this.before), field("After", this.after)), this.place);
    this.#show();
  }

  // Offers all versions that were read.
  offer() {
    for (const each of [this.before, this.after]) {
      if (each) each.append(...this.history.versions.slice(each.length).map(option));
    }
  }

  #show() {
    if (!this.place.hasChildNodes()) replace(this.place, skeleton(1));
    return this.#asked(() => api.compare(this.code, this.before.value, this.after.value), (compared) => replace(this.place, differences(compared)), (error) => {
      if (error.status === undefined) throw error;
      replace(this.place, failed(error, () => this.#show(), "The versions cannot be compared"));
    });
  }
}

const option = (version) => el("option", { value: version.versionNumber }, `Version ${version.versionNumber}, ${period(version)}`);

function differences({ changes = [] }) {
  if (!changes.length) return el("p", { className: "lead" }, "These versions have the same content.");
  const row = ({ field: name, before, after }) =>
    el("tr", {}, el("th", { scope: "row" }, LABELS[name] ?? name), el("td", {}, el("del", { dir: "auto" }, shown(before))), el("td", {}, el("ins", { dir: "auto" }, shown(after))));
  return el("table", { className: "differences" }, el("tbody", {}, ...changes.map(row)));
}
