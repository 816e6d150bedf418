// How money and instants are shown, and how money is read.

import { Refused } from "/assets/api.js";

const NUMBER = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const MONTH = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });
const HUNDRED = 100;

// Balances are whole numbers of minor units; a double has all of them exactly.
export const money = (amount) => NUMBER.format(amount / HUNDRED).replace("-", "−");
export const signed = (amount) => (amount > 0 ? `+${money(amount)}` : money(amount));
export const moment = (text) => MOMENT.format(new Date(text));
export const monthName = (month) => MONTH.format(new Date(`${month}-01T00:00:00Z`));

export const KINDS = {
  opening: "Opened",
  deposit: "Deposit",
  withdrawal: "Withdrawal",
  transfer_in: "Transfer in",
  transfer_out: "Transfer out",
  adjustment: "Adjustment",
  closing: "Closed",
};

// What was typed as minor units, read as text: 0.1 + 0.2 is not for money. Null where it is not an amount.
export function minorUnits(text) {
  const parts = /^\s*(\d{1,13})(?:[.,](\d{1,2}))?\s*$/.exec(text);
  if (!parts) return null;
  return Number(parts[1]) * HUNDRED + Number((parts[2] ?? "").padEnd(2, "0") || 0);
}

// What is wrong with a field, as the service would say it.
export const wrongField = (field, message) => new Refused(422, { errors: [{ field, message }] });
