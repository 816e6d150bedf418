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
  #across = 1; // items beside each other
  #above;
  #below;

  // `element` holds nothing else. `key(item)` names it, `draw(item)` gives its element, and `state(item)` is what that
  // depends on besides the item, which is a new object whenever it has changed. In a
  // grid several stand beside each other. What is short, and of which rows are very unlike, is drawn whole (`isWhole`).
  // `signal` ends it.
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
    const [line, some] = [this.#lineOf(at), 20 * this.#across];
    if (!this.#rows.has(key)) this.#draw([Math.max(0, line - some), Math.min(this.#items.length, line + some)]);
    return this.#rows.get(key).element;
  }

  #scrolled() {
    if (this.#items.length <= this.most || !this.element.isConnected) return;
    const [from, to] = this.#wanted();
    if (from < this.#window[0] || to > this.#window[1]) this.#draw();
  }

  // From which item to which is near the screen, in whole lines.
  #wanted() {
    if (this.#items.length <= this.most) return [0, this.#items.length];
    this.#measureAcross();
    const top = this.element.getBoundingClientRect().top - this.element.scrollTop;
    const [first, last] = [-top - AROUND, -top + innerHeight + AROUND];
    let [at, from, to] = [0, null, 0];
    for (const [number, height] of this.#lines(0, this.#items.length)) {
      if (at > last) break;
      at += height;
      if (at >= first) from ??= number;
      to = Math.min(number + this.#across, this.#items.length);
    }
    return [from ?? this.#lineOf(Math.max(0, to - 1)), to];
  }

  // A grid has as many beside each other as it has columns. In a window of another width all heights are others.
  #measureAcross() {
    const tracks = getComputedStyle(this.element).gridTemplateColumns.split(" ");
    const across = tracks.filter((track) => track.endsWith("px")).length || 1;
    if (across !== this.#across) this.#heights.clear();
    this.#across = across;
  }

  #lineOf = (at) => at - (at % this.#across);

  // Each line between two items: the number of its first one, and its height, which is that of the highest in it.
  *#lines(from, to) {
    const guess = this.#guess();
    for (let number = from; number < to; number += this.#across) {
      let height = 0;
      for (let at = number; at < Math.min(number + this.#across, to); at += 1) height = Math.max(height, this.#heights.get(this.key(this.#items[at])) ?? guess);
      yield [number, height];
    }
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
    // What has the keyboard stays, with its line, at an end of what is drawn.
    const kept = focused === null ? -1 : this.#items.findIndex((item) => this.key(item) === focused);
    const line = kept < 0 ? [] : this.#items.slice(this.#lineOf(kept), this.#lineOf(kept) + this.#across);
    if (kept >= window[1]) drawn.push(...line);
    else if (kept < window[0]) drawn.unshift(...line);
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
    const gap = gapOf(this.element);
    for (const [key, { element }] of this.#rows) if (element.offsetHeight) this.#heights.set(key, outerHeight(element) + gap);
    const room = (spacer, first, end) => {
      spacer.hidden = first >= end;
      let height = -gap; // it has one of its own
      for (const [, line] of this.#lines(first, end)) height += line;
      spacer.style.height = `${Math.max(0, height)}px`;
    };
    room(this.#above, 0, from);
    room(this.#below, to, this.#items.length);
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

const gapOf = (element) => Number.parseFloat(getComputedStyle(element).rowGap) || 0;

const outerHeight = (element) => element.offsetHeight + Number.parseFloat(getComputedStyle(element).marginBottom);
