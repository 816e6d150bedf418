// One account: its balance, moving money, its statement, who else sees it, its versions and its settings.

import { el, write } from "/assets/dom.js";
import { money } from "./format.js";
import { movePanel } from "./move.js";
import { Settings } from "./settings.js";
import { Sharing } from "./sharing.js";
import { Statement } from "./statement.js";
import { VersionTable } from "./versions.js";

export class AccountView {
  #life = new AbortController();

  // `changed(message)` is called after a write, `closed(account)` after the account was closed, and `chose(month)` when
  // another month is selected; `isUnknown(error)` returns whether the sign-in is no longer valid, and `known()` the accounts
  // that the person may choose from.
  constructor(account, { month, chose, changed, closed, isUnknown, signIn, known }) {
    const { signal } = this.#life;
    this.access = account.access;
    const isOwner = this.access === "own";
    const shared = { changed, isUnknown, signIn, signal };
    this.name = el("h1", { dir: "auto" });
    this.balance = el("p", { className: "balance money", role: "group", ariaLabel: "Balance" });
    this.meta = el("p", { className: "meta" });
    this.statement = new Statement(account.pk, { ...shared, month, chose });
    this.sharing = isOwner ? new Sharing(account, shared) : null;
    this.versions = new VersionTable(account.pk, shared);
    this.settings = isOwner ? new Settings(account, { ...shared, closed }) : null;
    const move = this.access === "view" ? onlySeen(account) : movePanel(account, { ...shared, known });
    const parts = [move, this.statement.element, this.sharing?.element, this.versions.element, this.settings?.element];
    this.element = el("div", { className: "account" }, back(), this.#hero(), ...parts);
    this.#write(account);
  }

  // Shows the current account; forms keep their content.
  update(account) {
    this.#write(account);
    this.settings?.update(account);
    return Promise.all([this.statement.load(), this.sharing?.load(), this.versions.load()]);
  }

  end() {
    this.#life.abort();
  }

  #hero() {
    return el("header", { className: "hero" }, el("div", {}, this.name, this.meta), el("span", { className: "space" }), this.balance);
  }

  #write({ pk, name, owner, balance }) {
    write(this.name, name);
    write(this.meta, `${pk}${owner ? `, of ${owner}` : ""}`);
    write(this.balance, money(balance));
  }
}

// Shown instead of the form to a person who may only see the account, because the service would reject it.
function onlySeen({ owner }) {
  const ask = owner ? [el("bdi", {}, owner), " can allow it."] : ["Nobody can allow it, because the account has no owner."];
  return el("section", { className: "panel" }, el("h2", {}, "Move money"), el("p", { className: "lead" }, "You may see this account, but not move its money. ", ...ask));
}

export const back = () => el("a", { className: "back", href: "#/" }, "← All accounts");
