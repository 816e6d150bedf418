// One country: its flag and codes, its timeline, its versions, and the form for operators.

import { claims } from "/assets/api.js";
import { el, replace } from "/assets/dom.js";
import { Compare } from "./compare.js";
import { Editor } from "./edit.js";
import { flag } from "./flag.js";
import { moment } from "./format.js";
import { Timeline } from "./timeline.js";
import { Versions } from "./versions.js";

const drafts = new Map(); // by code, the editor with what was typed before another country was chosen, and who typed it

export class CountryView {
  #life = new AbortController();

  // `moved(asOf, isTyped)` is called with the chosen instant, `changed(message, undo)` after a version was written; `reload()`
  // reads everything again.
  constructor({ moved, changed, reload }) {
    Object.assign(this, { moved, changed, reload });
    this.element = el("div", { className: "country" });
    this.editor = null;
  }

  get isTouched() {
    return this.editor?.isTouched ?? false;
  }

  // The operator's input stays, even when the country is read again.
  show({ country, history }, asOf) {
    this.#life.abort();
    this.#life = new AbortController();
    const compare = new Compare(country.alpha2Code, history);
    const versions = new Versions(history, {
      choose: (version) => this.timeline.choose(version.start),
      grown: () => { compare.offer(); this.timeline.measure(); this.timeline.show(this.timeline.instant); },
      signal: this.#life.signal,
    });
    this.timeline = new Timeline(history, { moved: this.moved, marked: (version) => versions.mark(version), reload: this.reload });
    this.timeline.readOn = versions.readOn;
    this.code = country.alpha2Code;
    this.editor ??= this.#draft();
    if (!this.isTouched) this.editor = new Editor(country, history.newest, { changed: this.changed, reload: this.reload });
    const focused = this.element.contains(document.activeElement) ? document.activeElement : null;
    const parts = [back(), hero(country), tiles(country), this.timeline.element, versions.element, compare.element, this.editor.element].filter(Boolean);
    replace(this.element, ...parts);
    if (focused?.isConnected) focused.focus({ preventScroll: true });
    else if (focused?.id) document.getElementById(focused.id)?.focus({ preventScroll: true });
    return this.timeline.goTo(asOf);
  }

  end() {
    this.#life.abort();
    if (this.isTouched) drafts.set(this.code, { editor: this.editor, who: claims().sub });
  }

  #draft() {
    const { editor = null, who } = drafts.get(this.code) ?? {};
    drafts.delete(this.code);
    return who === claims().sub ? editor : null;
  }
}

export const back = () => el("a", { className: "back", href: "#/" }, "← All countries");

function hero(country) {
  const state = country.isDeleted
    ? [el("span", { className: "chip deleted" }, "Withdrawn"), el("span", {}, `on ${moment(country.createDate)}`)]
    : [el("span", { className: "chip" }, "Current"), el("span", {}, `unchanged since ${moment(country.createDate)}`)];
  return el(
    "header",
    { className: "hero" },
    flag(country, { name: country.name }),
    el("div", {}, el("h1", { dir: "auto" }, country.name), el("div", { className: "state" }, ...state)),
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
