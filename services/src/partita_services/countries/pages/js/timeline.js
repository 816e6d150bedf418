// The timeline: a slider that shows the country as of any instant.

import { el, isolated, replace } from "/assets/dom.js";
import { latest } from "/assets/latest.js";
import { now } from "/assets/time.js";
import * as api from "./api.js";
import { flag } from "./flag.js";
import { DAY_LONG, SECOND, codes, day, fromDate, instantOf, isoDay, toDate, written } from "./format.js";

const [MISSING, GONE] = [404, 410];
const FIRST_EDITION = fromDate(Date.UTC(1974, 0));

export class Timeline {
  #asked = latest();

  // `moved(asOf, isTyped)` is called with the chosen instant as it appears in the address, "" for today; `marked(version)` with
  // the version that was valid then; `reload()` reads the country again.
  constructor(history, { moved, marked, reload }) {
    Object.assign(this, { history, moved, marked, reload });
    this.slider = el("input", { type: "range", id: "as-of", min: 0, step: 1 });
    this.calendar = el("input", { type: "date", id: "as-of-day" });
    this.track = el("div", { className: "track", ariaHidden: "true" });
    this.years = el("div", { className: "years", ariaHidden: "true" });
    this.answer = el("div", { className: "answer", role: "status" });
    this.before = hopper("Previous version", "←", () => this.#hop(-1));
    this.after = hopper("Next version", "→", () => this.#hop(1));
    this.slider.addEventListener("input", () => this.show(this.#instantAt(Number(this.slider.value))));
    this.slider.addEventListener("change", () => this.#tell(true));
    this.calendar.addEventListener("change", () => this.calendar.value && this.choose(instantOf(this.calendar.value)));
    this.element = this.#panel();
    this.measure();
  }

  // Spans from the first version to now. The first version of a long history is not read yet, but none is older than the standard.
  measure() {
    this.first = this.history.hasMore ? Math.min(FIRST_EDITION, this.history.oldest.start) : this.history.oldest.start;
    this.now = Math.max(fromDate(now()), this.history.newest.start + SECOND);
    this.days = Math.floor((this.now - this.first) / DAY_LONG);
    this.slider.max = this.days;
    this.calendar.min = isoDay(this.first);
    this.calendar.max = isoDay(this.now);
    replace(this.track, ...this.history.versions.toReversed().map((version) => this.#segment(version)));
    replace(this.years, ...this.#labels());
  }

  // Shows the instant of the address; empty means today.
  goTo(asOf) {
    const instant = asOf ? instantOf(asOf) : Infinity;
    return this.show(Number.isNaN(instant) ? Infinity : instant);
  }

  choose(instant) {
    this.show(instant);
    this.#tell(false);
  }

  show(instant) {
    this.instant = Math.min(Math.max(instant, this.first), this.now);
    const { instant: shown, isToday } = this;
    const known = this.history.at(shown);
    this.#mark(known);
    // No request is needed if the country was deleted then.
    const ask = async () => (known?.isDeleted ? null : api.country(this.history.newest.alpha2Code, isToday ? null : written(shown)));
    return this.#asked(ask, (found) => this.#say(found ? this.#held(found, known) : this.#withdrawn(known)), (error) => this.#failed(error, known, instant));
  }

  get isToday() {
    return this.instant >= this.now;
  }

  // The version that was valid then, which may not be read in the list yet.
  #held(found, known) {
    if (known && found.versionNumber !== known.versionNumber) return this.#changed();
    if (!known) this.marked(found);
    return { sign: flag(found, { current: this.history.newest }), said: [el("strong", { dir: "auto" }, found.name), el("span", { className: "mono" }, codes(found))] };
  }

  #withdrawn(found) {
    const title = `No country ${this.isToday ? "has" : "had"} the code ${found.alpha2Code}`;
    return { ...wrong(title, `The last country with this code was ${isolated(found.name)}.`), sign: flag({ ...found, isDeleted: true }) };
  }

  #failed(error, known, instant) {
    if (error.status === undefined) throw error;
    if (known && error.status === GONE) return this.#say(this.#changed());
    if (error.status === GONE) return this.#say(this.#withdrawn(error.problem.country));
    if (error.status === MISSING) return this.#say(wrong("There was no such country yet", "The code was assigned later."));
    const again = el("button", { className: "button", type: "button", onclick: () => this.show(instant) }, "Try again");
    return this.#say(wrong("The country cannot be read", error.message, again));
  }

  // Closed versions never change, but others may have written new ones since the versions were read.
  #changed() {
    return wrong("The country was changed in the meantime", "What you see is no longer the newest version.", el("button", { className: "button", type: "button", onclick: this.reload }, "Show the newest"));
  }

  #say({ isWrong = false, sign = null, said }) {
    const when = this.isToday ? "Today" : `On ${day(this.instant)}`;
    this.answer.classList.toggle("gone", isWrong);
    replace(this.answer, el("div", { className: "when" }, when), sign, el("div", { className: "what" }, ...said));
  }

  #mark(known) {
    this.slider.value = this.isToday ? this.days : Math.floor((this.instant - this.first) / DAY_LONG);
    this.slider.setAttribute("aria-valuetext", this.isToday ? "Today" : day(this.instant));
    this.calendar.value = isoDay(this.instant);
    for (const part of this.track.children) part.classList.toggle("chosen", part.version === known);
    this.before.disabled = known === this.history.oldest && !this.history.hasMore;
    this.after.disabled = known === this.history.newest;
    this.marked(known);
  }

  #tell(isTyped) {
    this.moved(this.isToday ? "" : this.instant % DAY_LONG ? written(this.instant) : isoDay(this.instant), isTyped);
  }

  async #hop(step) {
    const { versions } = this.history;
    const known = this.history.at(this.instant);
    const next = known ? versions[versions.indexOf(known) - step] : step > 0 ? versions.at(-1) : undefined;
    if (next) return this.choose(next.start);
    // In a long history, the previous version may not be read yet.
    return this.history.hasMore && (await this.readOn()) !== null ? this.#hop(step) : undefined;
  }

  // The last position of the slider is now; each other position is a number of days after the first version.
  #instantAt(position) {
    return position >= this.days ? this.now : this.first + position * DAY_LONG;
  }

  #place(moment) {
    return `${(100 * (Math.min(moment, this.now) - this.first)) / (this.now - this.first)}%`;
  }

  #segment(version) {
    const part = el("span", { className: version.isDeleted ? "deleted" : "" });
    part.version = version;
    part.style.left = this.#place(version.start);
    part.style.right = `calc(100% - ${this.#place(version.end)})`;
    return part;
  }

  #labels() {
    const [from, to] = [this.first, this.now].map((instant) => toDate(instant).getUTCFullYear());
    const decades = Array.from({ length: 40 }, (_, position) => 1980 + 10 * position);
    return [from, ...decades.filter((decade) => decade - from > 0.14 * (to - from) && decade < to)].map((year) => {
      const label = el("span", {}, String(year));
      label.style.left = this.#place(Math.max(fromDate(Date.UTC(year, 0)), this.first));
      return label;
    });
  }

  #panel() {
    const date = el("label", { htmlFor: "as-of-day" }, el("span", { className: "hidden" }, "Day"), this.calendar);
    const head = el("div", {}, el("h2", {}, "As of"), el("label", { htmlFor: "as-of" }, "Move through time"));
    return el(
      "section",
      { className: "panel" },
      el("div", { className: "asof-head" }, head, el("div", { className: "jump" }, this.before, this.after, date)),
      el("div", { className: "scrub" }, this.track, this.slider),
      this.years,
      this.answer,
    );
  }
}

const wrong = (title, text, ...more) => ({ isWrong: true, said: [el("strong", {}, title), el("span", {}, text), ...more] });

function hopper(title, arrow, onclick) {
  return el("button", { className: "button square", type: "button", ariaLabel: title, onclick }, arrow);
}
