// Signing in: a token that the command line prints, kept until the tab is closed.

import * as api from "./api.js";
import { el } from "./dom.js";

const COMMAND = "partita token --user demo";

// Gives the panel; `signedIn` is called when the service has taken a token.
export function signIn(signedIn, problem = "") {
  const field = el("textarea", { id: "token", rows: 3, required: true, autocomplete: "off", spellcheck: false, placeholder: "eyJhbGciOi…" });
  const said = el("p", { className: "wrong", role: "alert" }, problem);
  const copy = el("button", { className: "button", type: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(COMMAND);
    copy.textContent = "Copied";
  });

  async function submit(event) {
    event.preventDefault();
    api.token.set(field.value);
    try {
      await api.list({ status: "pending" });
    } catch (error) {
      api.token.forget();
      said.textContent = `${error.message} ${error.hint}`;
      return;
    }
    signedIn();
  }

  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") field.form.requestSubmit();
  });
  return el(
    "section",
    { className: "signin" },
    el("h1", {}, "Everything there is to do, on one board"),
    el("p", {}, "Run this command beside the server, and paste what it prints."),
    el("div", { className: "command" }, el("code", {}, COMMAND), copy),
    el(
      "form",
      { onsubmit: submit },
      el("label", { htmlFor: "token" }, "Token"),
      field,
      said,
      el("button", { className: "button primary" }, "Sign in"),
    ),
    el("p", { className: "small" }, "It is kept in this tab, and forgotten when you close it."),
  );
}
