// Who may write: an operator, who signs in over the page as it is.

import { claims, token } from "/assets/api.js";
import { el, replace } from "/assets/dom.js";
import { signInAgain } from "/assets/signin.js";

const listeners = new Set();

// The service decides; where the token says that this is somebody else, nothing is offered that would be refused.
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

// Who this is, in the header.
export function drawWho(place) {
  const draw = () => {
    const press = (text, onclick) => el("button", { className: "button", type: "button", onclick }, text);
    if (token.get()) replace(place, el("span", { className: "name", dir: "auto", title: claims().sub ?? "" }, claims().sub ?? ""), press("Sign out", signOut));
    else replace(place, press("Sign in", signIn));
  };
  listeners.add(draw);
  draw();
}

// A panel for operators: `draw()` gives its content, and before that there is the way to sign in. It gives the element, and
// `redraw` to begin again.
export function operatorPanel(title, lead, draw) {
  const element = el("section", { className: "panel" });
  const redraw = () => {
    const offer = el("button", { className: "button", type: "button", onclick: signIn }, "Sign in as an operator");
    replace(element, el("h2", {}, title), el("p", { className: "lead" }, isOperator() ? lead : "Operators may add versions."), isOperator() ? draw() : el("div", { className: "actions" }, offer));
  };
  const changed = () => {
    if (!element.isConnected) return listeners.delete(changed); // another page is shown
    // After a sign-in over a form, what was typed stays.
    if (isOperator() === Boolean(element.querySelector("form"))) return undefined;
    return redraw();
  };
  listeners.add(changed);
  redraw();
  return element;
}
