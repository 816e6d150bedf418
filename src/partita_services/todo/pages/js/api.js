// The API, relative to the page. Every refusal becomes a Refused with the problem that the service answered.

export const PAGE = 100;
const TOKEN = "partita-token";
const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const NO_ANSWER = 0;

export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? "The service did not answer.");
    this.status = status;
    this.hint = problem.hint ?? "";
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? "",
  set: (value) => sessionStorage.setItem(TOKEN, value.trim()),
  forget: () => sessionStorage.removeItem(TOKEN),
};

// What the last answers consumed, for those who want to see it.
export const costs = { last: "", listener: () => {} };

export const me = async () => (await ask("GET", "me")).body;
export const counts = async () => (await ask("GET", "tasks/counts")).body;
export const list = async (filters, cursor = null) => (await ask("GET", `tasks?${query({ ...filters, limit: PAGE, cursor })}`)).body;
export const search = async (q) => (await ask("GET", `tasks/search?${query({ q, limit: PAGE })}`)).body;
export const remove = async (task) => ask("DELETE", `tasks/${task.task_id}`, null, match(task));
export const change = async (task, fields) => (await ask("PATCH", `tasks/${task.task_id}`, fields, match(task))).body;
export const changeMany = async (task_ids, status) => (await ask("POST", "tasks/bulk/status", { task_ids, status })).body.results;

// A create that got no answer may be sent again: with the same key, the service adds no second task.
export async function create(draft) {
  const headers = { "Idempotency-Key": key() };
  try {
    return (await ask("POST", "tasks", draft, headers)).body;
  } catch (error) {
    if (error.status !== NO_ANSWER) throw error;
    return (await ask("POST", "tasks", draft, headers)).body;
  }
}

export async function deleteCompleted() {
  let deleted = 0;
  let answer;
  do {
    answer = (await ask("POST", "tasks/bulk/delete-completed")).body;
    deleted += answer.deleted;
  } while (answer.more);
  return deleted;
}

const match = (task) => ({ "If-Match": `"${task.version}"` });

function query(fields) {
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return new URLSearchParams(given).toString();
}

function key() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function ask(method, path, data = null, headers = {}) {
  const request = { method, headers: { ...headers, Authorization: `Bearer ${token.get()}`, "X-Time-Zone": ZONE } };
  if (data) Object.assign(request.headers, { "Content-Type": "application/json" });
  if (data) request.body = JSON.stringify(data);
  const response = await fetch(`api/${path}`, request).catch(() => { throw new Refused(NO_ANSWER, {}); });
  const isJson = /json/.test(response.headers.get("Content-Type") ?? "");
  const body = isJson ? await response.json() : {};
  note(response.headers.get("X-Consumed-Capacity"), body.served_by);
  if (!response.ok) throw new Refused(response.status, body);
  return { body };
}

function note(consumed, servedBy) {
  if (!consumed || consumed === "none") return;
  const parts = consumed.split(", ").map((part) => part.replace(/;rcu=([\d.]+);wcu=([\d.]+)/, (_, rcu, wcu) => ` ${unit(rcu, wcu)}`));
  costs.last = parts.join(", ") + (servedBy ? `, from ${servedBy === "table" ? "the table" : servedBy}` : "");
  costs.listener(costs.last);
}

const unit = (rcu, wcu) => [rcu !== "0" && `${rcu} RCU`, wcu !== "0" && `${wcu} WCU`].filter(Boolean).join(" ") || "free";
