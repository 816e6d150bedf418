// Formats units and ages, and adds up the figures of a service.

const NUMBER = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const NOTHING = { runs: 0, read: 0, write: 0, max_read: 0, max_write: 0, over_budget: 0, conflicts: 0, throttles: 0, failures: 0, retries: 0 };

export const number = (value) => NUMBER.format(value);

export function cost({ read, write, searched, searched_least }) {
  const least = searched_least === null || searched_least === undefined ? "" : `${number(searched_least / 1024)} to `;
  const parts = [read ? `${number(read)} RCU` : "", write ? `${number(write)} WCU` : "", searched ? `${least}${number(searched / 1024)} KB searched` : ""].filter(Boolean);
  return parts.join(" + ") || "nothing";
}

export const usageOf = (live, service, pattern) => live?.usage[service.name]?.[pattern.name] ?? NOTHING;

// Includes operations that recipes run under their own names.
export function totals(live, service) {
  const sum = { ...NOTHING };
  for (const usage of Object.values(live?.usage[service.name] ?? {})) {
    for (const key of Object.keys(sum)) sum[key] += usage[key];
  }
  return sum;
}

// The share of its budget that the most expensive run consumed; null if there is no budget or no run. An idempotent
// command may also consume the cost of its record, so for a pattern that is not over budget, the share is at most 1.
export function share(usage, budget) {
  if (!budget || !usage.runs) return null;
  const parts = [];
  if (budget.read || usage.max_read) parts.push(budget.read ? usage.max_read / budget.read : Infinity);
  if (budget.write || usage.max_write) parts.push(budget.write ? usage.max_write / budget.write : Infinity);
  const most = parts.length ? Math.max(...parts) : 0;
  return usage.over_budget ? most : Math.min(most, 1);
}

// The number of workers of a service that report, and the age of the messages that they received last.
export function workers(live, service) {
  const found = (live?.workers ?? []).filter((worker) => worker.services.includes(service.name));
  const lags = found.flatMap((worker) => worker.queues.filter((queue) => service.queues.includes(queue.name)).map((queue) => queue.lag_seconds));
  const late = Math.max(0, ...lags);
  return `${number(found.length)}${late >= 1 ? `, ${Math.round(late)} s behind` : ""}`;
}

// The age of the oldest change that a sink does not have.
export function age(seconds) {
  return seconds < 1 ? "up to date" : `${Math.round(seconds)} s behind`;
}

export function lag({ records, seconds }) {
  if (!records) return "up to date";
  return `${number(records)} ${records === 1 ? "change" : "changes"}, ${seconds < 10 ? number(seconds) : Math.round(seconds)} s behind`;
}

export function depth({ waiting, in_flight: inFlight, dead }) {
  const parts = [`${number(waiting)} waiting`, inFlight ? `${number(inFlight)} in progress` : "", dead ? `${number(dead)} dead` : ""];
  return parts.filter(Boolean).join(", ");
}
