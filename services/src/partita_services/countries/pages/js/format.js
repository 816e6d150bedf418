// Formatting of codes, names and instants.

import { isolated } from "/assets/dom.js";

const DAY = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" });
const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "medium", timeZone: "UTC" });
export const LABELS = { name: "Name", alpha3Code: "Alpha-3", numericCode: "Numeric", isDeleted: "Withdrawn" };

// Instants are in microseconds, as in the service: a version may begin and end within a millisecond.
export const SECOND = 1_000_000;
export const DAY_LONG = 86_400 * SECOND;
const MILLISECOND = 1000;

export const instantOf = (text) => fromDate(Date.parse(text)) + Number(/\.\d{3}(\d{3})/.exec(text)?.[1] ?? 0);
export const fromDate = (milliseconds) => milliseconds * MILLISECOND;
export const toDate = (instant) => new Date(Math.floor(instant / MILLISECOND));
export const written = (instant) => toDate(instant).toISOString().replace("Z", `${String(instant % MILLISECOND).padStart(3, "0")}Z`);
export const isoDay = (instant) => toDate(instant).toISOString().slice(0, 10);

export function fold(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
}

// Versions from lists begin at midnight, so only the day is shown; versions of operators begin at any second of a day.
export function moment(text) {
  const instant = instantOf(text);
  return instant % DAY_LONG < SECOND ? day(instant) : `${MOMENT.format(toDate(instant))} UTC`;
}

export function day(instant) {
  return DAY.format(toDate(instant));
}

export function period(version) {
  const begin = moment(version.createDate);
  return version.expiryDate ? `${begin} to ${moment(version.expiryDate)}` : `since ${begin}`;
}

// The author of a version and the reason.
export function authorship({ writtenBy, reason }) {
  const by = writtenBy ? `Written by ${isolated(writtenBy)}` : "";
  return [by, isolated(reason ?? "")].filter(Boolean).join(": ");
}

export function codes(version) {
  return [version.alpha2Code, version.alpha3Code, version.numericCode].filter(Boolean).join("  ");
}

// The differences of a version from the previous one.
export function changes(before, after) {
  return Object.keys(LABELS)
    .filter((field) => before[field] !== after[field])
    .map((field) => ({ field, label: LABELS[field], before: before[field], after: after[field] }));
}

export const shown = (value) => (typeof value === "boolean" ? (value ? "yes" : "no") : String(value ?? "none"));
