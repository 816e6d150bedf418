// Formatting of money and times, and parsing of amounts.

import { Refused } from "/assets/api.js";

const NUMBER = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const MONTH = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" });
const HUNDRED = 100;

// Balances are whole numbers of minor units, which a double represents exactly.
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

// Converts typed text to minor units without floating-point arithmetic. Null if it is not an amount.
export function minorUnits(text) {
  const parts = /^\s*(\d{1,13})(?:[.,](\d{1,2}))?\s*$/.exec(text);
  if (!parts) return null;
  return Number(parts[1]) * HUNDRED + Number((parts[2] ?? "").padEnd(2, "0") || 0);
}

// The error of a field in the form that the service reports it.
export const wrongField = (field, message) => new Refused(422, { errors: [{ field, message }] });
