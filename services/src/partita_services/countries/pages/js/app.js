// The page: a list at the left, and at the right what the address after # names.

import * as api from "./api.js";
import { showCountry } from "./country.js";
import { el, replace } from "/assets/dom.js";
import { creator } from "./edit.js";
import { flag } from "./format.js";
import { importPanel } from "./import.js";
import { latest } from "/assets/latest.js";
import { latestPanel } from "./latest.js";
import { countryList, mark } from "./list.js";

const at = (id) => document.getElementById(id);
const parts = { list: at("list"), search: at("search"), found: at("found"), former: api.search };
const which = at("which");
const whichDay = at("which-day");
const fillList = countryList(parts);
const newestList = latest();
const content = at("content");

const STORIES = [
  ["TR", true, "Turkey, now Türkiye", "Renamed in July 2022: two versions of one country"],
  ["CS", false, "One code, two countries", "Czechoslovakia until 1993, Serbia and Montenegro from 2003"],
  ["MM", true, "104 before and after", "Burma and Myanmar had one numeric code, one after the other"],
  ["SU", false, "The USSR", "Withdrawn in 1992; its versions are still here"],
  ["RO", true, "From ROM to ROU", "An alpha-3 code that changed in 2002"],
  ["SS", true, "South Sudan", "The youngest entry, assigned in 2011"],
];

function welcome() {
  document.title = "Countries";
  const story = ([alpha2Code, isCurrent, title, text]) =>
    el("li", {}, el("a", { href: `#/${alpha2Code}` }, flag({ alpha2Code, isDeleted: !isCurrent }), el("strong", {}, title), el("span", {}, text)));
  replace(
    content,
    el(
      "section",
      { className: "welcome" },
      el("h1", {}, "Every country code, and everything it ever meant"),
      el("p", {}, "Choose a country, then move through time: each change since 1974 is a version of its own, and no version was ever overwritten."),
      el("ul", { className: "stories" }, ...STORIES.map(story)),
    ),
    latestPanel(),
    importPanel(loadList),
  );
}

function notice(title, text, ...more) {
  document.title = `${title} · Countries`;
  const said = el("section", { className: "notice" }, el("h1", {}, title), el("p", {}, text));
  replace(content, el("a", { className: "back", href: "#/" }, "← All countries"), said, ...more);
}

// An alpha-2 code that nobody ever had is one that an operator may give away.
function unknown(code) {
  const isFree = /^[A-Za-z]{2}$/.test(code);
  const created = async () => { await loadList(); await route(); };
  notice(`There is no country ${code.toUpperCase()}`, "Nobody has this code, and nobody ever had.", isFree ? creator(code.toUpperCase(), created) : null);
}

function loadList() {
  return newestList(chosenList, fillList, (error) => {
    parts.found.textContent = `The list cannot be read: ${error.message}`;
  });
}

function chosenList() {
  whichDay.hidden = which.value !== "day";
  if (which.value === "withdrawn") return api.withdrawn();
  return which.value === "day" && whichDay.value ? api.listOf(whichDay.value) : api.list();
}

async function route({ focus = true } = {}) {
  const code = location.hash.slice(2);
  document.body.classList.toggle("at-country", Boolean(code));
  mark(parts.list);
  if (!code) return welcome();
  try {
    await showCountry(content, encodeURIComponent(code), loadList);
  } catch (error) {
    if (!(error instanceof api.Refused)) throw error;
    if (error.status === 404 || error.status === 422) unknown(code);
    else notice("The country cannot be read", error.message);
  }
  content.scrollTop = 0;
  if (matchMedia("(max-width: 52rem)").matches) window.scrollTo(0, 0);
  if (focus) content.focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea")) return;
  event.preventDefault();
  parts.search.focus();
});
which.addEventListener("change", loadList);
whichDay.addEventListener("change", loadList);
window.addEventListener("hashchange", () => route());
await Promise.all([loadList(), route({ focus: false })]);
mark(parts.list);
