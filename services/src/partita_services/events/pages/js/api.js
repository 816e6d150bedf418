// The API of events, relative to the page.

import { OPEN } from "./words.js";
import { ask, askOnce, claims, query, send } from "/assets/api.js";
import { events as streamed } from "/assets/stream.js";

export { token } from "/assets/api.js";

const PAGE = 100;

export const caller = () => ({ id: claims().sub ?? "", isOperator: claims().role === "operator" });

const eventAt = (id) => `api/events/${encodeURIComponent(id)}`;
const requestAt = (id) => `api/requests/${encodeURIComponent(id)}`;

export const events = (cursor = null) => ask("GET", `api/events?${query({ limit: PAGE, cursor })}`);
export const event = (id) => ask("GET", eventAt(id));
export const mine = (cursor = null) => ask("GET", `api/me/requests?${query({ limit: PAGE, order: "newest", cursor })}`);
export const requests = (id, limit, cursor = null) => ask("GET", `${eventAt(id)}/requests?${query({ limit, cursor })}`);
export const log = (requestId) => ask("GET", `${requestAt(requestId)}/log`);
export const apply = (id, key, applicant) => askOnce("POST", `${eventAt(id)}/requests`, { data: applicant, key });
export const rename = (requestId, applicant) => ask("PATCH", requestAt(requestId), { data: applicant });
export const names = (id, requestIds) => ask("GET", `${eventAt(id)}/names?${requestIds.map((each) => query({ request: each })).join("&")}`);
export const create = (draft, key) => askOnce("POST", "api/events", { data: draft, key });
export const cancel = (requestId) => ask("DELETE", requestAt(requestId));
export const draw = (id) => ask("GET", `${eventAt(id)}/draw`);
export const holdDraw = (id, entropy = null) => ask("POST", `${eventAt(id)}/draw`, entropy === null ? {} : { data: { entropy } });
export const edit = (id, change) => ask("PATCH", eventAt(id), { data: change });
export const cancelEvent = (id, reason) => ask("POST", `${eventAt(id)}/cancel`, { data: { reason } });
export const csv = async (id) => (await send("GET", `${eventAt(id)}/requests.csv`)).blob();
export const figures = (id, signal) => news(`${eventAt(id)}/figures/stream`, { signal });
export const progress = (requestId, signal) => news(`${requestAt(requestId)}/stream`, { signal, isLast: ({ status, errorCode }) => !OPEN.includes(status) && errorCode !== "WAITING_LIST" });

async function* news(path, options) {
  for await (const { data } of streamed(path, options)) yield data;
}
