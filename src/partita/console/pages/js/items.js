// A table of items, with a column for each field. Only the rows near the viewport are drawn.

import { el, replace } from "/assets/dom.js";
import { KeyedList } from "/assets/list.js";

export class ItemTable {
  #items = [];
  #names = [];
  #rows;

  constructor(signal) {
    this.head = el("tr", {});
    const body = el("tbody", {});
    this.#rows = new KeyedList(body, { key: ({ number }) => String(number), draw: (item) => this.#row(item), state: () => this.#names.join(), spacer: "tr", signal });
    this.table = el("table", { className: "items" }, el("thead", {}, this.head), body);
    this.plain = el("pre", { hidden: true, tabIndex: 0 });
    this.element = el("div", { className: "wide tall", tabIndex: 0, role: "region", ariaLabel: "Items", hidden: true }, this.table, this.plain);
  }

  get length() {
    return this.#items.length;
  }

  add(items) {
    this.#items.push(...items.map((item, at) => ({ number: this.#items.length + at, item })));
    this.element.hidden = !this.length;
    const isTable = this.#items.every(({ item }) => item !== null && typeof item === "object" && !Array.isArray(item));
    this.table.hidden = !isTable;
    this.plain.hidden = isTable;
    if (!isTable) this.plain.textContent = JSON.stringify(this.#items.map(({ item }) => item), null, 2);
    else this.#draw(items);
  }

  #draw(items) {
    const names = [...new Set([...this.#names, ...items.flatMap(Object.keys)])];
    if (names.length > this.#names.length) {
      this.#names = names;
      replace(this.head, names.map((name) => el("th", { scope: "col" }, name)));
    }
    this.#rows.show([...this.#items]);
  }

  #row({ item }) {
    return el("tr", {}, this.#names.map((name) => el("td", { dir: "auto" }, shown(item[name]))));
  }
}

function shown(value) {
  if (value === null || value === undefined) return el("span", { className: "absent" }, "–");
  return typeof value === "object" ? el("code", {}, JSON.stringify(value)) : String(value);
}
