// The operator's token, kept for this tab alone.

import { claims, token } from "/assets/api.js";
import { el, replace } from "/assets/dom.js";
import { choices } from "/assets/signin.js";

const changed = new EventTarget();

export const onToken = (listener) => changed.addEventListener("change", listener);

function keep(value) {
  if (value) token.set(value);
  else token.forget();
  changed.dispatchEvent(new Event("change"));
}

function name() {
  try {
    return claims().sub;
  } catch {
    return "Signed in"; // a text that is not a token is refused where it is used
  }
}

export function account(place) {
  const show = () => {
    if (!token.get()) return replace(place);
    const who = el("span", { className: "who" }, name());
    replace(place, who, el("button", { className: "button", type: "button", onclick: () => keep("") }, "Sign out"));
  };
  onToken(show);
  show();
}

// Asked for where data is to be read.
export function signIn(reason = "") {
  const said = el("p", { className: "wrong", role: "alert" }, reason);
  const buttons = el("div", { className: "choices" });
  const byToken = el("details", { className: "by-token" }, el("summary", {}, "Use a token"));
  const changedNow = () => changed.dispatchEvent(new Event("change"));
  choices({ roles: ["operator"], done: changedNow, failed: (text) => { said.textContent = text; } }).then((found) => {
    replace(buttons, found);
    if (!found.length || reason) byToken.open = true;
  });
  const field = el("input", { type: "password", required: true, autocomplete: "off", spellcheck: false, name: "token" });
  const submit = (event) => { event.preventDefault(); keep(field.value); };
  byToken.append(
    el("form", { className: "unlock", onsubmit: submit }, el("p", {}, el("code", {}, "partita token --user you --role operator"), " prints one."), el("label", { className: "field" }, el("span", {}, "Operator token"), field), el("button", { className: "button primary", type: "submit" }, "Use token")),
  );
  return el("div", { className: "locked" }, el("p", {}, "Data is for operators."), buttons, said, byToken);
}
