// The users who may see or use the account, for its owner.

import { attempt } from "/assets/attempt.js";
import { button } from "/assets/dialog.js";
import { el, replace } from "/assets/dom.js";
import { field, Form } from "/assets/form.js";
import { latest } from "/assets/latest.js";
import { KeyedList } from "/assets/list.js";
import { moreButton, Pages } from "/assets/pages.js";
import { empty, failed, skeleton } from "/assets/states.js";
import { toast } from "/assets/toast.js";
import * as api from "./api.js";

const ACCESS = { view: "may see it", use: "may see it and move money" };

export class Sharing {
  #asked = latest();
  #pages = null;
  #grants = [];

  constructor({ pk }, { isUnknown, signIn, signal }) {
    Object.assign(this, { pk, isUnknown, signIn });
    this.rows = el("ul", { className: "grants" });
    this.list = new KeyedList(this.rows, { key: ({ user_id }) => user_id, draw: (grant) => this.#row(grant), signal });
    this.more = moreButton(() => attempt("The other users cannot be read.", () => this.#readOn(), { signIn }), { className: "button more", signal });
    this.frame = el("div", { className: "feed", role: "region", ariaLabel: "Shared with", tabIndex: 0 }, this.rows, this.more);
    this.place = el("div", { className: "place" }, skeleton(1));
    this.element = el("section", { className: "panel" }, el("h2", {}, "Shared with"), this.place, this.#form());
    this.load();
  }

  load() {
    const read = async () => {
      const pages = new Pages((cursor) => api.grants(this.pk, cursor));
      const least = Math.max(1, this.#grants.length);
      return { pages, grants: await pages.next({ least, most: Math.ceil(least / api.PAGE) + 1 }) };
    };
    return this.#asked(read, ({ pages, grants }) => {
      [this.#pages, this.#grants] = [pages, grants];
      this.#draw();
    }, (error) => {
      if (error.status === undefined) throw error;
      if (!this.isUnknown(error) && !this.#pages) replace(this.place, failed(error, () => this.load(), "The users cannot be read"));
    });
  }

  async #readOn() {
    const pages = this.#pages;
    const grants = await pages.next();
    if (pages !== this.#pages) return; // all were read again meanwhile
    this.#grants = [...this.#grants, ...grants];
    this.#draw();
  }

  #draw() {
    if (this.#grants.length && !this.rows.isConnected) replace(this.place, this.frame);
    if (!this.#grants.length) replace(this.place, empty("Nobody else can see this account."));
    this.list.show(this.#grants);
    this.more.hidden = !this.#pages.hasMore;
  }

  #row(grant) {
    const stop = el("button", { className: "button", type: "button", ariaLabel: `Stop sharing with ${grant.user_id}`, onclick: () => this.#revoke(grant) }, "Stop");
    return el("li", {}, el("span", { className: "user", dir: "auto" }, grant.user_id), el("span", { className: "access" }, ACCESS[grant.access]), stop);
  }

  #form() {
    const user = el("input", { name: "user_id", required: true, maxLength: 128, autocomplete: "off" });
    const access = el("select", { name: "access" }, ...Object.entries(ACCESS).map(([value, text]) => el("option", { value }, text)));
    const submit = async () => {
      const name = user.value.trim();
      await api.grant(this.pk, name, access.value);
      form.empty(user);
      toast(`${name} ${ACCESS[access.value]}.`);
      await this.load();
    };
    const fields = [el("div", { className: "pair" }, field("User", user), field("Access", access))];
    const form = new Form({ fields, foot: el("div", {}, button("Share")), submit, signIn: this.signIn });
    return form.element;
  }

  // Takes effect at once, and is undone by sharing again.
  #revoke({ user_id, access }) {
    const undo = () => attempt(`The access of ${user_id} was not restored.`, () => api.grant(this.pk, user_id, access).then(() => this.load()), { signIn: this.signIn });
    return attempt(`${user_id} still ${ACCESS[access]}.`, async () => {
      await api.revoke(this.pk, user_id).catch((error) => { if (error.status !== 404) throw error; });
      toast(`${user_id} may no longer see it.`, { action: ["Undo", undo] });
      await this.load();
    }, { signIn: this.signIn });
  }
}
