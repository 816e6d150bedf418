// The versions of a country with the changes of each. Only those near the screen are drawn.

import { attempt } from "/assets/attempt.js";
import { el, isolated, write } from "/assets/dom.js";
import { KeyedList } from "/assets/list.js";
import { moreButton } from "/assets/pages.js";
import { authorship, changes, period, shown } from "./format.js";

export class Versions {
  #chosen = null;

  // `choose(version)` is called when a version is pressed, `grown()` after older versions were read.
  constructor(history, { choose, grown, signal }) {
    Object.assign(this, { history, choose, grown });
    const list = el("ol", { className: "versions" });
    this.lead = el("p", { className: "lead" });
    this.list = new KeyedList(list, { key: numbered, draw: (version) => this.#row(version), state: (version) => this.#state(version), signal });
    this.more = moreButton(() => this.readOn(), { className: "button more", signal });
    this.element = el("section", { className: "panel" }, el("h2", {}, "Versions"), this.lead, list, this.more);
    this.draw();
  }

  draw() {
    const { length } = this.history.versions;
    const said = this.history.hasMore ? `The newest ${length} versions. None was ever overwritten.` : `${length} versions. None was ever overwritten.`;
    write(this.lead, length === 1 ? "One version, never changed." : said);
    this.list.show(this.history.versions);
    this.more.hidden = !this.history.hasMore;
  }

  mark(version) {
    this.#chosen = version?.versionNumber ?? null;
    this.list.show(this.history.versions);
  }

  readOn = () => attempt("The older versions cannot be read.", async () => {
    await this.history.more();
    this.draw();
    this.grown();
  });

  // The oldest version is drawn again with its changes once the previous version is read.
  #state(version) {
    return `${version.versionNumber === this.#chosen} ${this.history.before(version)?.versionNumber}`;
  }

  #row(version) {
    const previous = this.history.before(version);
    const differences = previous ? changes(previous, version) : [];
    const kind = version.isDeleted ? "deleted" : version.expiryDate ? "" : "open";
    const isChosen = version.versionNumber === this.#chosen;
    const title = version.isDeleted ? `${isolated(version.name)} (withdrawn)` : version.name;
    return el(
      "li",
      { className: [kind, isChosen && "chosen"].filter(Boolean).join(" "), "aria-current": isChosen ? "true" : null },
      el("span", { className: "dot", ariaHidden: "true" }),
      el("button", { className: "title", type: "button", title: "Show its first instant", dir: "auto", onclick: () => this.choose(version) }, title),
      el("div", { className: "time" }, `Version ${version.versionNumber}, ${period(version)}`),
      authorship(version) ? el("div", { className: "by", dir: "auto" }, authorship(version)) : null,
      differences.length ? el("ul", { className: "diff" }, ...differences.map(difference)) : null,
    );
  }
}

const numbered = ({ versionNumber }) => String(versionNumber);

function difference({ label, field, before, after }) {
  if (field === "isDeleted") return el("li", {}, el("b", {}, after ? "withdrawn" : "restored"));
  return el("li", {}, el("b", {}, `${label} `), el("del", { dir: "auto" }, shown(before)), " → ", el("ins", { dir: "auto" }, shown(after)));
}
