// The API of tasks, relative to the page.

import { ask, body, query, Refused, send, sendOnce, token } from "/assets/api.js";

export { Refused, token };

export const PAGE = 100;
export const STREAM = "api/tasks/stream";
const ZONE = { headers: { "X-Time-Zone": Intl.DateTimeFormat().resolvedOptions().timeZone } };

// The capacity that the last response consumed, for users who want to see it.
export const costs = { last: "", listener: () => {} };

export const me = () => ask("GET", "api/me");
export const writeMe = (profile) => ask("PUT", "api/me", { data: profile });
export const myData = async () => (await send("GET", "api/me/data")).blob();
export const eraseMe = () => ask("DELETE", "api/me/data");
export const counts = () => noted(send("GET", "api/tasks/counts"));
export const list = (filters, cursor = null) => noted(send("GET", `api/tasks?${query({ ...filters, limit: PAGE, cursor })}`, ZONE));
export const search = (q, cursor = null) => noted(send("GET", `api/tasks/search?${query({ q, limit: PAGE, cursor })}`));
export const task = (id) => noted(send("GET", `api/tasks/${id}`));
export const create = (draft, key) => noted(sendOnce("POST", "api/tasks", { data: draft, key }));
export const remove = (task) => noted(send("DELETE", at(task), { headers: match(task) }));
export const change = (task, fields) => noted(send("PATCH", at(task), { data: fields, headers: match(task) }));
export const changeMany = async (task_ids, status) => (await noted(send("POST", "api/tasks/bulk/status", { data: { task_ids, status } }))).results;

export async function deleteCompleted() {
  let deleted = 0;
  let answer;
  do {
    answer = await noted(send("POST", "api/tasks/bulk/delete-completed"));
    deleted += answer.deleted;
  } while (answer.more);
  return deleted;
}

const at = (task) => `api/tasks/${task.task_id}`;
const match = (task) => ({ "If-Match": `"${task.version}"` });

async function noted(sent) {
  const response = await sent;
  const found = await body(response);
  note(response.headers.get("X-Consumed-Capacity"), found?.served_by);
  return found;
}

function note(consumed, servedBy) {
  if (!consumed || consumed === "none") return;
  const parts = consumed.split(", ").map((part) => part.replace(/;rcu=([\d.]+);wcu=([\d.]+)/, (_, rcu, wcu) => ` ${unit(rcu, wcu)}`));
  costs.last = parts.join(", ") + (servedBy ? `, from ${servedBy === "table" ? "the table" : servedBy}` : "");
  costs.listener(costs.last);
}

const unit = (rcu, wcu) => [rcu !== "0" && `${rcu} RCU`, wcu !== "0" && `${wcu} WCU`].filter(Boolean).join(" ") || "free";
