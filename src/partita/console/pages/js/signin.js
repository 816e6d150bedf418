// Sign-in of operators: the token is kept in this tab only, and is requested when data is to be read.

import { claims, token } from "/assets/api.js";
import { el, replace } from "/assets/dom.js";
import { person } from "/assets/person.js";
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
    return replace(place, person(claims().sub ?? "Signed in", leave));
  };
  onToken(show);
  show();
}

// The sign-in panel shown instead of a form; the server checks whether the token is an operator's.
export const signIn = () => signInPanel({ ...operator, title: "Data is for operators", level: "h3", takesFocus: false, signedIn: tell });

// Sign-in again, on top of a form that keeps its contents.
signInBy(async () => {
  const isDone = await signInOver(operator);
  if (isDone) tell();
  return isDone;
});
