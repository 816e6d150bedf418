// Lists that are drawn again only where they changed: what stays keeps its element, its focus and its place. Of thousands
// of rows, only those near the screen are drawn.

import { el } from "./dom.js";

const ALL = 200; // so many are drawn whole, and found by the browser's own search
const AROUND = 1200; // pixels beyond the screen
const GUESS = 80; // of a row that was never drawn
const CONTROLS = "a[href], button, input, select, textarea, [tabindex]";

export class KeyedList {
  #rows = new Map(); // by key: item, state and element of what is drawn
  #heights = new Map(); // by key, of what was drawn once
  #items = [];
  #window = [0, 0];
  #above;
  #below;

  // `element` holds nothing else. `key(item)` names it, `draw(item)` gives its element, and `state(item)` is what that
  // depends on besides the item, which is a new object whenever it has changed. What
  // is not one row below the other, such as a grid, is drawn whole (`isWhole`). `signal` ends it.
  constructor(element, { key, draw, state = () => "", spacer = "li", isWhole = false, signal }) {
    Object.assign(this, { element, key, draw, state, most: isWhole ? Infinity : ALL });
    this.#above = el(spacer, { className: "spacer", ariaHidden: "true", role: "presentation", hidden: true });
    this.#below = this.#above.cloneNode();
    document.addEventListener("scroll", () => this.#scrolled(), { capture: true, passive: true, signal });
    addEventListener("resize", () => this.#scrolled(), { signal });
  }

  get items() {
    return this.#items;
  }

  show(items) {
    this.#items = items;
    this.#draw();
  }

  // The element of an item, scrolled to if it was not drawn.
  reveal(key) {
    const at = this.#items.findIndex((item) => this.key(item) === key);
    if (at < 0) return null;
    if (!this.#rows.has(key)) this.#draw([Math.max(0, at - 20), Math.min(this.#items.length, at + 20)]);
    return this.#rows.get(key).element;
  }

  #scrolled() {
    if (this.#items.length <= this.most || !this.element.isConnected) return;
    const [from, to] = this.#wanted();
    if (from < this.#window[0] || to > this.#window[1]) this.#draw();
  }

  // From which item to which is near the screen.
  #wanted() {
    if (this.#items.length <= this.most) return [0, this.#items.length];
    const top = this.element.getBoundingClientRect().top - this.element.scrollTop;
    const [first, last] = [-top - AROUND, -top + innerHeight + AROUND];
    const guess = this.#guess();
    let [at, from, to] = [0, null, 0];
    for (const [number, item] of this.#items.entries()) {
      if (at > last) break;
      at += this.#heights.get(this.key(item)) ?? guess;
      if (at >= first) from ??= number;
      to = number + 1;
    }
    return [from ?? Math.max(0, to - 1), to];
  }

  #guess() {
    if (!this.#heights.size) return GUESS;
    return [...this.#heights.values()].reduce((sum, height) => sum + height, 0) / this.#heights.size;
  }

  #draw(window = this.#wanted()) {
    const seen = this.#firstSeen();
    this.#window = window;
    const drawn = this.#items.slice(...window);
    const focused = this.#focusedKey();
    // What has the keyboard stays, at an end of what is drawn.
    const kept = focused === null ? -1 : this.#items.findIndex((item) => this.key(item) === focused);
    if (kept >= window[1]) drawn.push(this.#items[kept]);
    else if (kept >= 0 && kept < window[0]) drawn.unshift(this.#items[kept]);
    const control = focused === null ? null : document.activeElement;
    this.#reconcile(drawn);
    if (control?.isConnected && document.activeElement !== control) control.focus({ preventScroll: true }); // it was moved
    this.#space();
    if (seen?.row.isConnected) seen.scroller.scrollTop += top(seen.row) - seen.top;
  }

  // What one looks at stays where it is, though the room above it is another: the browser's own anchor does not see that. At
  // the very beginning one looks for what is new.
  #firstSeen() {
    const isVirtual = this.#items.length > this.most;
    this.element.style.overflowAnchor = isVirtual ? "none" : "";
    const scroller = isVirtual ? scrollerOf(this.element) : null;
    if (!scroller?.scrollTop) return null;
    const edge = Math.max(0, scroller === document.scrollingElement ? 0 : top(scroller));
    const row = [...this.element.children].find((each) => each.dataset.key !== undefined && each.getBoundingClientRect().bottom > edge);
    return row && top(row) < innerHeight ? { row, scroller, top: top(row) } : null;
  }

  #focusedKey() {
    if (!this.element.contains(document.activeElement)) return null;
    for (const [key, { element }] of this.#rows) if (element.contains(document.activeElement)) return key;
    return null;
  }

  #reconcile(items) {
    const keys = new Set(items.map(this.key));
    for (const [key, row] of this.#rows) {
      if (keys.has(key)) continue;
      row.element.remove();
      this.#rows.delete(key);
    }
    let next = this.element.firstElementChild === this.#above ? this.#above.nextElementSibling : this.element.firstElementChild;
    for (const item of items) {
      const element = this.#row(item, (old, drawn) => { if (old === next) next = drawn; });
      // One that moved down stands before the others: it goes, not they.
      if (element !== next && next?.nextElementSibling === element && keys.has(next.dataset.key)) {
        const late = next;
        next = element;
        this.element.append(late);
      }
      if (element === next) next = next.nextElementSibling;
      else this.element.insertBefore(element, next);
    }
  }

  // The element of an item, drawn again where the item or what it depends on has changed.
  #row(item, replaced) {
    const key = this.key(item);
    const state = this.state(item);
    const row = this.#rows.get(key);
    if (row && row.item === item && row.state === state) return row.element;
    const element = this.draw(item);
    element.dataset.key = key;
    if (row) {
      const control = [...row.element.querySelectorAll(CONTROLS)].indexOf(document.activeElement);
      row.element.replaceWith(element);
      replaced(row.element, element);
      if (control >= 0) element.querySelectorAll(CONTROLS)[control]?.focus({ preventScroll: true });
    }
    this.#rows.set(key, { item, state, element });
    return element;
  }

  // Empty room for what is not drawn, as high as it was or would be.
  #space() {
    const [from, to] = this.#window;
    if (this.#items.length <= this.most) {
      this.#above.remove();
      this.#below.remove();
      return;
    }
    for (const [key, { element }] of this.#rows) if (element.offsetHeight) this.#heights.set(key, outerHeight(element));
    const guess = this.#guess();
    const height = (items) => items.reduce((sum, item) => sum + (this.#heights.get(this.key(item)) ?? guess), 0);
    const room = (spacer, items) => {
      spacer.hidden = items.length === 0;
      spacer.style.height = `${height(items)}px`;
    };
    room(this.#above, this.#items.slice(0, from));
    room(this.#below, this.#items.slice(to));
    if (this.element.firstElementChild !== this.#above) this.element.prepend(this.#above);
    if (this.element.lastElementChild !== this.#below) this.element.append(this.#below);
  }
}

// The items as they are now, with the old object for each that is the same: what has not changed is not drawn again.
export function kept(before, after, key) {
  const known = new Map(before.map((item) => [key(item), item]));
  return after.map((item) => {
    const old = known.get(key(item));
    return old !== undefined && JSON.stringify(old) === JSON.stringify(item) ? old : item;
  });
}

const top = (element) => element.getBoundingClientRect().top;

function scrollerOf(element) {
  for (let each = element; each; each = each.parentElement) if (/auto|scroll/.test(getComputedStyle(each).overflowY)) return each;
  return document.scrollingElement;
}

const outerHeight = (element) => element.offsetHeight + Number.parseFloat(getComputedStyle(element).marginBottom);
