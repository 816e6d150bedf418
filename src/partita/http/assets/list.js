// Lists that redraw only the rows that changed: all others keep their element, focus and place. Of thousands of rows, only
// those near the screen are drawn; for printing, all are.

import { el } from "./dom.js";

const ALL = 200; // a list of up to this many rows is drawn whole, so that the browser's own search finds all of them
const AROUND = 1200; // pixels above and below the screen in which rows are drawn
const GUESS = 80; // height of a row that was never drawn
const TRIES = 4;
const CONTROLS = "a[href], button, input, select, textarea, [tabindex]";

export class KeyedList {
  #rows = new Map(); // by key: item, state and element of each drawn row
  #heights = new Map(); // by key, of each row that was ever drawn
  #items = [];
  #window = [0, 0];
  #across = 1; // items in one line
  #look = ""; // what the heights of all rows depend on
  #seen = null; // the first visible row after the last scrolling
  #isPrinted = false;
  #above;
  #below;

  // `element` must not contain anything else. `key(item)` returns the key of an item, `draw(item)` its element, and
  // `state(item)` whatever else the element depends on; a changed item must be a new object. In a grid, a line has several
  // items. A short list whose rows differ much in height can be drawn whole (`isWhole`). `signal` removes the listeners.
  constructor(element, { key, draw, state = () => "", spacer = "li", isWhole = false, signal }) {
    Object.assign(this, { element, key, draw, state, most: isWhole ? Infinity : ALL });
    this.#above = el(spacer, { className: "spacer", ariaHidden: "true", role: "presentation", hidden: true });
    this.#below = this.#above.cloneNode();
    document.addEventListener("scroll", () => this.#scrolled(), { capture: true, passive: true, signal });
    addEventListener("resize", () => this.#scrolled(), { signal });
    const sizes = new ResizeObserver(() => this.#resized());
    sizes.observe(element);
    signal?.addEventListener("abort", () => sizes.disconnect());
    for (const event of ["beforeprint", "afterprint"]) addEventListener(event, () => this.#print(event === "beforeprint"), { signal });
  }

  get items() {
    return this.#items;
  }

  show(items) {
    this.#items = items;
    this.#draw();
    this.#fill();
  }

  // Returns the element of an item, which is drawn if necessary, or null.
  reveal(key) {
    const at = this.#items.findIndex((item) => this.key(item) === key);
    if (at < 0) return null;
    const [line, some] = [this.#lineOf(at), 20 * this.#across];
    if (!this.#rows.has(key)) this.#draw([Math.max(0, line - some), Math.min(this.#items.length, line + some)]);
    return this.#rows.get(key).element;
  }

  get #isVirtual() {
    return this.#items.length > this.most;
  }

  #scrolled() {
    if (!this.#isVirtual || this.#isPrinted || !this.element.isConnected) return;
    const seen = this.#firstSeen();
    if (this.#measure()) {
      this.#space();
      this.#stay(seen);
    }
    this.#fill();
    this.#seen = this.#firstSeen();
  }

  // Draws until all wanted rows are drawn: after a jump, rows are not where they were expected, because heights were guessed.
  #fill() {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const [from, to] = this.#wanted();
      if (from >= this.#window[0] && to <= this.#window[1]) return;
      this.#draw([from, to]);
    }
  }

  #print(isPrinted) {
    this.#isPrinted = isPrinted;
    if (this.#isVirtual) this.#draw();
  }

  // After a change of width, columns or font, all heights are different: those of the rows that are not drawn are forgotten, and
  // the row that was visible before stays where it was.
  #resized() {
    if (!this.#isVirtual || this.#isPrinted || !this.element.isConnected || !this.element.offsetWidth) return;
    const before = this.#look;
    this.#readLook();
    if (this.#look === before) return;
    this.#heights.clear();
    this.#space();
    this.#stay(this.#seen);
    this.#scrolled();
  }

  #readLook() {
    const { fontSize, gridTemplateColumns } = getComputedStyle(this.element);
    this.#look = `${this.element.offsetWidth} ${fontSize} ${gridTemplateColumns}`;
    this.#across = gridTemplateColumns.split(" ").filter((track) => track.endsWith("px")).length || 1;
  }

  // The range of items near the screen, in whole lines.
  #wanted() {
    if (!this.#isVirtual || this.#isPrinted) return [0, this.#items.length];
    if (!this.#look) this.#readLook();
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

  #lineOf = (at) => at - (at % this.#across);

  // Yields for each line between two items the index of its first item, and the height of its highest item.
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
    // The row with the focus stays drawn, with its line, before or after the other drawn rows.
    const kept = focused === null ? -1 : this.#items.findIndex((item) => this.key(item) === focused);
    const line = kept < 0 ? [] : this.#items.slice(this.#lineOf(kept), this.#lineOf(kept) + this.#across);
    if (kept >= window[1]) drawn.push(...line);
    else if (kept < window[0]) drawn.unshift(...line);
    const control = focused === null ? null : document.activeElement;
    this.#reconcile(drawn);
    if (control?.isConnected && document.activeElement !== control) control.focus({ preventScroll: true }); // moving it took the focus away
    this.#space();
    this.#stay(seen);
  }

  // The first visible row, which must stay where it is although the space above it changes: the browser's own scroll anchor
  // does not handle this. None at the very top, where new rows should appear.
  #firstSeen() {
    this.element.style.overflowAnchor = this.#isVirtual ? "none" : "";
    const scroller = this.#isVirtual ? scrollerOf(this.element) : null;
    if (!scroller?.scrollTop) return null;
    const edge = Math.max(0, scroller === document.scrollingElement ? 0 : top(scroller));
    const row = [...this.element.children].find((each) => each.dataset.key !== undefined && each.getBoundingClientRect().bottom > edge);
    const seen = row && top(row) < innerHeight ? { key: row.dataset.key, top: top(row) } : {};
    return { scroller, at: scroller.scrollTop, ...seen };
  }

  // After a jump, that row is not drawn any more; and while rows were exchanged, the list was shorter for a moment, so that the
  // browser may have moved it.
  #stay(seen) {
    if (!seen) return;
    const row = this.#rows.get(seen.key)?.element;
    if (row) seen.scroller.scrollTop += top(row) - seen.top;
    else seen.scroller.scrollTop = seen.at;
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
      // If an item moved down, move this one item, not all that are now before it.
      if (element !== next && next?.nextElementSibling === element && keys.has(next.dataset.key)) {
        const late = next;
        next = element;
        this.element.append(late);
      }
      if (element === next) next = next.nextElementSibling;
      else this.element.insertBefore(element, next);
    }
  }

  // Returns the element of an item, redrawn if the item or its state has changed.
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

  // Sizes the spacers for the rows that are not drawn, by their known or estimated heights.
  #space() {
    const [from, to] = this.#window;
    if (!this.#isVirtual) {
      this.#above.remove();
      this.#below.remove();
      return;
    }
    const gap = gapOf(this.element);
    this.#measure();
    const room = (spacer, first, end) => {
      spacer.hidden = first >= end;
      let height = -gap; // the spacer itself adds one gap
      for (const [, line] of this.#lines(first, end)) height += line;
      spacer.style.height = `${Math.max(0, height)}px`;
    };
    room(this.#above, 0, from);
    room(this.#below, to, this.#items.length);
    if (this.element.firstElementChild !== this.#above) this.element.prepend(this.#above);
    if (this.element.lastElementChild !== this.#below) this.element.append(this.#below);
  }

  // Returns whether a height has changed. If so, the spacers no longer fit.
  #measure() {
    const gap = gapOf(this.element);
    let isChanged = false;
    for (const [key, { element }] of this.#rows) {
      const height = outerHeight(element);
      if (!height || this.#heights.get(key) === height + gap) continue;
      this.#heights.set(key, height + gap);
      isChanged = true;
    }
    return isChanged;
  }
}

// Returns the new items, with the old object for each unchanged item, so that it is not drawn again.
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

// With fractions of a pixel, which add up over thousands of rows.
const outerHeight = (element) => element.offsetHeight && element.getBoundingClientRect().height + Number.parseFloat(getComputedStyle(element).marginBottom);
