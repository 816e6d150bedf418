// The accounts at the left: one's own, those that are shared, and a form to open one.

import * as api from "./api.js";
import { el, replace } from "/assets/dom.js";
import { button, field, Mistake, saying } from "./form.js";
import { minorUnits, money } from "./format.js";

export async function fillList(browse, current, opened) {
  const [own, shared] = await Promise.all([api.own(), api.shared()]);
  browse.hidden = false;
  replace(
    browse,
    group("Your accounts", own, current, "You have none yet: open one below.", (account) => account.pk),
    shared.length ? group("Shared with you", shared, current, "", (account) => `${account.pk}, of ${account.owner}`) : null,
    opening(opened),
  );
}

export function mark(browse, current) {
  for (const link of browse.querySelectorAll(".accounts a")) {
    if (link.dataset.pk === current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function group(title, accounts, current, empty, about) {
  const link = (account) =>
    el(
      "a",
      { href: `#/${encodeURIComponent(account.pk)}`, "data-pk": account.pk, "aria-current": account.pk === current ? "page" : null },
      el("span", { className: "name" }, account.name),
      el("span", { className: "money" }, money(account.balance)),
      el("span", { className: "sub" }, about(account)),
    );
  const list = el("ul", { className: "accounts" }, ...accounts.map((account) => el("li", {}, link(account))));
  return el("section", {}, el("h2", {}, title), accounts.length ? list : el("p", { className: "empty" }, empty));
}

function opening(opened) {
  const pk = field("Key", { required: true, pattern: "[A-Za-z0-9][A-Za-z0-9._~\\-]{0,63}", maxLength: 64, placeholder: "holiday-2027" });
  const name = field("Name", { required: true, maxLength: 100 });
  const balance = field("Opening balance", { inputMode: "decimal", placeholder: "0.00" });
  const { said, run } = saying();
  const submit = run(async () => {
    const amount = balance.control.value.trim() ? minorUnits(balance.control.value) : 0;
    if (amount === null) throw new Mistake("An amount is written like 12.50.");
    const account = await api.open({ pk: pk.control.value.trim(), name: name.control.value, balance: amount });
    await opened(account.pk);
  });
  const form = el("form", { className: "row", onsubmit: submit }, pk.label, name.label, balance.label, button("Open account", "primary"), said);
  return el("details", {}, el("summary", {}, "Open an account"), form);
}
