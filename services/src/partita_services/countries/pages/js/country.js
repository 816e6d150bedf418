// One country: its flag and codes, its way through time, and the form of operators.

import * as api from "./api.js";
import { el, replace } from "/assets/dom.js";
import { comparePanel } from "./compare.js";
import { editor } from "./edit.js";
import { flag, moment } from "./format.js";
import { Timeline } from "./timeline.js";

export async function showCountry(content, code, listChanged, message = "") {
  const { country, versions } = await read(code);
  document.title = `${country.name} · Countries`;
  const changed = async (said) => {
    await listChanged();
    await showCountry(content, country.alpha2Code, listChanged, said);
  };
  const panel = editor(country, versions[0], changed);
  replace(content, el("a", { className: "back", href: "#/" }, "← All countries"), hero(country), tiles(country), ...new Timeline(versions).panels(), comparePanel(country.alpha2Code, versions), panel);
  if (message) say(panel, message);
}

// A code that nobody has any more still leads to the country that had it last.
async function read(code) {
  const versions = await api.versions(code);
  const [latest] = versions;
  return { country: latest.isDeleted ? latest : await api.country(latest.alpha2Code), versions };
}

function hero(country) {
  const state = country.isDeleted
    ? [el("span", { className: "chip deleted" }, "Withdrawn"), el("span", {}, `on ${moment(country.createDate)}`)]
    : [el("span", { className: "chip" }, "Current"), el("span", {}, `unchanged since ${moment(country.createDate)}`)];
  return el(
    "header",
    { className: "hero" },
    flag(country),
    el("div", {}, el("h1", {}, country.name), el("div", { className: "state" }, ...state)),
  );
}

function tiles(country) {
  const tile = (title, value) => el("div", { className: "code" }, el("dt", {}, title), el("dd", {}, value ?? "none"));
  return el(
    "dl",
    { className: "codes-row" },
    tile("Alpha-2", country.alpha2Code),
    tile("Alpha-3", country.alpha3Code),
    tile("Numeric", country.numericCode),
  );
}

function say(panel, message) {
  const said = panel.querySelector(".said");
  said.className = "said right";
  said.textContent = message;
}
