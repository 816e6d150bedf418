// What the owner alone may do: share the account, rename it and close it. And what it said before, for all who see it.

import * as api from "./api.js";
import { el, replace } from "/assets/dom.js";
import { button, choice, field, panel, saying } from "./form.js";
import { moment, money } from "./format.js";

const ACCESS = { view: "may see it", use: "may see it and move money" };

export async function sharingPanel(account) {
  const body = el("div", {});
  const { said, run } = saying();
  const user = field("User", { required: true, maxLength: 128 });
  const access = choice("Access", Object.entries(ACCESS));
  const fill = async () => replace(body, table(await api.grants(account.pk), (each) => run(async () => { await api.revoke(account.pk, each.user_id); await fill(); return `${each.user_id} sees it no more.`; })));
  const submit = run(async () => {
    const name = user.control.value.trim();
    await api.grant(account.pk, name, access.control.value);
    user.control.value = "";
    await fill();
    return `${name} ${ACCESS[access.control.value]}.`;
  });
  await fill();
  return panel("Shared with", "To everybody else, the account is not there.", body, el("form", { className: "row", onsubmit: submit }, user.label, access.label, button("Share")), said);
}

function table(grants, revoking) {
  if (!grants.length) return el("p", { className: "empty" }, "Nobody.");
  const row = (grant) =>
    el("tr", {}, el("td", {}, grant.user_id), el("td", {}, ACCESS[grant.access]), el("td", { className: "number" }, el("button", { className: "button", type: "button", "aria-label": `Stop sharing with ${grant.user_id}`, onclick: revoking(grant) }, "Stop")));
  return el("table", {}, el("tbody", {}, ...grants.map(row)));
}

export function settingsPanel(account, changed, closed) {
  const name = field("Name", { required: true, maxLength: 100, value: account.name });
  const { said, run } = saying();
  const save = run(async () => {
    await api.rename(account, name.control.value);
    await changed("Renamed.");
  });
  const close = run(async () => {
    if (!confirm(`Close ${account.name}? ${money(account.balance)} are paid out.`)) return "Nothing was closed.";
    await api.close(account);
    await closed();
  });
  return panel("Settings", "", el("form", { className: "row", onsubmit: save }, name.label, button("Rename"), button("Close account", "danger", close)), said);
}

export async function versionsPanel(pk) {
  const versions = await api.versions(pk);
  const row = (version) =>
    el("tr", {}, el("td", {}, moment(version.last_write)), el("td", {}, version.name), el("td", { className: "number money" }, money(version.balance)), el("td", {}, version.by));
  const head = el("tr", {}, ...["Since", "Name"].map((text) => el("th", { scope: "col" }, text)), el("th", { scope: "col", className: "number" }, "Balance then"), el("th", { scope: "col" }, "Written by"));
  const table = el("table", { className: "versions" }, el("caption", { className: "hidden" }, "Versions of the account"), el("thead", {}, head), el("tbody", {}, ...versions.map(row)));
  return panel("Versions", "What was written over the account, newest first. Movements of money are in the statement.", versions.length ? el("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "Versions of the account" }, table) : el("p", { className: "empty" }, "None are kept."));
}
