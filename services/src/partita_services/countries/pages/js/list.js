// The list of current countries: searched by name or code, walked with the arrow keys.

import { el, replace } from "/assets/dom.js";
import { flag, fold } from "./format.js";

const LONG_ENOUGH = 3;

// Gives the function that fills the list with countries. `former` looks for what had a name or a code once.
export function countryList({ list, search, found, former }) {
  let entries = [];
  let asked = 0;

  function draw() {
    const wanted = fold(search.value);
    const matches = wanted ? ranked(entries, wanted) : entries;
    const isUnknownCode = isCode(wanted) && !matches.some(({ codes }) => codes.includes(wanted));
    found.textContent = wanted ? `${matches.length} of ${entries.length} countries` : `${entries.length} countries`;
    const rows = wanted ? [el("ul", {}, ...matches.map(({ country }) => row(country)))] : groups(matches);
    replace(list, ...rows, isUnknownCode ? lookup(wanted) : null);
    mark(list);
    recall(wanted);
  }

  // Names and codes of the past are not in the list; the service knows them.
  async function recall(wanted) {
    const question = ++asked;
    if (wanted.length < LONG_ENOUGH) return;
    const matches = (await former(search.value.trim()).catch(() => [])).filter(({ isFormer }) => isFormer);
    if (question !== asked || !matches.length) return;
    list.append(el("section", { className: "former" }, el("h2", {}, "Formerly"), el("ul", {}, ...matches.map(formerRow))));
    mark(list);
  }

  search.addEventListener("input", draw);
  search.form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  search.form.parentElement.addEventListener("keydown", (event) => walk(event, search, list));

  return (countries) => {
    entries = countries.map((country) => ({
      country,
      words: fold(country.name),
      codes: [country.alpha2Code, country.alpha3Code, country.numericCode ?? ""].map((code) => code.toLowerCase()),
    }));
    draw();
  };
}

export function mark(list) {
  const chosen = location.hash.slice(2).toUpperCase();
  for (const link of list.querySelectorAll("a[data-code]")) {
    if (link.dataset.code !== chosen) link.removeAttribute("aria-current");
    else if (!link.hasAttribute("aria-current")) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest" });
    }
  }
}

// A code first, then names that begin like this, then names with such a word, then the rest.
function ranked(entries, wanted) {
  const rank = ({ words, codes }) => {
    if (codes.includes(wanted)) return 0;
    if (words.startsWith(wanted)) return 1;
    return words.includes(` ${wanted}`) ? 2 : words.includes(wanted) ? 3 : 4;
  };
  return [0, 1, 2, 3].flatMap((place) => entries.filter((entry) => rank(entry) === place));
}

function groups(matches) {
  const byLetter = new Map();
  for (const match of matches) {
    const letter = initial(match);
    byLetter.set(letter, [...(byLetter.get(letter) ?? []), match.country]);
  }
  const inOrder = [...byLetter].sort(([one], [other]) => (one < other ? -1 : 1));
  return inOrder.flatMap(([letter, countries]) => [el("h2", {}, letter), el("ul", {}, ...countries.map(row))]);
}

// A name of accents alone folds to nothing; its country is found by its code.
function initial({ words, country }) {
  const [letter] = words || country.alpha2Code;
  return letter.toUpperCase();
}

function row(country) {
  const link = el(
    "a",
    { href: `#/${country.alpha2Code}` },
    flag(country),
    el("span", { className: "name" }, country.name),
    el("span", { className: "codes" }, country.alpha2Code),
  );
  link.dataset.code = country.alpha2Code;
  return el("li", {}, link);
}

function formerRow({ country, matched }) {
  const now = country.isDeleted ? "withdrawn" : `now ${country.name}`;
  const name = el("span", { className: "name" }, matched.name, el("small", {}, now));
  const link = el("a", { href: `#/${country.alpha2Code}` }, flag(matched, country), name, el("span", { className: "codes" }, country.alpha2Code));
  link.dataset.code = country.alpha2Code;
  return el("li", {}, link);
}

const isCode = (text) => /^([a-z]{2,3}|[0-9]{3})$/.test(text);

// Withdrawn codes are on no list, but the service knows them.
function lookup(code) {
  const shown = code.toUpperCase();
  return el("p", { className: "lookup" }, `No current country has this code. `, el("a", { href: `#/${shown}` }, `Look up ${shown}`), " in history.");
}

function walk(event, search, list) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const stops = [search, ...list.querySelectorAll("a")];
  const next = stops[stops.indexOf(document.activeElement) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
