// Messages that come and go: said to screen readers politely, and shown until they were read.

import { el, line } from "./dom.js";

const SHORT = 6000;
const LONG = 12_000; // with something to press
const MOST = 3;

let region = null;

// The region is there before its first message, or no screen reader would hear of that.
function place() {
  if (region) return region;
  region = el("div", { className: "toasts", role: "status", ariaLive: "polite" });
  document.body.append(region);
  return region;
}
if (document.body) place();

// Says something. `action` is `[name, work]` for a button; a message that is wrong stays until it is closed, and stands there
// once, however often it is said. One of `joy` has the page's colour.
export function toast(text, { wrong = false, joy = false, action = null } = {}) {
  const shown = el("div", { className: `toast ${wrong ? "wrong" : ""} ${joy ? "joy" : ""}` }, el("span", { className: "text" }, text));
  const close = () => {
    clearTimeout(timer);
    const next = shown.contains(document.activeElement) ? shown.returnTo : null;
    shown.remove();
    next?.focus?.({ preventScroll: true });
  };
  const press = () => { close(); action[1](); };
  if (action) shown.append(el("button", { className: "act", type: "button", onclick: press }, action[0]));
  if (wrong || action) shown.append(el("button", { className: "close", type: "button", ariaLabel: "Dismiss", onclick: close }, line("M6 6l12 12M18 6L6 18")));
  let timer = null;
  const wait = () => { timer = wrong ? null : setTimeout(close, action ? LONG : SHORT); };
  shown.addEventListener("pointerenter", () => clearTimeout(timer));
  shown.addEventListener("pointerleave", wait);
  shown.addEventListener("focusin", (event) => { clearTimeout(timer); shown.returnTo ??= event.relatedTarget; });
  shown.addEventListener("focusout", wait);
  raise();
  for (const each of place().querySelectorAll(".toast.wrong")) if (wrong && each.querySelector(".text").textContent === text) each.remove();
  place().append(shown);
  while (region.children.length > MOST) region.firstChild.remove();
  wait();
  return { close };
}

// A modal dialog makes everything outside inert, messages too: they move into it while it is open.
function raise() {
  const dialog = [...document.querySelectorAll("dialog:modal")].at(-1);
  const home = dialog ?? document.body;
  if (place().parentElement !== home) home.append(region);
  dialog?.addEventListener("close", () => raise(), { once: true });
}
