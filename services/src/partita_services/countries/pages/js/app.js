// The page: a list on the left, and on the right what the address after # names: `#/TR?as_of=1999-12-31&list=withdrawn&q=re`.

import { hashParameters } from "/assets/address.js";
import { refused } from "/assets/attempt.js";
import { connection } from "/assets/connection.js";
import { el, isolated, replace } from "/assets/dom.js";
import { latest } from "/assets/latest.js";
import { failed, skeleton } from "/assets/states.js";
import { tabs } from "/assets/tabs.js";
import { now } from "/assets/time.js";
import { toast } from "/assets/toast.js";
import * as api from "./api.js";
import { readChanges } from "./changes.js";
import { back, CountryView } from "./country.js";
import { creator } from "./edit.js";
import { fromDate, isoDay } from "./format.js";
import { readCountry } from "./history.js";
import { importPanel } from "./import.js";
import { CountryList } from "./list.js";
import { drawWho } from "./operator.js";
import { welcome } from "./welcome.js";

const at = (id) => document.getElementById(id);
const [content, search, which, whichDay] = ["content", "search", "which", "which-day"].map(at);
const list = new CountryList({ list: at("list"), search, found: at("found"), former: api.search });
const address = hashParameters(["as_of", "list", "day", "q"], arrived, { kept: ["list", "day", "q"] });
const [listAsked, pageAsked] = [latest(), latest()];
const tell = tabs("countries", readAgain);
let view = null; // the country that is shown
let shown = null; // the name in the address when it was shown
let life = new AbortController(); // ends the listeners of the content

// --- the list

const chosen = () => ({ list: which.value === "current" ? "" : which.value, day: which.value === "day" ? whichDay.value : "" });

function choose({ list: name, day, q }) {
  which.value = ["withdrawn", "day"].includes(name) ? name : "current";
  whichDay.value = day;
  whichDay.hidden = which.value !== "day";
  search.value = q;
}

function loadList() {
  const { list: name, day } = chosen();
  const ask = () => (name === "withdrawn" ? api.withdrawn() : day ? api.listOf(day) : api.list());
  list.wait();
  return listAsked(ask, (countries) => list.show(countries, day), (error) => {
    if (error.status === undefined) throw error;
    list.fail(error, loadList);
  });
}

function chose() {
  whichDay.hidden = which.value !== "day";
  if (which.value === "day" && !whichDay.value) whichDay.value = isoDay(fromDate(now()));
  address.write(chosen());
  loadList();
}

// --- the content for the address

// After a link, Back or Forward: reads only what differs.
function arrived(place) {
  const before = { ...chosen(), q: search.value.trim() };
  choose(place);
  if (before.list !== place.list || before.day !== place.day) loadList();
  else if (before.q !== place.q) list.draw();
  route();
}

function route({ focus = true } = {}) {
  const { name, as_of } = address.read();
  document.body.classList.toggle("at-country", Boolean(name));
  list.mark(name);
  if (view && shown === name) return view.timeline.goTo(as_of);
  leave(name);
  if (focus) {
    content.scrollTop = 0;
    if (matchMedia("(max-width: 52rem)").matches) scrollTo(0, 0);
    content.focus({ preventScroll: true });
  }
  if (!name) return still("Countries", ...welcome());
  if (name === "changes") return load(readChanges, (draw) => still("Changes", back(), el("h1", { className: "page-title" }, "Changes"), draw(life.signal)));
  if (name === "import") return still("Import", back(), el("h1", { className: "page-title" }, "Import"), importPanel(written));
  return load(() => readCountry(name), showCountry);
}

function leave(name) {
  view?.end();
  life.abort();
  life = new AbortController();
  view = null;
  shown = name;
}

// Content that needs no request; it also cancels requests in progress.
function still(title, ...parts) {
  document.title = title === "Countries" ? title : `${title} · Countries`;
  return pageAsked(() => {}, () => replace(content, ...parts));
}

function load(question, show) {
  const heading = el("h1", { className: "hidden" }, shown.toUpperCase());
  replace(content, heading, skeleton(5));
  return pageAsked(question, show, (error) => {
    if (error.status === undefined) throw error;
    if (error.status === 404 || error.status === 422) return unknown(shown);
    document.title = "Countries";
    return replace(content, back(), heading, failed(error, () => load(question, show)));
  });
}

function showCountry(found) {
  view ??= new CountryView({ moved: (as_of, isTyped) => address.write({ as_of }, { isTyped }), changed: written, reload });
  document.title = `${isolated(found.country.name)} · Countries`;
  if (!view.element.isConnected) replace(content, view.element);
  view.show(found, address.read().as_of);
}

// An operator may create a country for an alpha-2 code that was never used.
function unknown(code) {
  const isFree = /^[A-Za-z]{2}$/.test(code);
  const title = `There is no country ${code.toUpperCase()}`;
  const said = el("section", { className: "notice" }, el("h1", {}, title), el("p", {}, "No country has this code or ever had it."));
  const create = isFree ? creator(code.toUpperCase(), written) : null;
  return still(title, back(), said, create);
}

// --- changes

// A version was written in this tab: notifies other tabs, and shows the version; `undo` reverts it.
function written(message = "", undo = null) {
  tell(shown);
  loadList();
  if (message) toast(message, undo ? { action: ["Undo", undo] } : {});
  if (shown === "import") return undefined;
  content.focus({ preventScroll: true });
  return reload();
}

// Reads the country again; the content stays meanwhile.
function reload() {
  if (!view) return load(() => readCountry(shown), showCountry);
  return pageAsked(() => readCountry(shown), showCountry, (error) => {
    if (error.status === undefined) throw error;
    refused("What you see may be out of date.", error, reload);
  });
}

function readAgain() {
  loadList();
  if (view) reload();
}

connection.onRegained(() => {
  loadList();
  if (view) reload();
  else if (content.querySelector(".in-place.failed")) route({ focus: false });
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea, select, dialog")) return;
  event.preventDefault();
  search.focus();
});
search.addEventListener("input", () => {
  address.write({ q: search.value.trim() }, { isTyped: true });
  list.draw();
});
which.addEventListener("change", chose);
whichDay.addEventListener("change", chose);

drawWho(at("who"));
choose(address.read());
await Promise.all([loadList(), route({ focus: false })]);
