// Lists that are read page by page.

import { el } from "./dom.js";
import { kept } from "./list.js";

export class Pages {
  #reads;
  #cursor = null;

  // Each of `reads` is a function of a cursor that returns `{items, next_cursor}`; after the last page of one, the next
  // function continues.
  constructor(...reads) {
    this.#reads = reads;
  }

  get hasMore() {
    return this.#reads.length > 0;
  }

  // Returns the next items. Pages may be short or even empty, so it reads until there are `least` items, at most `most` pages.
  async next({ least = 1, most = 10 } = {}) {
    const items = [];
    for (let asked = 0; this.hasMore && items.length < least && asked < most; asked += 1) {
      const page = await this.#reads[0](this.#cursor);
      items.push(...page.items);
      this.#cursor = page.next_cursor ?? null;
      if (this.#cursor === null) this.#reads = this.#reads.slice(1);
    }
    return items;
  }
}

// A list that is read page by page, and refreshed one page at a time: however long it is, a refresh costs one request, and
// all other pages stay.
export class PagesAgain {
  #read;
  #key;
  #pages = []; // for each page that was read: cursor, items, next
  #turn = 0;

  // `read(cursor)` returns `{items, next_cursor}`, and `key(item)` the key of an item, which may move from page to page.
  constructor(read, key) {
    [this.#read, this.#key] = [read, key];
  }

  get hasMore() {
    return this.#pages.length === 0 || this.#pages.at(-1).next !== null;
  }

  // All items that were read, each once. Unchanged items stay the same objects.
  get items() {
    return [...new Map(this.#pages.flatMap(({ items }) => items).map((item) => [this.#key(item), item])).values()];
  }

  async readOn() {
    const cursor = this.#pages.at(-1)?.next ?? null;
    const page = await this.#read(cursor);
    if (cursor === (this.#pages.at(-1)?.next ?? null)) this.#pages.push(this.#taken(cursor, page)); // no concurrent call has read this page
    return this.items;
  }

  get number() {
    return this.#pages.length;
  }

  // Reads the next of the known pages again, in turn.
  async again() {
    if (!this.number) return this.readOn();
    const due = this.#turn % this.number;
    this.#turn = due + 1;
    const { cursor } = this.#pages[due];
    this.#pages[due] = this.#taken(cursor, await this.#read(cursor));
    return this.items;
  }

  #taken(cursor, { items, next_cursor: next }) {
    return { cursor, items: kept(this.items, items, this.#key), next: next ?? null };
  }
}

// A button that reads the next page: when it is pressed, and automatically when it comes near the screen, so that a list
// continues while one scrolls. If `work` fails, it returns null, and the button waits to be pressed.
export function moreButton(work, { className = "link more", byItself = true, signal } = {}) {
  const button = el("button", { className, type: "button", hidden: true }, el("span", {}, "Show more"), el("span", { className: "on-paper" }, "The list continues: only what was loaded is printed."));
  const near = new IntersectionObserver((entries) => {
    if (entries.some(({ isIntersecting }) => isIntersecting)) read();
  }, { rootMargin: "400px", scrollMargin: "400px" });

  async function read() {
    if (button.hidden || button.disabled) return;
    button.disabled = true;
    const hadFocus = document.activeElement === button;
    const isRead = (await work()) !== null;
    button.disabled = false;
    if (hadFocus && !button.hidden) button.focus();
    near.unobserve(button);
    if (byItself && isRead) near.observe(button); // checks again whether the button is near
  }

  button.addEventListener("click", read);
  if (byItself) near.observe(button);
  signal?.addEventListener("abort", () => near.disconnect());
  return button;
}
