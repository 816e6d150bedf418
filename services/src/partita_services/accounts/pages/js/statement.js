// The statement of a month: its totals, every entry with the balance after it, newest first, and the same as CSV.

import { attempt, refused } from "/assets/attempt.js";
import { el, replace } from "/assets/dom.js";
import { field } from "/assets/form.js";
import { latest } from "/assets/latest.js";
import { KeyedList } from "/assets/list.js";
import { moreButton, Pages } from "/assets/pages.js";
import { empty, failed, skeleton } from "/assets/states.js";
import { toast } from "/assets/toast.js";
import * as api from "./api.js";
import { KINDS, moment, money, monthName, signed } from "./format.js";

const TRIES = 3; // while money moves; the last movement is read after the next event

export class Statement {
  #asked = latest();
  #wanted; // the month that was chosen; "" for the newest
  #shown = null; // the statement of the month that is shown
  #months = [];
  #pages = null;
  #entries = [];

  constructor(pk, { month, chose, isUnknown, signIn, signal }) {
    Object.assign(this, { pk, isUnknown, signIn });
    this.#wanted = month;
    this.select = el("select", {});
    this.select.addEventListener("change", () => {
      chose(this.select.value);
      this.goTo(this.select.value);
    });
    const download = el("button", { className: "button", type: "button", onclick: () => this.#download() }, "Download CSV");
    this.totals = el("dl", { className: "totals" });
    this.caption = el("caption", { className: "hidden" });
    this.rows = el("tbody", {});
    this.list = new KeyedList(this.rows, { key: keyOf, draw: row, spacer: "tr", signal });
    this.more = moreButton(() => attempt("The other entries cannot be read.", () => this.#readOn(), { signIn }), { className: "button more", signal });
    const frame = el("div", { className: "feed", role: "region", ariaLabel: "Entries", tabIndex: 0 }, table(this.caption, this.rows), this.more);
    this.full = [el("div", { className: "row" }, field("Month", this.select), download), this.totals, frame];
    this.place = el("div", { className: "place" }, skeleton(3));
    this.element = el("section", { className: "panel" }, el("h2", {}, "Statement"), this.place);
    this.load();
  }

  goTo(month) {
    if (month === this.#wanted) return undefined;
    this.#wanted = month;
    return this.load();
  }

  // Reads the statement, again with as many entries as are shown. The content stays meanwhile.
  load() {
    const wanted = this.#wanted;
    this.place.setAttribute("aria-busy", "true");
    return this.#asked(() => this.#read(wanted), (found) => this.#show(found), (error) => {
      this.place.removeAttribute("aria-busy");
      if (error.status === undefined) throw error;
      this.#failed(error, wanted);
    });
  }

  // Balances are counted back from that of the statement, so entries and statement must be of the same time.
  async #read(wanted) {
    let months = await api.statements(this.pk);
    for (let tries = 1; ; tries += 1) {
      const statement = months.find(({ month }) => month === wanted) ?? months[0];
      if (!statement) return { months, entries: [] };
      const pages = new Pages((cursor) => api.entries(this.pk, statement.month, cursor));
      const least = statement.month === this.#shown?.month ? Math.max(1, this.#entries.length) : 1;
      const entries = await pages.next({ least, most: Math.ceil(least / api.PAGE) + 1 });
      months = await api.statements(this.pk);
      const after = months.find(({ month }) => month === statement.month);
      if (after?.entries === statement.entries || tries === TRIES) return { months, statement, pages, entries };
    }
  }

  #show({ months, statement, pages, entries }) {
    this.place.removeAttribute("aria-busy");
    if (!statement) return replace(this.place, empty("No money has moved yet."));
    const known = new Map(this.#entries.map((entry) => [keyOf(entry), entry]));
    [this.#months, this.#shown, this.#pages, this.#entries] = [months, statement, pages, []];
    this.#take(entries, known);
    if (this.select.length !== months.length || this.select.options[0].value !== months[0].month) replace(this.select, ...months.map(({ month }) => el("option", { value: month }, monthName(month))));
    this.select.value = statement.month;
    replace(this.totals, ...totals(statement));
    this.caption.textContent = `Entries of ${monthName(statement.month)}`;
    if (this.place.firstChild !== this.full[0]) replace(this.place, ...this.full);
    return this.#draw();
  }

  // The balance before an entry is the balance after it minus its amount. Known entries keep their row.
  #take(entries, known = new Map()) {
    const last = this.#entries.at(-1);
    let balance = last ? last.after - last.amount : this.#shown.closing;
    for (const entry of entries) {
      const old = known.get(keyOf(entry));
      this.#entries.push(old?.after === balance ? old : { ...entry, after: balance });
      balance -= entry.amount;
    }
  }

  #draw() {
    this.list.show([...this.#entries]);
    this.more.hidden = !this.#pages.hasMore;
  }

  async #readOn() {
    const pages = this.#pages;
    const entries = await pages.next();
    if (pages !== this.#pages) return; // another month is shown, or everything was read again
    this.#take(entries);
    this.#draw();
  }

  #failed(error, wanted) {
    const again = () => {
      this.#wanted = wanted;
      return this.load();
    };
    if (!this.#shown) {
      if (!this.isUnknown(error)) replace(this.place, failed(error, again, "The statement cannot be read"));
      return;
    }
    this.#wanted = this.select.value = this.#shown.month; // that month is still shown
    refused("The statement was not read.", error, again, { signIn: this.signIn });
  }

  // The call needs the token, so a plain link would not work.
  #download() {
    const { month } = this.#shown;
    return attempt("The statement was not saved.", async () => {
      const address = URL.createObjectURL(await api.csv(this.pk, month));
      el("a", { href: address, download: `${this.pk}-${month}.csv` }).click();
      setTimeout(() => URL.revokeObjectURL(address));
      toast("Saved the statement.");
    }, { signIn: this.signIn });
  }
}

const keyOf = ({ entry_id, kind }) => `${entry_id} ${kind}`;

function totals({ opening, received, spent, closing }) {
  const total = (title, amount) => el("div", {}, el("dt", {}, title), el("dd", { className: "money" }, money(amount)));
  return [total("Opening balance", opening), total("Received", received), total("Spent", spent), total("Closing balance", closing)];
}

function table(caption, rows) {
  const head = el("tr", {}, ...["When", "What"].map((text) => el("th", { scope: "col" }, text)), ...["Amount", "Balance"].map((text) => el("th", { scope: "col", className: "number" }, text)));
  return el("table", { className: "entries stacked" }, caption, el("thead", {}, head), rows);
}

function row(entry) {
  const other = { transfer_in: "from", transfer_out: "to" }[entry.kind];
  const about = [other && `${other} ${entry.counterpart}`, entry.memo, entry.by && `by ${entry.by}`].filter(Boolean).join(" · ");
  return el(
    "tr",
    {},
    el("td", { className: "when" }, moment(entry.at)),
    el("td", {}, KINDS[entry.kind], about && el("span", { className: "sub", dir: "auto" }, about)),
    el("td", { className: `number money${entry.amount > 0 ? " in" : ""}` }, signed(entry.amount)),
    el("td", { className: "number money after" }, money(entry.after)),
  );
}
