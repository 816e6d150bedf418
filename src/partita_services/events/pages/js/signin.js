// Signing in: a token that the command line prints, kept until the tab is closed.

import * as api from "./api.js";
import { el } from "./dom.js";

const COMMANDS = ["partita token --user demo", "partita token --user boss --role operator"];

// Gives the panel; `signedIn` is called when the service has taken a token.
export function signIn(signedIn, problem = "") {
  const field = el("textarea", { id: "token", rows: 3, required: true, autocomplete: "off", spellcheck: false, placeholder: "eyJhbGciOi…" });
  const said = el("p", { className: "wrong", role: "alert" }, problem);

  async function submit(event) {
    event.preventDefault();
    api.token.set(field.value);
    try {
      await api.events();
      api.caller();
    } catch (error) {
      api.token.forget();
      said.textContent = `${error.message} ${error.hint ?? ""}`;
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
    el("h1", {}, "A fair place in the queue, and you can see it"),
    el("p", {}, "Run one of these beside the server, as a user or as an operator, and paste what it prints."),
    ...COMMANDS.map(command),
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

function command(text) {
  const copy = el("button", { className: "button", type: "button", ariaLabel: `Copy: ${text}` }, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
  });
  return el("div", { className: "command" }, el("code", {}, text), copy);
}
