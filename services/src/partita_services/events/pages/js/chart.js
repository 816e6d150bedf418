// Decisions per second over the last minute, drawn as bars; the newest is on the right.

import { number } from "./words.js";
import { el, svg } from "/assets/dom.js";

const SECONDS = 60;
const WIDTH = 720;
const HEIGHT = 200;
const BOTTOM = 22;
const TOP = 10;

// The decisions in each second of the last minute up to `at`, including seconds without any.
export function lastMinute(seconds, at) {
  const decided = new Map(seconds.map(({ second, decided: count }) => [Math.floor(new Date(second) / 1000), count]));
  const last = Math.floor(new Date(at) / 1000);
  return Array.from({ length: SECONDS }, (_, index) => decided.get(last - SECONDS + 1 + index) ?? 0);
}

export function chart() {
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", preserveAspectRatio: "none" });
  const lines = svg("g", { class: "lines" });
  const bars = svg("g", { class: "bars" });
  picture.append(lines, bars);
  const scale = el("div", { className: "scale", ariaHidden: "true" });
  const element = el("div", { className: "plot" }, scale, picture, el("div", { className: "times", ariaHidden: "true" }, el("span", {}, "a minute ago"), el("span", {}, "now")));

  function show(values) {
    const top = ceiling(Math.max(...values));
    picture.setAttribute("aria-label", `Decisions per second: at most ${number(Math.max(...values))} in the last minute, ${number(values.at(-2))} in the last second`);
    lines.replaceChildren(...[0, 0.5, 1].map((part) => svg("line", { x1: 0, x2: WIDTH, y1: y(part), y2: y(part) })));
    scale.replaceChildren(...[1, 0.5, 0].map((part) => el("span", {}, number(Math.round(top * part)))));
    bars.replaceChildren(...values.map((value, index) => bar(value / top, index, values.length)));
  }

  return { element, show };
}

const y = (part) => TOP + (1 - part) * (HEIGHT - TOP - BOTTOM);

function bar(part, index, count) {
  const width = WIDTH / count;
  const height = Math.max(part * (HEIGHT - TOP - BOTTOM), part > 0 ? 2 : 0);
  return svg("rect", { x: index * width + 1, y: y(0) - height, width: width - 2, height, rx: 2, class: index === count - 1 ? "unfinished" : "" });
}

// Rounds up to a round number, so that the scale does not change every second.
function ceiling(value) {
  const step = 10 ** Math.floor(Math.log10(Math.max(value, 10)));
  return [1, 2, 5, 10].map((times) => times * step).find((limit) => limit >= value);
}
