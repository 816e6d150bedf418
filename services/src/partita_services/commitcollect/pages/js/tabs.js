// Messages between the tabs of one browser, which share a session: sign-ins, sign-outs and changes. They allow a person to sign in
// again in a separate window, while the page stays as it is.

import { openDialog } from "/assets/dialog.js";
import { el } from "/assets/dom.js";
import { tabs } from "/assets/tabs.js";
import { startOver } from "/assets/unsaved.js";

const WINDOW = "commitcollect-sign-in";
const listeners = new Set();

export const tell = tabs("commitcollect", (what) => {
  for (const heard of [...listeners]) heard(what);
});

export function onTold(heard, signal) {
  listeners.add(heard);
  signal.addEventListener("abort", () => listeners.delete(heard));
}

// Called in every tab that is signed in: closes the window that was opened for the sign-in.
export function arrived(userId) {
  tell({ signedIn: userId });
  if (window.name === WINDOW) window.close();
}

// Returns whether the same person has signed in again. If it is somebody else, the page is loaded again.
export function signInAgain(userId) {
  return new Promise((resolve) => {
    const ending = new AbortController();
    let isDone = false;
    onTold(({ signedIn }) => {
      if (signedIn === undefined) return;
      isDone = signedIn === userId;
      if (!isDone) startOver();
      dialog.close();
    }, ending.signal);
    const later = el("button", { className: "button", type: "button", onclick: () => dialog.close() }, "Not now");
    const signIn = el("button", { className: "button primary", type: "button", onclick: () => window.open("auth/login", WINDOW) }, "Sign in with Strava");
    const dialog = openDialog({
      title: "Sign in again",
      className: "ask",
      body: [el("p", {}, "You are signed out. Sign in with Strava in a new window; your input stays here.")],
      buttons: [later, signIn],
      closed: () => {
        ending.abort();
        resolve(isDone);
      },
    });
    signIn.focus();
  });
}
