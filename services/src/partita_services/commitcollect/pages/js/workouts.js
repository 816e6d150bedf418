// The newest workouts, each with the reason why it does not count.

import { el, replace } from "/assets/dom.js";
import * as api from "./api.js";
import { METRICS, duration, localDay, sport, whyNot } from "./format.js";
import { icon } from "./icons.js";

export class WorkoutList {
  #older = []; // what was asked for with "More"
  #known = "";

  constructor({ attempt }) {
    this.list = el("ul", { className: "workouts" });
    this.more = el("button", { className: "button quiet wide", type: "button", onclick: () => attempt(() => this.#more()) }, "More");
    this.element = el("section", { className: "panel" }, el("header", {}, el("h2", {}, "Workouts")), this.list, this.more);
  }

  show(page) {
    this.newest = page;
    if (JSON.stringify(page) === this.#known) return;
    this.#known = JSON.stringify(page);
    this.#older = [];
    this.cursor = page.next_cursor;
    this.#draw();
  }

  async #more() {
    const page = await api.workouts(this.cursor);
    this.#older.push(...page.items);
    this.cursor = page.next_cursor;
    this.#draw();
  }

  #draw() {
    const all = [...this.newest.items, ...this.#older];
    this.more.hidden = !this.cursor;
    const none = el("li", { className: "none" }, "No workouts yet. Go out and come back.");
    replace(this.list, ...(all.length ? all.map(item) : [none]));
  }
}

const unbroken = (text) => text.replaceAll(" ", "\u00a0");

function item(workout) {
  const figures = [
    workout.started_local ? localDay(workout.started_local) : null,
    workout.distance ? METRICS.distance.exact(workout.distance) : null,
    duration(workout.moving_time),
    workout.elevation_gain ? `↑ ${METRICS.elevation.exact(workout.elevation_gain)}` : null,
  ].filter(Boolean);
  return el(
    "li",
    { className: workout.counts ? "" : "not" },
    el("span", { className: "sport", title: sport(workout.sport_type) }, icon(workout.sport_type)),
    el("span", { className: "what" }, el("strong", {}, workout.name), el("span", { className: "small" }, `${figures.map(unbroken).join(" · ")}`)),
    workout.counts ? null : el("span", { className: "chip why" }, `Does not count: ${whyNot(workout.why_not)}`),
  );
}
