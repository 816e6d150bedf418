// Signing in: a token that the command line prints, kept until the tab is closed.

import { token } from "./api.js";
import { el } from "./dom.js";

// Gives the panel. `check` asks the service something with the token; `signedIn` is called when it was taken.
export function signInPanel({ title, hint, commands, check, signedIn, problem = "" }) {
  const field = el("textarea", { id: "token", rows: 3, required: true, autocomplete: "off", spellcheck: false, placeholder: "eyJhbGciOi…" });
  const said = el("p", { className: "wrong", role: "alert" }, problem);

  async function submit(event) {
    event.preventDefault();
    token.set(field.value);
    try {
      await check();
    } catch (error) {
      token.forget();
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
    el("h1", {}, title),
    el("p", {}, hint),
    commands.map(command),
    el("form", { onsubmit: submit }, el("label", { htmlFor: "token" }, "Token"), field, said, el("button", { className: "button primary" }, "Sign in")),
    el("p", { className: "small" }, "It is kept in this tab, and forgotten when you close it."),
  );
}

function command(text, number) {
  const id = `command-${number}`;
  const copy = el("button", { className: "button", type: "button", "aria-describedby": id }, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
  });
  return el("div", { className: "command" }, el("code", { id }, text), copy);
}
