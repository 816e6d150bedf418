// What the tabs of one browser tell each other, because they share a session: who logged in or out, and that something changed.
// So one logs in again in a window of its own, while the page stays as it is.

import { openDialog } from "/assets/dialog.js";
import { el } from "/assets/dom.js";
import { tabs } from "/assets/tabs.js";

const WINDOW = "commitcollect-login";
const listeners = new Set();

export const tell = tabs("commitcollect", (what) => {
  for (const heard of [...listeners]) heard(what);
});

export function onTold(heard, signal) {
  listeners.add(heard);
  signal.addEventListener("abort", () => listeners.delete(heard));
}

// Called in every tab that is logged in: the window that was opened to log in has done its work.
export function arrived(userId) {
  tell({ loggedIn: userId });
  if (window.name === WINDOW) window.close();
}

// Gives whether the same person is logged in again. Somebody else gets a page of their own.
export function logInAgain(userId) {
  return new Promise((resolve) => {
    const ending = new AbortController();
    let isDone = false;
    onTold(({ loggedIn }) => {
      if (loggedIn === undefined) return;
      isDone = loggedIn === userId;
      if (!isDone) location.reload();
      dialog.close();
    }, ending.signal);
    const later = el("button", { className: "button", type: "button", onclick: () => dialog.close() }, "Not now");
    const login = el("button", { className: "button primary", type: "button", onclick: () => window.open("auth/login", WINDOW) }, "Log in with Strava");
    const dialog = openDialog({
      title: "Log in again",
      className: "ask",
      body: [el("p", {}, "You are logged out. Log in with Strava in a new window; what you have written stays here.")],
      buttons: [later, login],
      closed: () => {
        ending.abort();
        resolve(isDone);
      },
    });
    login.focus();
  });
}
