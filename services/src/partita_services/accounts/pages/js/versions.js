// The versions of the account, newest first.

import { attempt } from "/assets/attempt.js";
import { el, replace } from "/assets/dom.js";
import { latest } from "/assets/latest.js";
import { KeyedList } from "/assets/list.js";
import { moreButton, Pages } from "/assets/pages.js";
import { empty, failed, skeleton } from "/assets/states.js";
import * as api from "./api.js";
import { moment, money } from "./format.js";

export class VersionTable {
  #asked = latest();
  #pages = null;
  #versions = [];

  constructor(pk, { isUnknown, signIn, signal }) {
    Object.assign(this, { pk, isUnknown });
    this.rows = el("tbody", {});
    this.list = new KeyedList(this.rows, { key: ({ last_write }) => String(last_write), draw: row, spacer: "tr", signal });
    this.more = moreButton(() => attempt("The older versions cannot be read.", () => this.#readOn(), { signIn }), { className: "button more", signal });
    const head = el("tr", {}, ...["Since", "Name"].map((text) => el("th", { scope: "col" }, text)), el("th", { scope: "col", className: "number" }, "Balance then"), el("th", { scope: "col" }, "Written by"));
    this.table = el("table", { className: "versions stacked" }, el("caption", { className: "hidden" }, "Versions of the account"), el("thead", {}, head), this.rows);
    this.frame = el("div", { className: "feed", role: "region", ariaLabel: "Versions", tabIndex: 0 }, this.table, this.more);
    this.place = el("div", { className: "place" }, skeleton(2));
    const lead = el("p", { className: "lead" }, "The versions of this account, newest first. Movements of money are in the statement.");
    this.element = el("section", { className: "panel" }, el("h2", {}, "Versions"), lead, this.place);
    this.load();
  }

  // A version never changes, so known versions keep their row.
  load() {
    const read = async () => {
      const pages = new Pages((cursor) => api.versions(this.pk, cursor));
      const least = Math.max(1, this.#versions.length);
      return { pages, versions: await pages.next({ least, most: Math.ceil(least / api.PAGE) + 1 }) };
    };
    return this.#asked(read, ({ pages, versions }) => {
      const known = new Map(this.#versions.map((version) => [version.last_write, version]));
      [this.#pages, this.#versions] = [pages, versions.map((version) => known.get(version.last_write) ?? version)];
      this.#draw();
    }, (error) => {
      if (error.status === undefined) throw error;
      if (!this.isUnknown(error) && !this.#pages) replace(this.place, failed(error, () => this.load(), "The versions cannot be read"));
    });
  }

  async #readOn() {
    const pages = this.#pages;
    const versions = await pages.next();
    if (pages !== this.#pages) return; // all were read again meanwhile
    this.#versions = [...this.#versions, ...versions];
    this.#draw();
  }

  #draw() {
    if (!this.#versions.length) return replace(this.place, empty("No versions are stored."));
    if (!this.frame.isConnected) replace(this.place, this.frame);
    this.list.show(this.#versions);
    this.more.hidden = !this.#pages.hasMore;
    return undefined;
  }
}

function row(version) {
  return el(
    "tr",
    {},
    el("td", { className: "when" }, moment(version.last_write)),
    el("td", { dir: "auto" }, version.name),
    el("td", { className: "number money" }, money(version.balance)),
    el("td", { className: "after by", dir: "auto" }, version.by),
  );
}
