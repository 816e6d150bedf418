// Renaming and closing the account, for its owner.

import { button, confirm } from "/assets/dialog.js";
import { el, isolated } from "/assets/dom.js";
import { field, Form } from "/assets/form.js";
import * as api from "./api.js";
import { money } from "./format.js";

const CONFLICT = 409;

export class Settings {
  #known; // the latest account that this page has read
  #before; // the name that the person replaces

  constructor(account, { changed, closed, signIn }) {
    Object.assign(this, { changed, closed, signIn });
    this.name = el("input", { name: "name", required: true, maxLength: 100, autocomplete: "off", dir: "auto" });
    const close = el("button", { className: "button danger", type: "button", onclick: () => this.#close() }, "Close account");
    this.form = new Form({ fields: [field("Name", this.name)], foot: el("div", { className: "row" }, button("Rename"), close), submit: () => this.#rename(), signIn });
    this.element = el("section", { className: "panel" }, el("h2", {}, "Settings"), this.form.element);
    this.update(account);
  }

  // Input stays, and so does the name that it replaces: a name that somebody else wrote is never overwritten unseen.
  update(account) {
    this.#known = account;
    if (this.form.isTouched) return;
    this.#before = this.name.value = account.name;
  }

  // If only the balance has changed, the rename is sent again; if the name has changed, the person decides.
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
    this.form.say(el("p", {}, `This account was renamed elsewhere, to “${name}”. Rename again to keep your name, or `), el("button", { className: "button", type: "button", onclick: show }, "Show the current name"));
    return Object.assign(new api.Refused(CONFLICT, {}), { isSaid: true });
  }

  #close() {
    const { name } = this.#known;
    let isDone = false;
    confirm({
      title: `Close ${isolated(name)}?`,
      text: `${money(this.#known.balance)} will be paid out. This cannot be undone; the ledger is kept.`,
      action: "Close account",
      signIn: this.signIn,
      work: async () => {
        await api.close(this.#known).catch((error) => this.#notClosed(error));
        isDone = true;
      },
      closed: () => isDone && this.closed(this.#known),
    });
  }
  // If the account is gone, it is closed. If its balance has changed, the person has to confirm again.
  #notClosed(error) {
    if (error.status === 404) return;
    const current = error.status === CONFLICT && error.problem.current;
    if (current) {
      this.#known = current;
      error.message = `The balance is now ${money(current.balance)}. Press again to have that paid out.`;
    }
    throw error;
  }
}
