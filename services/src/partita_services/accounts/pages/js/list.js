// The accounts on the left: the person's own, those shared with them, and the button to open one.

import { keysByContent } from "/assets/api.js";
import { attempt } from "/assets/attempt.js";
import { button, openDialog } from "/assets/dialog.js";
import { el, replace } from "/assets/dom.js";
import { field } from "/assets/form.js";
import { latest } from "/assets/latest.js";
import { KeyedList } from "/assets/list.js";
import { moreButton, Pages } from "/assets/pages.js";
import { failed, skeleton } from "/assets/states.js";
import * as api from "./api.js";
import { minorUnits, money, wrongField } from "./format.js";

export class AccountList {
  #asked = latest();
  #current = "";

  // `opened(account)` is called with a new account, and `read()` whenever the accounts were read; `isUnknown(error)` returns
  // whether the sign-in is no longer valid.
  constructor(place, { opened, isUnknown, read }) {
    Object.assign(this, { place, isUnknown, read, open: () => openAccount(opened) });
    const isCurrent = ({ pk }) => String(pk === this.#current);
    this.own = new Group("Your accounts", api.own, { isCurrent, about: ({ pk }) => pk, nothing: "You have none yet: open one below." });
    this.shared = new Group("Shared with you", api.shared, { isCurrent, about: ({ pk, owner }) => `${pk}, of ${owner}` });
    const add = el("button", { className: "button", type: "button", onclick: this.open }, "Open an account");
    this.parts = [this.own.element, this.shared.element, el("div", {}, add)];
  }

  get isShown() {
    return this.own.element.isConnected;
  }

  // Whether the person has no account, as far as is known.
  get isEmpty() {
    return this.isShown && !this.known.length;
  }

  // The accounts that were read so far.
  get known() {
    return [...this.own.items, ...this.shared.items];
  }

  wait() {
    if (!this.isShown) replace(this.place, skeleton(4));
  }

  load() {
    this.wait();
    const ask = () => Promise.all([this.own.read(), this.shared.read()]);
    return this.#asked(ask, ([own, shared]) => {
      this.own.show(own);
      this.shared.show(shared);
      if (!this.isShown) replace(this.place, ...this.parts);
      this.read();
    }, (error) => {
      if (error.status === undefined) throw error;
      if (this.isUnknown(error) || this.isShown) return; // the content stays
      replace(this.place, failed(error, () => this.load(), "The accounts cannot be read"));
    });
  }

  mark(current) {
    this.#current = current;
    this.own.draw();
    this.shared.draw();
  }
}

// Accounts under a heading: they are read page by page, and only those near the screen are drawn.
class Group {
  #pages = new Pages();
  #items = [];

  constructor(title, ask, { isCurrent, about, nothing = "" }) {
    Object.assign(this, { ask, about, isCurrent, nothing });
    const rows = el("ul", { className: "accounts" });
    this.empty = el("p", { className: "empty", hidden: true }, nothing);
    this.list = new KeyedList(rows, { key: ({ pk }) => pk, draw: (account) => this.#row(account), state: isCurrent });
    this.more = moreButton(() => attempt("The other accounts cannot be read.", async () => {
      const pages = this.#pages;
      const items = await pages.next();
      if (pages !== this.#pages) return; // all were read again meanwhile
      this.#items = [...this.#items, ...items];
      this.draw();
    }), { className: "button more" });
    this.element = el("section", { hidden: true }, el("h2", {}, title), rows, this.empty, this.more);
  }

  // Reads at least as many as are shown.
  async read() {
    const pages = new Pages(this.ask);
    const least = Math.max(1, this.#items.length);
    return { pages, items: await pages.next({ least, most: Math.ceil(least / api.PAGE) + 1 }) };
  }

  show({ pages, items }) {
    const known = new Map(this.#items.map((account) => [account.pk, account]));
    this.#pages = pages;
    this.#items = items.map((account) => (isSame(known.get(account.pk), account) ? known.get(account.pk) : account));
    this.draw();
  }

  get items() {
    return this.#items;
  }

  draw() {
    this.list.show(this.#items);
    this.more.hidden = !this.#pages.hasMore;
    this.empty.hidden = this.#items.length > 0;
    this.element.hidden = !this.#items.length && !this.nothing;
  }

  #row(account) {
    const link = el(
      "a",
      { href: `#/${encodeURIComponent(account.pk)}`, "aria-current": this.isCurrent(account) === "true" ? "page" : null },
      el("span", { className: "name", dir: "auto" }, account.name),
      el("span", { className: "money" }, money(account.balance)),
      el("span", { className: "sub" }, this.about(account)),
    );
    return el("li", {}, link);
  }
}

const isSame = (one, other) => one && one.name === other.name && one.balance === other.balance && one.owner === other.owner;

function openAccount(opened) {
  const pk = el("input", { name: "pk", required: true, pattern: "[A-Za-z0-9][A-Za-z0-9._~\\-]{0,63}", title: "letters, digits and . _ ~ -", maxLength: 64, placeholder: "holiday-2027", autocomplete: "off" });
  const name = el("input", { name: "name", required: true, maxLength: 100, autocomplete: "off", dir: "auto" });
  const balance = el("input", { name: "balance", inputMode: "decimal", placeholder: "0.00", autocomplete: "off" });
  const keyFor = keysByContent();
  let account = null;
  const submit = async () => {
    const units = balance.value.trim() ? minorUnits(balance.value) : 0;
    if (units === null) throw wrongField("balance", "Enter an amount like 12.50.");
    const draft = { pk: pk.value.trim(), name: name.value, balance: units };
    try {
      account = await api.open(draft, keyFor(draft));
    } catch (error) {
      throw error.problem?.code === "already_exists" ? wrongField("pk", "Another account has this key.") : error;
    }
  };
  openDialog({
    title: "Open an account",
    body: [field("Key", pk, { hint: "Others enter it to send money to this account." }), field("Name", name), field("Opening balance", balance)],
    buttons: [el("span", { className: "space" }), button("Open account", "primary")],
    submit,
    closed: () => account && opened(account),
  });
  pk.focus();
}
