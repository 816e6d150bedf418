// The workouts, newest first, each with the reason why it does not count.

import { el } from "/assets/dom.js";
import { Feed } from "/assets/feed.js";
import * as api from "./api.js";
import { METRICS, duration, localDay, sport, whyNot } from "./format.js";
import { icon } from "./icons.js";

export function workoutPanel(signal) {
  const feed = new Feed({
    name: "Your workouts",
    className: "workouts",
    read: api.workouts,
    key: ({ activity_id: id }) => id,
    draw: item,
    none: "No workouts yet. Go out and come back.",
    signal,
  });
  const element = el("section", { className: "panel" }, el("header", {}, el("h2", {}, "Workouts")), feed.element);
  return { element, show: (page) => feed.show(page) };
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
    el("span", { className: "what" }, el("strong", { dir: "auto", title: workout.name }, workout.name), el("span", { className: "small" }, `${figures.map(unbroken).join(" · ")}`)),
    workout.counts ? null : el("span", { className: "chip why" }, `Does not count: ${whyNot(workout.why_not)}`),
  );
}
