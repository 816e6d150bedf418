// Messages between the tabs of one browser, which share a session: logins, logouts and changes. They allow a person to log in
// again in a separate window, while the page stays as it is.

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

// Called in every tab that is logged in: closes the window that was opened for the login.
export function arrived(userId) {
  tell({ loggedIn: userId });
  if (window.name === WINDOW) window.close();
}

// Returns whether the same person has logged in again. If it is somebody else, the page is loaded again.
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
      body: [el("p", {}, "You are logged out. Log in with Strava in a new window; your input stays here.")],
      buttons: [later, login],
      closed: () => {
        ending.abort();
        resolve(isDone);
      },
    });
    login.focus();
  });
}
