// Lists that come page by page: what was read so far, and whether there is more.

import { el } from "./dom.js";
import { kept } from "./list.js";

export class Pages {
  #reads;
  #cursor = null;

  // Each of `reads(cursor)` gives `{items, next_cursor}`; where one has no more, the next one goes on.
  constructor(...reads) {
    this.#reads = reads;
  }

  get hasMore() {
    return this.#reads.length > 0;
  }

  // The next items. A page may be short, or empty, and go on: it is read on until there are `least`, `most` times at most.
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

// A list that is read page by page, and again, one page at a time: however long it is, a look costs one request, and what was
// read beyond it stays.
export class PagesAgain {
  #read;
  #key;
  #pages = []; // as they were read: cursor, items, next
  #turn = 0;

  // `read(cursor)` gives `{items, next_cursor}`, and `key(item)` names an item, which may move from page to page.
  constructor(read, key) {
    [this.#read, this.#key] = [read, key];
  }

  get hasMore() {
    return this.#pages.length === 0 || this.#pages.at(-1).next !== null;
  }

  // What was read, each once; what is the same is the same object.
  get items() {
    return [...new Map(this.#pages.flatMap(({ items }) => items).map((item) => [this.#key(item), item])).values()];
  }

  async readOn() {
    const cursor = this.#pages.at(-1)?.next ?? null;
    const page = await this.#read(cursor);
    if (cursor === (this.#pages.at(-1)?.next ?? null)) this.#pages.push(this.#taken(cursor, page)); // nobody else has read it
    return this.items;
  }

  get number() {
    return this.#pages.length;
  }

  // Reads the page again whose turn it is.
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

// A button that reads on: when it is pressed, and by itself when it comes near the screen, so that a list goes on as one
// scrolls. `work` gives null where it failed; then it waits to be pressed.
export function moreButton(work, { className = "link more", byItself = true, signal } = {}) {
  const button = el("button", { className, type: "button", hidden: true }, "Show more");
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
    if (byItself && isRead) near.observe(button); // asks again whether it is near
  }

  button.addEventListener("click", read);
  if (byItself) near.observe(button);
  signal?.addEventListener("abort", () => near.disconnect());
  return button;
}
