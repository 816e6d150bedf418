// Placeholders for content: grey shapes while it loads, a text if there is none, and the reason if it cannot be shown.

import { el, replace } from "./dom.js";

// Grey shapes of about the size of the content. Screen readers announce them once, as one element.
export function skeleton(rows = 3, className = "") {
  const bars = Array.from({ length: rows }, () => el("div", { className: "bar" }, el("span", {}), el("span", {})));
  return el("div", { className: `skeleton ${className}`, role: "status" }, el("span", { className: "hidden" }, "Loading…"), ...bars);
}

export function empty(text, ...more) {
  return el("div", { className: "in-place" }, el("p", {}, text), ...more);
}

// An error with a button that tries again. Its title becomes the title of the page if there is no other.
export function failed(error, retry, title = "This cannot be shown") {
  const again = el("button", { className: "button", type: "button" }, "Try again");
  again.addEventListener("click", async () => {
    again.disabled = true;
    await retry();
    again.disabled = false;
  });
  return el("div", { className: "in-place failed", role: "alert" }, el(document.querySelector("h1:not(.loading)") ? "h2" : "h1", {}, title), el("p", {}, error.message), again);
}

// Runs `load` and returns its result. Meanwhile `place` shows grey shapes; after an error, the reason and a button to try
// again. An error for which `passes` returns true is thrown.
export async function loaded(place, load, { rows = 3, title, passes = () => false } = {}) {
  replace(place, skeleton(rows));
  try {
    return await load();
  } catch (error) {
    if (error.status === undefined || passes(error)) throw error;
    replace(place, failed(error, () => loaded(place, load, { rows, title, passes }), title));
    return null;
  }
}
