// The displayed names of values, and the format of numbers and times.

import { now as serverTime } from "/assets/time.js";

const NUMBER = new Intl.NumberFormat("en");
const DATE_TIME = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

export const number = (value) => NUMBER.format(value);
export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;
export const dateTime = (text) => DATE_TIME.format(new Date(text));
export const clock = (text) => (text ? CLOCK.format(new Date(text)) : "–");
export const fraction = (text) => (text ? `.${(text.match(/\.(\d{1,6})/)?.[1] ?? "").padEnd(6, "0")}` : "");

export const TYPES = { FIRST_COME: "First come", LOTTERY: "Lottery" };
export const PHASES = { UPCOMING: "Not open yet", OPEN: "Open", CLOSED: "Closed", FINISHED: "Finished", CANCELLED: "Cancelled" };
export const STATUSES = {
  RECEIVED: "Received",
  QUEUED: "In the queue",
  PROCESSING: "Taking part",
  SUCCEEDED: "Won",
  REJECTED: "Not won",
  FAILED_FINAL: "Failed",
};
export const REASONS = {
  CANCELLED: "cancelled by you",
  CAPACITY: "all seats were taken",
  CLOSED: "the draw had begun",
  EVENT_CANCELLED: "the event was cancelled",
  WAITING_LIST: "on the waiting list",
};
export const OPEN = ["RECEIVED", "QUEUED", "PROCESSING"];

// A duration in its two largest units.
export function span(seconds) {
  if (seconds < 1) return "less than a second";
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const parts = [];
  let left = Math.round(seconds);
  for (const [name, size] of units) {
    if (left >= size && parts.length < 2) parts.push(`${Math.floor(left / size)}\u00a0${name}`);
    left %= size;
  }
  return parts.join("\u00a0");
}

// A duration, with one decimal while it is short.
export const age = (seconds) => (seconds < 10 ? `${seconds.toFixed(1)}\u00a0s` : span(seconds));

export const until = (text, now = serverTime()) => (new Date(text) - now) / 1000;

// The phase of an event by the server's clock, so that it opens and closes without a reload.
export function phase(event) {
  if (["FINISHED", "CANCELLED"].includes(event.status)) return event.status;
  if (until(event.opensAt) > 0) return "UPCOMING";
  return until(event.closesAt) > 0 ? "OPEN" : "CLOSED";
}

// The outcome of a request in a few words, with its tone.
export function outcome(request) {
  const { status, errorCode, waitingPosition } = request;
  if (status === "SUCCEEDED") return { text: "Won", tone: "won" };
  if (errorCode === "EVENT_CANCELLED") return { text: "Event cancelled", tone: "lost" };
  if (errorCode === "CANCELLED") return { text: "Cancelled", tone: "lost" };
  if (errorCode === "WAITING_LIST" || waitingPosition) return { text: `Waiting list, ${number(waitingPosition)}`, tone: "waiting" };
  if (errorCode === "CAPACITY") return { text: "Sold out", tone: "lost" };
  if (errorCode === "CLOSED") return { text: "Too late", tone: "lost" };
  if (status === "REJECTED") return { text: "Not won", tone: "lost" };
  if (status === "FAILED_FINAL") return { text: "Failed", tone: "failed" };
  return { text: status === "PROCESSING" && request.eventType === "LOTTERY" ? "In the draw" : STATUSES[status], tone: "open" };
}
