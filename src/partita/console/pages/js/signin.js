// Who operates: the token is kept for this tab alone, and is asked for where data is to be read.

import { claims, token } from "/assets/api.js";
import { el, replace } from "/assets/dom.js";
import { signInBy, signInOver, signInPanel } from "/assets/signin.js";
import * as api from "./api.js";

const changed = new EventTarget();
const operator = { roles: ["operator"], commands: ["partita token --user you --role operator"], check: api.me };

export const onToken = (listener, signal) => changed.addEventListener("change", listener, { signal });
const tell = () => changed.dispatchEvent(new Event("change"));

export function account(place) {
  const leave = () => {
    token.forget();
    tell();
  };
  const show = () => {
    if (!token.get()) return replace(place);
    return replace(place, el("span", { className: "who", dir: "auto" }, claims().sub ?? "Signed in"), el("button", { className: "button", type: "button", onclick: leave }, "Sign out"));
  };
  onToken(show);
  show();
}

// The panel in the place of a form; the service says whether the token is an operator's.
export const signIn = () => signInPanel({ ...operator, title: "Data is for operators", level: "h3", takesFocus: false, signedIn: tell });

// Over a form that stays as it is.
signInBy(async () => {
  const isDone = await signInOver(operator);
  if (isDone) tell();
  return isDone;
});
