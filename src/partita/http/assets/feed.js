// A list of what happened, newest first, in a frame that scrolls: its head is looked at again and again, its tail is read as
// one scrolls, and what is there keeps its place.

import { attempt } from "./attempt.js";
import { el } from "./dom.js";
import { kept, KeyedList } from "./list.js";
import { moreButton, Pages } from "./pages.js";

export class Feed {
  #list;
  #more;
  #none;
  #pages = new Pages();

  // `read(cursor)` gives `{items, next_cursor}`; `name` is the frame's, and `none` is said where there is nothing.
  constructor({ name, read, key, draw, none, className = "", signal }) {
    Object.assign(this, { read, key });
    const rows = el("ul", { className });
    this.#list = new KeyedList(rows, { key, draw, signal });
    this.#none = el("p", { className: "none", hidden: true }, none);
    this.#more = moreButton(() => attempt("Not all is shown.", () => this.#readOn()), { className: "button quiet more", signal });
    this.element = el("div", { className: "feed", role: "region", ariaLabel: name, tabIndex: 0 }, rows, this.#none, this.#more);
  }

  get items() {
    return this.#list.items;
  }

  // Shows the newest page as it is now. What was read beyond it stays, where the two meet.
  show(page) {
    const known = this.#list.items;
    const last = page.items.at(-1);
    const at = last === undefined ? -1 : known.findIndex((item) => this.key(item) === this.key(last));
    const meets = at >= 0 && page.next_cursor !== null;
    if (!meets) this.#pages = page.next_cursor === null ? new Pages() : new Pages((cursor) => this.read(cursor ?? page.next_cursor));
    this.#draw([...kept(known, page.items, this.key), ...(meets ? known.slice(at + 1) : [])]);
  }

  async #readOn() {
    const pages = this.#pages;
    const items = await pages.next();
    if (pages === this.#pages) this.#draw([...this.#list.items, ...items]);
  }

  #draw(items) {
    this.#list.show(items);
    this.#none.hidden = items.length > 0 || this.#pages.hasMore;
    this.#more.hidden = !this.#pages.hasMore;
  }
}
