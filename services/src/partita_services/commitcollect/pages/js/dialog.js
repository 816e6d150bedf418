// Dialogs: one frame for all of them, closed by Escape, its button, or a click beside it.

import { el, replace } from "/assets/dom.js";
import { icon } from "./icons.js";

// Opens a dialog with a form; `submit(dialog)` may refuse, which is then said in it.
export function openDialog({ title, body, buttons, submit }) {
  const said = el("div", { className: "wrong", role: "alert" });
  const form = el(
    "form",
    {},
    el(
      "header",
      {},
      el("h2", { id: "dialog-title" }, title),
      el("button", { className: "button square", type: "button", ariaLabel: "Close", onclick: () => dialog.close() }, icon("close")),
    ),
    ...body,
    said,
    el("footer", {}, ...buttons),
  );
  const dialog = el("dialog", { className: "dialog" }, form);
  dialog.setAttribute("aria-labelledby", "dialog-title");
  dialog.say = (...lines) => replace(said, ...lines);

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    dialog.say();
    const pressed = form.querySelectorAll("footer .button");
    for (const button of pressed) button.disabled = true;
    try {
      await submit(dialog);
      dialog.close();
    } catch (error) {
      if (error.status === undefined) throw error;
      if (!error.isSaid) dialog.say(el("p", {}, error.message));
    } finally {
      for (const button of pressed) button.disabled = false;
    }
  });
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("mousedown", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

export const button = (text, kind = "") => el("button", { className: `button ${kind}` }, text);
export const field = (name, control, hint) => el("label", { className: "field" }, el("span", {}, name), control, hint ? el("small", {}, hint) : null);

// Asks before something is lost. Where a word has to be typed, only that word goes on.
export function confirm({ title, text, action, word, work }) {
  const typed = word ? el("input", { required: true, autocomplete: "off", pattern: word, title: `the word ${word}` }) : null;
  const keep = el("button", { className: "button", type: "button", onclick: () => dialog.close() }, "Keep it");
  const body = [...text.map((line) => el("p", {}, line)), typed ? field(`Type “${word}” to go on`, typed) : null].filter(Boolean);
  const dialog = openDialog({ title, body, buttons: [keep, button(action, "danger solid")], submit: work });
  (typed ?? keep).focus();
  return dialog;
}
