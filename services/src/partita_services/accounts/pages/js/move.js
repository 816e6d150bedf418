// Moving money: a transfer to another account, a deposit, or a withdrawal.

import { keysByContent, NO_RESPONSE } from "/assets/api.js";
import { button } from "/assets/dialog.js";
import { el, replace } from "/assets/dom.js";
import { field, Form, segments } from "/assets/form.js";
import * as api from "./api.js";
import { minorUnits, money, wrongField } from "./format.js";

const KINDS = { transfer: "Transfer", deposit: "Deposit", withdraw: "Withdraw" };
const DONE = { transfer: "Transferred", deposit: "Deposited", withdraw: "Withdrew" };

export function movePanel(account, { changed, signIn, known }) {
  const to = el("input", { name: "to", required: true, maxLength: 64, autocomplete: "off", list: "known-accounts" });
  const offered = el("datalist", { id: "known-accounts" });
  const amount = el("input", { name: "amount", required: true, inputMode: "decimal", placeholder: "12.50", autocomplete: "off" });
  const memo = el("input", { name: "memo", maxLength: 140, autocomplete: "off", dir: "auto" });
  const kinds = segments("What to do", "kind", Object.entries(KINDS), "transfer");
  const target = field("To account", to, { hint: "Its key: choose an account, or enter the key that you were told." });
  const offer = () => replace(offered, known().filter(({ pk }) => pk !== account.pk).map(({ pk, name }) => el("option", { value: pk, label: name })));
  to.addEventListener("focus", offer);
  let keyFor = keysByContent();

  kinds.addEventListener("change", () => {
    const isTransfer = chosen(kinds) === "transfer";
    target.hidden = !isTransfer;
    to.required = isTransfer;
  });

  // The money moves once, however often the button is pressed: an unchanged order has the same key.
  async function submit() {
    const units = minorUnits(amount.value);
    if (!units) throw wrongField("amount", "Enter an amount above zero, like 12.50.");
    const order = { kind: chosen(kinds), to: to.value.trim(), units, memo: memo.value.trim() || null };
    try {
      await send(account.pk, order, keyFor(order));
    } catch (error) {
      throw inWords(error, order);
    }
    keyFor = keysByContent();
    form.empty(amount, memo);
    changed(`${DONE[order.kind]} ${money(units)}.`);
  }

  const fields = [offered, kinds, el("div", { className: "pair" }, target, field("Amount", amount)), field("What for", memo)];
  const form = new Form({ fields, foot: el("div", {}, button("Move money", "primary")), submit, signIn });
  return el("section", { className: "panel" }, el("h2", {}, "Move money"), form.element);
}

const chosen = (kinds) => kinds.querySelector(":checked").value;

function send(pk, { kind, to, units, memo }, key) {
  if (kind === "transfer") return api.transfer(pk, to, units, memo, key);
  return kind === "deposit" ? api.deposit(pk, units, memo, key) : api.withdraw(pk, units, memo, key);
}

// Shows an error at the field that can be corrected.
function inWords(error, { kind, to }) {
  const { code, current } = error.problem ?? {};
  if (code === "insufficient_funds") return wrongField("amount", current ? `The balance of this account is ${money(current.balance)}.` : "The balance of this account is lower.");
  if (code === "account_full") return wrongField("amount", "The account cannot hold that much more.");
  if (code === "not_allowed") error.message = "You may see this account, but not move its money. Ask its owner.";
  if (error.status === 404 && kind === "transfer") return wrongField("to", `There is no account ${to}.`);
  if (error.status === NO_RESPONSE) error.message = `${error.message} If you press again, the money still moves only once.`;
  return error;
}
