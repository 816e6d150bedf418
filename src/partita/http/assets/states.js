// What a page shows in place of what it has not: grey shapes while it loads, a word where there is nothing, and why not.

import { el, replace } from "./dom.js";

// Grey shapes of about the size of what will come. Announced once, as one thing.
export function skeleton(rows = 3, className = "") {
  const bars = Array.from({ length: rows }, () => el("div", { className: "bar" }, el("span", {}), el("span", {})));
  return el("div", { className: `skeleton ${className}`, role: "status" }, el("span", { className: "hidden" }, "Loading…"), ...bars);
}

export function empty(text, ...more) {
  return el("div", { className: "in-place" }, el("p", {}, text), ...more);
}

// What could not be read, and a button that tries again. Its title is that of the page where there is no other.
export function failed(error, retry, title = "This cannot be shown") {
  const again = el("button", { className: "button", type: "button" }, "Try again");
  again.addEventListener("click", async () => {
    again.disabled = true;
    await retry();
    again.disabled = false;
  });
  return el("div", { className: "in-place failed", role: "alert" }, el(document.querySelector("h1:not(.loading)") ? "h2" : "h1", {}, title), el("p", {}, error.message), again);
}

// Shows what `load` gives in `place`: shapes while it takes, and why it cannot be shown with a way to try again. An error
// for which `passes` holds is the caller's.
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
