// Confetti when a model is complete, unless the person prefers reduced motion.

import { el } from "/assets/dom.js";

const PIECES = 70;
const COLOURS = ["#e2603b", "#f0b429", "#2f6f8f", "#2a7a5c", "#b4362a", "#7fb0c4"];

export function celebrate(element) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const box = element.getBoundingClientRect();
  const sky = el("div", { className: "sky" });
  sky.setAttribute("aria-hidden", "true");
  document.body.append(sky);
  const falls = Array.from({ length: PIECES }, (_, number) => fall(sky, box, number));
  Promise.allSettled(falls.map((one) => one.finished)).then(() => sky.remove());
}

function fall(sky, box, number) {
  const piece = el("i");
  piece.style.background = COLOURS[number % COLOURS.length];
  piece.style.left = `${box.left + box.width / 2}px`;
  piece.style.top = `${box.top + box.height / 3}px`;
  sky.append(piece);
  const [across, up, down] = [(Math.random() - 0.5) * 640, -80 - Math.random() * 220, 320 + Math.random() * 260];
  const turn = 360 + Math.random() * 720;
  return piece.animate(
    [
      { transform: "translate(0, 0) rotate(0)", opacity: 1 },
      { transform: `translate(${across * 0.7}px, ${up}px) rotate(${turn / 2}deg)`, opacity: 1, offset: 0.3, easing: "cubic-bezier(.4, 0, 1, .6)" },
      { transform: `translate(${across}px, ${down}px) rotate(${turn}deg)`, opacity: 0 },
    ],
    { duration: 1800 + Math.random() * 900, easing: "cubic-bezier(.1, .7, .3, 1)", fill: "forwards" },
  );
}
