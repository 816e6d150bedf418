// The values of tasks, and how tasks are shown and sorted.

import { now } from "/assets/time.js";

export const STATUSES = [
  { name: "pending", title: "To do" },
  { name: "in_progress", title: "In progress" },
  { name: "completed", title: "Completed" },
  { name: "cancelled", title: "Cancelled" },
];
export const PRIORITIES = ["urgent", "high", "medium", "low"];

const DAY = 86_400_000;
const NEAR = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const SHORT = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });
const LONG = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

export const titleOf = (status) => STATUSES.find(({ name }) => name === status).title;
export const isOpen = (task) => task.status === "pending" || task.status === "in_progress";

// Today in the user's time zone, as YYYY-MM-DD; some days later or earlier with a number.
export function today(days = 0) {
  const at = new Date(now());
  const local = new Date(at.getFullYear(), at.getMonth(), at.getDate() + days);
  const two = (number) => String(number).padStart(2, "0");
  return `${String(local.getFullYear()).padStart(4, "0")}-${two(local.getMonth() + 1)}-${two(local.getDate())}`;
}

export const isOverdue = (task) => Boolean(task.due_date) && isOpen(task) && task.due_date < today();

export function dueText(task) {
  const days = Math.round((Date.parse(task.due_date) - Date.parse(today())) / DAY);
  if (Math.abs(days) <= 1) return NEAR.format(days, "day");
  if (days > 1 && days < 7) return NEAR.format(days, "day");
  if (isOverdue(task)) return `${-days} days late`;
  const format = task.due_date.slice(0, 4) === today().slice(0, 4) ? SHORT : LONG;
  return format.format(new Date(task.due_date));
}

// A title without visible characters, such as zero-width spaces, would make an empty card.
export const nameOf = ({ title }) => (/[^\p{C}\p{Z}\u115f\u1160\u2800\u3164]/u.test(title) ? title : "(untitled)");

// Most urgent first and without a priority last, as the service lists them; then the earliest due, then the newest.
export function ordered(tasks) {
  const rank = ({ priority }) => (priority ? PRIORITIES.indexOf(priority) : PRIORITIES.length);
  const later = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  return tasks.sort((a, b) => rank(a) - rank(b) || later(a.due_date ?? "9999", b.due_date ?? "9999") || later(b.task_id, a.task_id));
}
