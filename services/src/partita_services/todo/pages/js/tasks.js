// What tasks are made of, and how they are shown and sorted.

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

// Today where the caller is, as YYYY-MM-DD; some days later or earlier with a number.
export function today(days = 0) {
  const now = new Date();
  const local = new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
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

// Most urgent first, then the earliest due, then the newest.
export function sorted(tasks) {
  const rank = (task) => (task.priority ? PRIORITIES.indexOf(task.priority) : PRIORITIES.length - 1.5);
  const order = (a, b) =>
    rank(a) - rank(b) ||
    (a.due_date ?? "9999").localeCompare(b.due_date ?? "9999") ||
    b.task_id.localeCompare(a.task_id);
  return [...tasks].sort(order);
}
