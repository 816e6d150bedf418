// Moving money: a transfer to another account, a deposit, or a withdrawal.

import * as api from "./api.js";
import { el } from "/assets/dom.js";
import { button, field, Mistake, panel, saying } from "./form.js";
import { minorUnits, money } from "./format.js";

const KINDS = { transfer: "Transfer", deposit: "Deposit", withdraw: "Withdraw" };

export function movePanel(account, moved) {
  const to = field("To account", { required: true, maxLength: 64, list: "own-accounts" });
  const amount = field("Amount", { required: true, inputMode: "decimal", placeholder: "12.50" });
  const memo = field("What for", { maxLength: 140 }, "wide");
  const { said, run } = saying();
  const kinds = Object.entries(KINDS).map(([kind, title]) => radio(kind, title, () => toggle(to, kind === "transfer")));
  const submit = run(async () => {
    const units = minorUnits(amount.control.value);
    if (units === null) throw new Mistake("An amount is more than nothing, and written like 12.50.");
    const kind = kinds.find(({ control }) => control.checked).control.value;
    await send(kind, account.pk, to.control.value.trim(), units, memo.control.value.trim() || null);
    await moved(`${KINDS[kind]} of ${money(units)} done.`);
  });
  const form = el(
    "form",
    { className: "row", onsubmit: submit },
    el("fieldset", { className: "kinds" }, el("legend", { className: "hidden" }, "What to do"), ...kinds.map(({ label }) => label)),
    to.label,
    amount.label,
    memo.label,
    button("Move money", "primary"),
  );
  return panel("Move money", "", form, said);
}

function send(kind, pk, to, amount, memo) {
  if (kind === "transfer") return api.transfer(pk, to, amount, memo);
  return kind === "deposit" ? api.deposit(pk, amount, memo) : api.withdraw(pk, amount, memo);
}

function radio(kind, title, onchange) {
  const control = el("input", { type: "radio", name: "kind", value: kind, checked: kind === "transfer", onchange });
  return { control, label: el("label", {}, control, title) };
}

function toggle({ control, label }, isShown) {
  label.hidden = !isShown;
  control.required = isShown;
}
