// How codes, names and instants are shown.

import { el } from "/assets/dom.js";

const DAY = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "medium", timeZone: "UTC" });
const LABELS = { name: "Name", alpha3Code: "Alpha-3", numericCode: "Numeric", isDeleted: "Deleted" };

export const DAY_MS = 86_400_000;

// A flag is two regional indicator letters; what is not current has no such flag, and is shown by its code.
export function flag(version, current = version) {
  const isSame = version.alpha3Code === current.alpha3Code || version.name === current.name;
  const letters = version.alpha2Code;
  if (current.isDeleted || !isSame) return el("span", { className: "flag code-only", ariaHidden: "true" }, letters);
  const emoji = String.fromCodePoint(...[...letters].map((letter) => 0x1f1e6 + letter.charCodeAt(0) - 65));
  return el("span", { className: "flag", ariaHidden: "true" }, emoji);
}

export function fold(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

// Versions from lists begin at midnight; those that operators wrote, at some second of a day.
export function moment(instant) {
  const time = new Date(instant);
  return time.getTime() % DAY_MS < 1000 ? DAY.format(time) : `${MOMENT.format(time)} UTC`;
}

export function day(milliseconds) {
  return DAY.format(new Date(milliseconds));
}

export function period(version) {
  const begin = moment(version.createDate);
  return version.expiryDate ? `${begin} to ${moment(version.expiryDate)}` : `since ${begin}`;
}

export function codes(version) {
  return [version.alpha2Code, version.alpha3Code, version.numericCode].filter(Boolean).join("  ");
}

// In what a version differs from the one before.
export function changes(before, after) {
  return Object.keys(LABELS)
    .filter((field) => before[field] !== after[field])
    .map((field) => ({ field, label: LABELS[field], before: before[field], after: after[field] }));
}
