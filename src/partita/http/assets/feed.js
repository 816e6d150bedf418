// A list of events, newest first, in a frame that scrolls: its newest page is polled, older pages are read while scrolling,
// and the items that are already there keep their place.

import { attempt } from "./attempt.js";
import { el } from "./dom.js";
import { kept, KeyedList } from "./list.js";
import { moreButton, Pages } from "./pages.js";

export class Feed {
  #list;
  #more;
  #none;
  #pages = new Pages();

  // `read(cursor)` returns `{items, next_cursor}`; `name` labels the frame, and `none` is shown if there are no items.
  constructor({ name, read, key, draw, none, className = "", signal }) {
    Object.assign(this, { read, key });
    const rows = el("ul", { className });
    this.#list = new KeyedList(rows, { key, draw, signal });
    this.#none = el("p", { className: "none", hidden: true }, none);
    this.#more = moreButton(() => attempt("The rest could not be loaded.", () => this.#readOn()), { className: "button quiet more", signal });
    this.element = el("div", { className: "feed", role: "region", ariaLabel: name, tabIndex: 0 }, rows, this.#none, this.#more);
  }

  get items() {
    return this.#list.items;
  }

  // Shows the current newest page. Items that were read beyond it stay if they join it without a gap.
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
