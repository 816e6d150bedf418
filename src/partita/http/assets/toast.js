// Temporary messages: announced politely by screen readers, and shown long enough to be read.

import { el, line } from "./dom.js";

const SHORT = 6000;
const LONG = 12_000; // with something to press
const MOST = 3;

let region = null;

// The live region must exist before its first message, otherwise screen readers do not announce it.
function place() {
  if (region) return region;
  region = el("div", { className: "toasts", role: "status", ariaLive: "polite" });
  document.body.append(region);
  return region;
}
if (document.body) place();

// Shows a message. `action` is `[name, work]` for a button. An error message (`wrong`) stays until it is closed, and is shown
// once, however often it occurs. A message with `joy` has the page's colour.
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

// A modal dialog makes everything outside it inert, including messages, so they move into it while it is open.
function raise() {
  const dialog = [...document.querySelectorAll("dialog:modal")].at(-1);
  const home = dialog ?? document.body;
  if (place().parentElement !== home) home.append(region);
  dialog?.addEventListener("close", () => raise(), { once: true });
}
