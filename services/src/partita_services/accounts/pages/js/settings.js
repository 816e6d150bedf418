// Renaming the account, and closing it. For its owner.

import { button, confirm } from "/assets/dialog.js";
import { el } from "/assets/dom.js";
import { field, Form } from "/assets/form.js";
import * as api from "./api.js";
import { money } from "./format.js";

const CONFLICT = 409;

export class Settings {
  #known; // as it is, as far as this page knows
  #before; // the name that the person writes over

  constructor(account, { changed, closed, signIn }) {
    Object.assign(this, { changed, closed, signIn });
    this.name = el("input", { name: "name", required: true, maxLength: 100, autocomplete: "off", dir: "auto" });
    const close = el("button", { className: "button danger", type: "button", onclick: () => this.#close() }, "Close account");
    this.form = new Form({ fields: [field("Name", this.name)], foot: el("div", { className: "row" }, button("Rename"), close), submit: () => this.#rename(), signIn });
    this.element = el("section", { className: "panel" }, el("h2", {}, "Settings"), this.form.element);
    this.update(account);
  }

  // What is typed stays, and the name that it was typed over: nobody else's is written over unseen.
  update(account) {
    this.#known = account;
    if (this.form.isTouched) return;
    this.#before = this.name.value = account.name;
  }

  // Where only money moved elsewhere, it is done over that; a new name is the person's to decide about.
  async #rename() {
    if (this.#known.name !== this.#before) throw this.#renamedElsewhere();
    try {
      await api.rename(this.#known, this.name.value);
    } catch (error) {
      if (error.status !== CONFLICT || !error.problem.current) throw error;
      this.#known = error.problem.current;
      return this.#rename();
    }
    this.form.isTouched = false;
    return this.changed("Renamed.");
  }

  #renamedElsewhere() {
    const { name } = this.#known;
    this.#before = name;
    const show = () => {
      this.name.value = name;
      this.form.isTouched = false;
      this.form.say();
    };
    this.form.say(el("p", {}, `This account was renamed elsewhere, to “${name}”. Rename again to keep your words, or `), el("button", { className: "button", type: "button", onclick: show }, "Show what is there now"));
    return Object.assign(new api.Refused(CONFLICT, {}), { isSaid: true });
  }

  #close() {
    const { name } = this.#known;
    let isDone = false;
    confirm({
      title: `Close ${name}?`,
      text: `${money(this.#known.balance)} are paid out. This cannot be undone; the ledger is kept.`,
      action: "Close account",
      signIn: this.signIn,
      work: async () => {
        await api.close(this.#known).catch((error) => this.#notClosed(error));
        isDone = true;
      },
      closed: () => isDone && this.closed(this.#known),
    });
  }
  // One that is gone is closed; one that money came to or left has to be looked at again.
  #notClosed(error) {
    if (error.status === 404) return;
    const current = error.status === CONFLICT && error.problem.current;
    if (current) {
      this.#known = current;
      error.message = `By now it has ${money(current.balance)}. Press again to have that paid out.`;
    }
    throw error;
  }
}
