// Time: a slider that asks the service for any instant, and the versions with what changed in each.

import * as api from "./api.js";
import { el, replace } from "/assets/dom.js";
import { DAY_LONG, SECOND, authorship, changes, codes, day, flag, fromDate, instantOf, period, toDate, written } from "./format.js";

const GONE = 410;

export class Timeline {
  constructor(versions) {
    this.versions = versions.map((version) => ({
      ...version,
      start: instantOf(version.createDate),
      end: version.expiryDate ? instantOf(version.expiryDate) : Infinity,
    }));
    this.oldestFirst = this.versions.toReversed();
    this.first = this.oldestFirst[0].start;
    this.now = Math.max(fromDate(Date.now()), this.versions[0].start + SECOND);
    this.days = Math.floor((this.now - this.first) / DAY_LONG);
    this.asked = 0;
    this.slider = el("input", { type: "range", id: "as-of", min: 0, max: this.days, step: 1 });
    this.calendar = el("input", { type: "date", id: "as-of-day", min: isoDay(this.first), max: isoDay(this.now) });
    this.track = el("div", { className: "track", ariaHidden: "true" }, ...this.oldestFirst.map((version) => this.segment(version)));
    this.answer = el("div", { className: "answer", role: "status" });
    this.list = el("ol", { className: "versions" }, ...this.versions.map((version, position) => this.entry(version, position)));
    this.before = hopper("Previous version", "←", () => this.hop(-1));
    this.after = hopper("Next version", "→", () => this.hop(1));
    this.slider.addEventListener("input", () => this.show(this.instantAt(Number(this.slider.value))));
    this.calendar.addEventListener("change", () => this.calendar.value && this.show(instantOf(this.calendar.value)));
    this.show(this.now);
  }

  // The slider's last position is this very moment, each other one a day after the first version.
  instantAt(position) {
    return position >= this.days ? this.now : this.first + position * DAY_LONG;
  }

  async show(moment) {
    this.instant = Math.min(Math.max(moment, this.first), this.now);
    this.holding = this.versions.find((version) => version.start <= this.instant); // the newest that had begun
    this.mark();
    const question = ++this.asked;
    const answer = await this.ask(this.holding);
    if (question === this.asked) this.say(answer);
  }

  // Where nothing held, the service would say what is known here already.
  async ask(holding) {
    if (holding.isDeleted) return this.withdrawn(holding);
    try {
      const found = await api.country(holding.alpha2Code, written(this.instant));
      return found.versionNumber === holding.versionNumber ? this.held(found) : changed();
    } catch (error) {
      if (!(error instanceof api.Refused)) throw error;
      return error.status === GONE ? changed() : wrong("The country cannot be read", error.message);
    }
  }

  holds(version) {
    return version === this.holding;
  }

  mark() {
    this.slider.value = this.instant >= this.now ? this.days : Math.floor((this.instant - this.first) / DAY_LONG);
    this.slider.setAttribute("aria-valuetext", day(this.instant));
    this.calendar.value = isoDay(this.instant);
    this.oldestFirst.forEach((version, i) => this.track.children[i].classList.toggle("chosen", this.holds(version)));
    this.versions.forEach((version, i) => this.list.children[i].classList.toggle("chosen", this.holds(version)));
    this.before.disabled = this.holds(this.oldestFirst[0]);
    this.after.disabled = this.holds(this.versions[0]);
  }

  get isToday() {
    return this.instant >= this.now;
  }

  held(found) {
    return { sign: flag(found, this.versions[0]), said: [el("strong", {}, found.name), el("span", { className: "mono" }, codes(found))] };
  }

  withdrawn(found) {
    const title = `No country ${this.isToday ? "has" : "had"} the code ${found.alpha2Code}`;
    return { ...wrong(title, `It was last that of ${found.name}.`), sign: flag(found) };
  }

  say({ isWrong = false, sign, said }) {
    const when = this.isToday ? "Today" : `On ${day(this.instant)}`;
    this.answer.classList.toggle("gone", isWrong);
    replace(this.answer, el("div", { className: "when" }, when), sign, el("div", {}, ...said));
  }

  hop(step) {
    const position = this.oldestFirst.findIndex((version) => this.holds(version));
    this.show(this.oldestFirst[position + step].start);
  }

  place(moment) {
    return `${(100 * (Math.min(moment, this.now) - this.first)) / (this.now - this.first)}%`;
  }

  segment(version) {
    const part = el("span", { className: version.isDeleted ? "deleted" : "" });
    part.style.left = this.place(version.start);
    part.style.right = `calc(100% - ${this.place(version.end)})`;
    return part;
  }

  years() {
    const from = toDate(this.first).getUTCFullYear();
    const to = toDate(this.now).getUTCFullYear();
    const decades = Array.from({ length: 40 }, (_, position) => 1980 + 10 * position);
    return [from, ...decades.filter((decade) => decade - from > 0.14 * (to - from) && decade < to)].map((year) => {
      const label = el("span", {}, String(year));
      label.style.left = this.place(Math.max(fromDate(Date.UTC(year, 0)), this.first));
      return label;
    });
  }

  entry(version, position) {
    const previous = this.versions[position + 1];
    const differences = previous ? changes(previous, version) : [];
    const kind = version.isDeleted ? "deleted" : version.expiryDate ? "" : "open";
    const title = version.isDeleted ? `${version.name} (withdrawn)` : version.name;
    return el(
      "li",
      { className: kind },
      el("span", { className: "dot", ariaHidden: "true" }),
      el("button", { className: "title", type: "button", title: "Show its first instant", onclick: () => this.show(version.start) }, title),
      el("div", { className: "time" }, `Version ${version.versionNumber}, ${period(version)}`),
      authorship(version) ? el("div", { className: "by" }, authorship(version)) : null,
      el("ul", { className: "diff" }, ...differences.map(difference)),
    );
  }

  panels() {
    const count = this.versions.length;
    const day = el("label", { htmlFor: "as-of-day" }, el("span", { className: "hidden" }, "Day"), this.calendar);
    return [
      el(
        "section",
        { className: "panel" },
        el(
          "div",
          { className: "asof-head" },
          el("div", {}, el("h2", {}, "As of"), el("label", { htmlFor: "as-of" }, "Move through time")),
          el("div", { className: "jump" }, this.before, this.after, day),
        ),
        el("div", { className: "scrub" }, this.track, this.slider),
        el("div", { className: "years", ariaHidden: "true" }, ...this.years()),
        this.answer,
      ),
      el(
        "section",
        { className: "panel" },
        el("h2", {}, "Versions"),
        el("p", { className: "lead" }, count === 1 ? "One version, never changed." : `${count} versions. None was ever overwritten.`),
        this.list,
      ),
    ];
  }
}

const wrong = (title, text) => ({ isWrong: true, said: [el("strong", {}, title), el("span", {}, text)] });

// What is past stays as it is; but others may have written since the versions were read.
const changed = () => wrong("It was changed meanwhile", "Reload the page to see its newest version.");

function hopper(title, arrow, onclick) {
  return el("button", { className: "button square", type: "button", ariaLabel: title, onclick }, arrow);
}

function difference({ label, field, before, after }) {
  if (field === "isDeleted") return el("li", {}, el("b", {}, after ? "withdrawn" : "restored"));
  return el("li", {}, el("b", {}, `${label} `), el("del", {}, String(before ?? "none")), " → ", el("ins", {}, String(after ?? "none")));
}

const isoDay = (instant) => toDate(instant).toISOString().slice(0, 10);
