// Sign-in: with the identity provider, with one click on this machine, or with a token.

import { ask, claims, noteSignIn, token } from "./api.js";
import { el, replace } from "./dom.js";
import { begin, beginInWindow } from "./issuer.js";
import { site } from "./site.js";
import { startOver } from "./unsaved.js";

const NOT_TAKEN = "This token is not accepted here: it has expired, or belongs to another server. Get a new one.";
const NAMES = { user: "Sign in as a demo user", operator: "Sign in as a demo operator" };

// Returns the sign-in buttons; none if a token is the only way. `done` is called after the token was set. With `isOver`, the page
// must stay, so that the identity provider is opened in a window.
export async function choices({ roles = ["user"], done, failed, isOver = false }) {
  const { sign_in } = await site;
  const trying = (work) => async (event) => {
    event.currentTarget.disabled = true;
    try {
      await work();
    } catch (error) {
      failed(error.message);
    }
    event.target.disabled = false;
  };
  const asDemo = (role) => async () => {
    token.set((await ask("POST", "/signin/api/demo", { data: { role } })).token);
    await done();
  };
  const issuer = sign_in.issuer ? [el("button", { className: "button primary", type: "button", onclick: trying(isOver ? () => beginInWindow(done) : begin) }, `Sign in with ${sign_in.issuer}`)] : [];
  const demo = sign_in.demo ? roles.map((role, number) => el("button", { className: number ? "button" : "button primary", type: "button", onclick: trying(asDemo(role)) }, NAMES[role])) : [];
  return [...issuer, ...demo];
}

let panels = 0;

// Returns the sign-in panel. `check` sends a request with the token; `signedIn` is called if the token was accepted. The
// panel takes the focus unless `takesFocus` is false, for a page with other content.
export function signInPanel({ title, commands, check, signedIn, roles, problem = "", level = "h1", takesFocus = true, isOver = false }) {
  const id = `token-${++panels}`;
  const field = el("textarea", { id, rows: 3, required: true, autocomplete: "off", spellcheck: false, placeholder: "eyJhbGciOi…" });
  const said = el("p", { className: "wrong", role: "alert" }, problem);
  const buttons = el("div", { className: "choices" });
  const byToken = el("details", { className: "by-token" }, el("summary", {}, "Use a token"), el("p", {}, "Run this where the server runs, and paste the token that it prints."), commands.map((text, number) => command(text, `${id}-command-${number}`)));

  async function taken() {
    try {
      await check();
    } catch (error) {
      if (error.status === 401 || error.status === 403) token.forget(); // not valid, or not allowed here
      said.textContent = error.status === 401 ? NOT_TAKEN : error.message;
      return;
    }
    signedIn();
  }
  function submit(event) {
    event.preventDefault();
    token.set(field.value);
    return taken();
  }

  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") field.form.requestSubmit();
  });
  byToken.append(el("form", { onsubmit: submit }, el("label", { htmlFor: id }, "Token"), field, el("button", { className: "button primary" }, "Use token")));
  choices({ roles, isOver, done: taken, failed: (text) => { said.textContent = text; } }).then((found) => {
    replace(buttons, found);
    if (!found.length) byToken.open = true;
    if (takesFocus && !byToken.contains(document.activeElement)) (found[0] ?? field).focus();
  });
  return el("section", { className: "signin" }, el(level, { tabIndex: -1 }, title), buttons, said, byToken, el("p", { className: "small" }, "You stay signed in until this tab is closed."));
}

let own = null;

// Sets how this page signs in again, if not with a user's token: `way()` resolves to whether the sign-in succeeded.
export function signInBy(way) {
  own = way;
}
export async function signInAgain(options) {
  const isDone = await (own ?? signInOver)(options);
  if (isDone) noteSignIn();
  return isDone;
}

// Signs in, or signs in again, in a dialog over the page; resolves to whether that succeeded. The page belongs to one person:
// for another one, it is loaded again, and nothing that was typed is sent.
export function signInOver({ roles, title = "Sign in again", check = () => {}, commands = ["partita token --user demo"] } = {}) {
  const [before, own] = [claims().sub, token.get()];
  return new Promise((resolve) => {
    let isDone = false;
    const dialog = el("dialog", { className: "dialog again", ariaLabel: title });
    const signedIn = () => {
      if (before !== undefined && claims().sub !== before) return replace(dialog, ...somebodyElse());
      isDone = true;
      return dialog.close();
    };
    const later = el("button", { className: "button", type: "button", onclick: () => dialog.close() }, "Not now");
    const panel = () => [signInPanel({ title, commands, check, signedIn, roles, level: "h2", isOver: true }), later];
    const somebodyElse = () => {
      const [name, theirs] = [el("bdi", {}, claims().sub), token.get()];
      token.set(own); // until the page is loaded again, it does nothing in the other name
      const press = (text, onclick) => el("button", { className: "button", type: "button", onclick }, ...text);
      const stay = press(["Sign in as ", el("bdi", {}, before)], () => replace(dialog, ...panel()));
      const change = press(["Continue as ", name.cloneNode(true)], () => {
        token.set(theirs);
        startOver();
      });
      const text = el("p", {}, "This page was opened by ", el("bdi", {}, before), ", and you signed in as ", name, ". If you continue, the page is loaded again, and what was typed here is lost.");
      queueMicrotask(() => stay.focus());
      return [el("section", { className: "signin" }, el("h2", {}, "You are somebody else now"), text, el("div", { className: "choices" }, stay, change)), later];
    };
    dialog.append(...panel());
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(isDone);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

function command(text, id) {
  const copy = el("button", { className: "button", type: "button", "aria-describedby": id }, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
  });
  return el("div", { className: "command" }, el("code", { id }, text), copy);
}
