// Operators may write. They sign in on top of the page.

import { claims, token } from "/assets/api.js";
import { el, replace } from "/assets/dom.js";
import { person } from "/assets/person.js";
import { signInAgain } from "/assets/signin.js";

const listeners = new Set();

// The service decides. If the token has another role, the page offers no actions that the service would reject.
export const isOperator = () => Boolean(token.get()) && (claims().role ?? "operator") === "operator";

export async function signIn() {
  const title = token.get() ? "Sign in again" : "Sign in as an operator";
  const isDone = await signInAgain({ roles: ["operator"], title, commands: ["partita token --user you --role operator"] });
  if (isDone) for (const listener of listeners) listener();
  return isDone;
}

export function signOut() {
  token.forget();
  for (const listener of listeners) listener();
}

// Shows the signed-in user in the header.
export function drawWho(place) {
  const draw = () => {
    if (token.get()) replace(place, person(claims().sub ?? "", signOut));
    else replace(place, el("button", { className: "button", type: "button", onclick: signIn }, "Sign in"));
  };
  listeners.add(draw);
  draw();
}

// A panel for operators: `draw()` returns its content; a person who is not an operator sees a button to sign in instead.
export function operatorPanel(title, lead, draw) {
  const element = el("section", { className: "panel" });
  const redraw = () => {
    const offer = el("button", { className: "button", type: "button", onclick: signIn }, "Sign in as an operator");
    replace(element, el("h2", {}, title), el("p", { className: "lead" }, isOperator() ? lead : "Operators may add versions."), isOperator() ? draw() : el("div", { className: "actions" }, offer));
  };
  const changed = () => {
    if (!element.isConnected) return listeners.delete(changed); // another page is shown
    // After a sign-in on top of a form, the input stays.
    if (isOperator() === Boolean(element.querySelector("form"))) return undefined;
    return redraw();
  };
  listeners.add(changed);
  redraw();
  return element;
}
