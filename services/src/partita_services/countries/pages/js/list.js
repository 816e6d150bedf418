// The list of countries, with a search by name or code and navigation by arrow keys.

import { el, isolated, replace, write } from "/assets/dom.js";
import { latest } from "/assets/latest.js";
import { kept, KeyedList } from "/assets/list.js";
import { failed, skeleton } from "/assets/states.js";
import { flag } from "./flag.js";
import { fold } from "./format.js";

const LONG_ENOUGH = 3;

export class CountryList {
  #entries = null;
  #recalled = latest();
  #chosen = "";
  #isToReveal = false; // whether the chosen country must still be scrolled into view
  #wanted = ""; // the search that is shown
  #isWaiting = false; // whether another list is being read
  #asOf = ""; // the day of the list, which its links contain

  // `list`, `search` and `found` are elements. `former(text)` searches former names and codes.
  constructor({ list, search, found, former }) {
    Object.assign(this, { list, search, found, former });
    this.rows = el("ul", {});
    this.others = el("div", {});
    // All rows are drawn, because there are at most 676 codes, and so the browser's own search finds them.
    this.keyed = new KeyedList(this.rows, { key: ({ key }) => key, draw: ({ draw, country, href }) => (draw ? draw() : row(country, href)), isWhole: true });
    search.form.addEventListener("submit", (event) => {
      event.preventDefault();
      list.querySelector("a")?.click();
    });
    search.form.parentElement.addEventListener("keydown", (event) => walk(event, search, list));
  }

  wait() {
    this.#isWaiting = true;
    if (this.#entries === null) replace(this.list, skeleton(8));
    write(this.found, "Loading…");
  }

  fail(error, retry) {
    this.#isWaiting = false;
    this.#entries = null;
    write(this.found, "");
    replace(this.list, failed(error, retry, "The list cannot be read"));
  }

  show(countries, asOf) {
    this.#isWaiting = false;
    this.#asOf = asOf;
    this.#entries = kept(this.#entries ?? [], countries.map((country) => entry(country, this.#address(country))), ({ key }) => key);
    if (!this.rows.isConnected) replace(this.list, this.rows, this.others);
    this.draw();
  }

  draw() {
    if (this.#entries === null) return;
    const wanted = fold(this.search.value);
    const matches = wanted ? ranked(this.#entries, wanted) : this.#entries;
    const isUnknownCode = isCode(wanted) && !matches.some(({ codes }) => codes.includes(wanted));
    const number = wanted ? `${matches.length} of ${this.#entries.length} countries` : `${this.#entries.length} countries`;
    write(this.found, this.#isWaiting ? "Loading…" : number);
    this.keyed.show(wanted ? matches : withLetters(matches));
    const isNothing = wanted && !matches.length && !isUnknownCode;
    replace(this.others, isUnknownCode ? lookup(wanted) : null, isNothing ? el("p", { className: "lookup" }, "No country of this list has such a name or code.") : null);
    if (wanted !== this.#wanted) this.#searched(wanted);
    this.#mark();
    this.#recall(wanted, matches);
  }

  // The best matches are at the top. After the search, the chosen country is to be seen again.
  #searched(wanted) {
    this.#wanted = wanted;
    this.#isToReveal = !wanted;
    this.rows.firstElementChild?.scrollIntoView({ block: "nearest" });
  }

  mark(code) {
    const chosen = code.toUpperCase();
    if (chosen !== this.#chosen) this.#isToReveal = true;
    this.#chosen = chosen;
    this.#mark();
  }

  // Scrolls to the chosen country once, as soon as it is in the list. When the list is read again, it stays in place.
  #mark() {
    for (const link of this.list.querySelectorAll("a[data-code]")) {
      const isChosen = link.dataset.code === this.#chosen;
      if (!isChosen) link.removeAttribute("aria-current");
      else if (!link.hasAttribute("aria-current")) link.setAttribute("aria-current", "page");
      if (!isChosen || !this.#isToReveal || !link.checkVisibility()) continue;
      link.scrollIntoView({ block: "nearest" });
      this.#isToReveal = false;
    }
  }

  // Searches the service for former names and codes that are not in the list.
  #recall(wanted, listed) {
    const isListed = ({ matched }) => listed.some(({ country }) => country.alpha2Code === matched.alpha2Code && country.name === matched.name);
    const ask = async () => (wanted.length < LONG_ENOUGH ? [] : (await this.former(this.search.value.trim())).filter((match) => match.isFormer && !isListed(match)));
    const show = (matches) => {
      if (!matches.length) return;
      this.others.append(el("section", { className: "former" }, el("h2", {}, "Formerly"), el("ul", {}, ...matches.map(formerRow))));
      this.#mark();
    };
    return this.#recalled(ask, show, (error) => {
      if (error.status === undefined) throw error;
      this.others.append(el("p", { className: "lookup" }, `Former names cannot be searched. ${error.message} `, el("button", { className: "link", type: "button", onclick: () => this.draw() }, "Try again")));
    });
  }

  // In the list of a day, links lead to the country as of that day.
  #address = ({ alpha2Code }) => `#/${alpha2Code}${this.#asOf && `?as_of=${this.#asOf}`}`;
}

function entry(country, href) {
  return {
    key: country.alpha2Code,
    country,
    words: fold(country.name),
    codes: [country.alpha2Code, country.alpha3Code, country.numericCode ?? ""].map((code) => code.toLowerCase()),
    href,
  };
}

// A code first, then names that begin with the text, then names with a word that does, then the rest.
function ranked(entries, wanted) {
  const rank = ({ words, codes }) => {
    if (codes.includes(wanted)) return 0;
    if (words.startsWith(wanted)) return 1;
    return words.includes(` ${wanted}`) ? 2 : words.includes(wanted) ? 3 : 4;
  };
  return [0, 1, 2, 3].flatMap((place) => entries.filter((each) => rank(each) === place));
}

const letters = new Map(); // one heading for each letter, so that its element is kept

function withLetters(entries) {
  const byLetter = Map.groupBy(entries, initial);
  const inOrder = [...byLetter].sort(([one], [other]) => (one < other ? -1 : 1));
  const heading = (letter) => {
    if (!letters.has(letter)) letters.set(letter, { key: `letter ${letter}`, draw: () => el("li", { className: "letter" }, el("h2", {}, letter)) });
    return letters.get(letter);
  };
  return inOrder.flatMap(([letter, group]) => [heading(letter), ...group]);
}

// A name that consists only of accents folds to an empty text; then the code counts.
function initial({ words, country }) {
  const [letter] = words || country.alpha2Code;
  return letter.toUpperCase();
}

function row(country, href) {
  const name = el("span", { className: "name", dir: "auto" }, country.name);
  const link = el("a", { href }, flag(country), name, el("span", { className: "codes" }, country.alpha2Code));
  link.dataset.code = country.alpha2Code;
  return el("li", {}, link);
}

function formerRow({ country, matched }) {
  const now = country.isDeleted ? "withdrawn" : `now ${isolated(country.name)}`;
  const name = el("span", { className: "name" }, el("span", { dir: "auto" }, matched.name), el("small", {}, now));
  const link = el("a", { href: `#/${country.alpha2Code}` }, flag(matched, { current: country }), name, el("span", { className: "codes" }, country.alpha2Code));
  link.dataset.code = country.alpha2Code;
  return el("li", {}, link);
}

const isCode = (text) => /^([a-z]{2,3}|[0-9]{3})$/.test(text);

// A withdrawn code may not be in the list, but the service has its history.
function lookup(code) {
  const shown = code.toUpperCase();
  return el("p", { className: "lookup" }, "No country of this list has this code. ", el("a", { href: `#/${shown}` }, `Look up ${shown}`), " in history.");
}

function walk(event, search, list) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const stops = [search, ...list.querySelectorAll("a")];
  const at = stops.indexOf(document.activeElement);
  if (!step || at < 0 || !stops[at + step]) return;
  event.preventDefault();
  stops[at + step].focus();
}
