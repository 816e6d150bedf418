// Dialogs with a common frame. Escape and the cross close them; a click outside only if nothing was typed.

import { el, line } from "./dom.js";
import { Form } from "./form.js";

let opened = 0;

// Opens a dialog with a form. If the service refuses `submit(form)`, the fields show why; otherwise the dialog closes.
// Returns the dialog, with its `form` and with `say(...)`.
export function openDialog({ title, body, buttons, submit = () => {}, className = "", closed = () => {}, signIn }) {
  const id = `dialog-${++opened}`;
  const cross = el("button", { className: "button square", type: "button", ariaLabel: "Close", onclick: () => dialog.close() }, line("M6 6l12 12M18 6L6 18"));
  const dialog = el("dialog", { className: `dialog ${className}`, "aria-labelledby": id });
  const form = new Form({ fields: body, foot: el("footer", {}, ...buttons), signIn, submit: async () => {
    await submit(form);
    if (dialog.isConnected) dialog.close();
  } });
  form.element.prepend(el("header", {}, el("h2", { id }, title), cross));
  dialog.append(form.element);
  dialog.form = form;
  dialog.say = (...lines) => form.say(...lines);
  dialog.addEventListener("close", () => {
    dialog.remove();
    closed(dialog.returnValue);
  });
  dialog.addEventListener("mousedown", (event) => {
    if (event.target === dialog && !form.isTouched) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

export const button = (text, kind = "") => el("button", { className: `button ${kind}` }, text);

// Asks before something is lost, with the focus on the button that keeps it. With a `word`, the word must be typed first.
// Returns the dialog, which shows why if the service refuses `work`.
export function confirm({ title, text = [], action, word = null, keep = "Keep it", work, closed, signIn }) {
  const typed = word ? el("input", { required: true, autocomplete: "off", pattern: word, title: `the word ${word}` }) : null;
  const kept = el("button", { className: "button", type: "button", onclick: () => dialog.close() }, keep);
  const lines = [text].flat().map((each) => el("p", {}, each));
  const body = typed ? [...lines, el("label", { className: "field" }, el("span", {}, `Type “${word}” to confirm`), typed)] : lines;
  const dialog = openDialog({ title, body, buttons: [kept, button(action, "danger solid")], submit: work, className: "ask", closed, signIn });
  (typed ?? kept).focus();
  return dialog;
}

// The same as a question: resolves to whether the person confirmed.
export const confirmed = (question) => new Promise((resolve) => {
  let goesOn = false;
  confirm({ ...question, work: () => { goesOn = true; }, closed: () => resolve(goesOn) });
});

