// The operator's token, kept for this tab alone.

import { token } from "./api.js";
import { el, replace } from "./dom.js";

const changed = new EventTarget();

export const onToken = (listener) => changed.addEventListener("change", listener);

function keep(value) {
  if (value) token.set(value);
  else token.forget();
  changed.dispatchEvent(new Event("change"));
}

function claims() {
  try {
    return JSON.parse(atob(token.get().split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
  } catch {
    return {};
  }
}

export function account(place) {
  const show = () => {
    if (!token.get()) return replace(place);
    const who = el("span", { className: "who" }, claims().sub ?? "Signed in");
    replace(place, who, el("button", { className: "button", type: "button", onclick: () => keep("") }, "Sign out"));
  };
  onToken(show);
  show();
}

// Asked for where data is to be read.
export function signIn(reason = "") {
  const field = el("input", { type: "password", required: true, autocomplete: "off", spellcheck: false, name: "token" });
  const submit = (event) => { event.preventDefault(); keep(field.value); };
  return el(
    "form",
    { className: "signin", onsubmit: submit },
    el("p", {}, "Data is for operators. ", el("code", {}, "partita token --user you --role operator"), " prints a token."),
    el("label", { className: "field" }, el("span", {}, "Operator token"), field),
    el("button", { className: "button primary", type: "submit" }, "Use token"),
    el("p", { className: "wrong", role: "alert" }, reason),
  );
}
