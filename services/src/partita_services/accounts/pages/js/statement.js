// The statement of a month: its totals, every entry with the balance after it, and the same as CSV.

import * as api from "./api.js";
import { el, replace } from "/assets/dom.js";
import { button, choice, panel, saying } from "./form.js";
import { KINDS, moment, money, monthName, signed } from "./format.js";

export async function statementPanel(pk) {
  const statements = await api.statements(pk);
  if (!statements.length) return panel("Statement", "No money has moved yet.");
  const body = el("div", {});
  const { said, run } = saying();
  const months = choice("Month", statements.map(({ month }) => [month, monthName(month)]));
  const chosen = () => statements.find(({ month }) => month === months.control.value);
  const show = async () => replace(body, totals(chosen()), table(chosen(), await api.entries(pk, chosen().month)));
  months.control.addEventListener("change", run(show));
  const download = button("Download CSV", "", run(() => save(pk, chosen().month)));
  await show();
  return panel("Statement", "", el("div", { className: "row" }, months.label, download), said, body);
}

function totals({ opening, received, spent, closing }) {
  const total = (title, amount) => el("div", {}, el("dt", {}, title), el("dd", {}, money(amount)));
  return el("dl", { className: "totals" }, total("Opening balance", opening), total("Received", received), total("Spent", spent), total("Closing balance", closing));
}

function table({ month, opening }, entries) {
  let balance = opening;
  const rows = entries.map((entry) => row(entry, (balance += entry.amount)));
  const head = el("tr", {}, ...["When", "What"].map((text) => el("th", { scope: "col" }, text)), ...["Amount", "Balance"].map((text) => el("th", { scope: "col", className: "number" }, text)));
  return el("table", { className: "entries" }, el("caption", { className: "hidden" }, `Entries of ${monthName(month)}`), el("thead", {}, head), el("tbody", {}, ...rows));
}

function row(entry, balance) {
  const other = { transfer_in: "from", transfer_out: "to" }[entry.kind];
  const about = [other && `${other} ${entry.counterpart}`, entry.memo, entry.by && `by ${entry.by}`].filter(Boolean).join(" · ");
  return el(
    "tr",
    {},
    el("td", { className: "when" }, moment(entry.at)),
    el("td", {}, KINDS[entry.kind], about && el("span", { className: "sub" }, about)),
    el("td", { className: `number money${entry.amount > 0 ? " in" : ""}` }, signed(entry.amount)),
    el("td", { className: "number money after" }, money(balance)),
  );
}

// The call needs the token, so that a plain link would not do.
async function save(pk, month) {
  const address = URL.createObjectURL(await api.csv(pk, month));
  const link = el("a", { href: address, download: `${pk}-${month}.csv` });
  link.click();
  URL.revokeObjectURL(address);
  return "Saved.";
}
