// A ring with an arc for each part of a model; an arc fills with the progress to its part.

import { svg, write } from "/assets/dom.js";

const SIZE = 140;
const RADIUS = 58;
const GAP = 0.045; // radians at each end of an arc

export function ring(parts) {
  const arcs = Array.from({ length: parts }, (_, index) => arc(index, parts));
  const percent = svg("text", { x: SIZE / 2, y: SIZE / 2 + 1, class: "percent" });
  const strokes = arcs.flatMap(({ track, fill }) => [track, fill]);
  const drawing = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "ring", "aria-hidden": "true" }, strokes, percent);
  drawing.show = (fraction, earned) => {
    for (const [index, { fill }] of arcs.entries()) {
      const part = Math.min(1, Math.max(0, fraction * parts - index));
      // An earned part stays earned, even if the progress decreases.
      fill.style.strokeDashoffset = String(1 - (index < earned ? 1 : Math.min(part, 0.97)));
      fill.classList.toggle("earned", index < earned);
      fill.classList.toggle("empty", index >= earned && part === 0);
    }
    write(percent, `${Math.floor(Math.min(1, fraction) * 100)}%`);
  };
  return drawing;
}

function arc(index, parts) {
  const turn = (2 * Math.PI) / parts;
  const [from, to] = [index * turn + GAP - Math.PI / 2, (index + 1) * turn - GAP - Math.PI / 2];
  const point = (angle) => `${(SIZE / 2 + RADIUS * Math.cos(angle)).toFixed(2)} ${(SIZE / 2 + RADIUS * Math.sin(angle)).toFixed(2)}`;
  const d = `M${point(from)}A${RADIUS} ${RADIUS} 0 ${turn > Math.PI ? 1 : 0} 1 ${point(to)}`;
  return {
    track: svg("path", { d, class: "track" }),
    fill: svg("path", { d, class: "fill empty", pathLength: "1" }),
  };
}
