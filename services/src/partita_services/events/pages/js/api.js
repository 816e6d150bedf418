// The API of events, relative to the page.

import { OPEN } from "./words.js";
import { ask, askOnce, claims, query, send } from "/assets/api.js";

export { token } from "/assets/api.js";

const PAGE = 100;
const RECONNECT = 1000;

export const caller = () => ({ id: claims().sub, isOperator: claims().role === "operator" });

const eventAt = (id) => `api/events/${encodeURIComponent(id)}`;
const requestAt = (id) => `api/requests/${encodeURIComponent(id)}`;

export const events = () => ask("GET", `api/events?${query({ limit: PAGE })}`);
export const event = (id) => ask("GET", eventAt(id));
export const mine = () => ask("GET", `api/me/requests?${query({ limit: PAGE, order: "newest" })}`);
export const requests = (id, limit, cursor = null) => ask("GET", `${eventAt(id)}/requests?${query({ limit, cursor })}`);
export const apply = (id) => askOnce("POST", `${eventAt(id)}/requests`);
export const create = (draft) => askOnce("POST", "api/events", { data: draft });
export const cancel = (requestId) => ask("DELETE", requestAt(requestId));
export const draw = (id) => ask("GET", `${eventAt(id)}/draw`);
export const holdDraw = (id, entropy = null) => ask("POST", `${eventAt(id)}/draw`, entropy === null ? {} : { data: { entropy } });
export const edit = (id, change) => ask("PATCH", eventAt(id), { data: change });
export const cancelEvent = (id, reason) => ask("POST", `${eventAt(id)}/cancel`, { data: { reason } });
export const csv = async (id) => (await send("GET", `${eventAt(id)}/requests.csv`)).blob();
export const figures = (id, signal) => news(`${eventAt(id)}/figures/stream`, signal, () => false);
export const progress = (requestId, signal) => news(`${requestAt(requestId)}/stream`, signal, ({ status, errorCode }) => !OPEN.includes(status) && errorCode !== "WAITING_LIST");

// What the service sends until the last of it, or while `signal` lets it; after a lost connection it is asked again.
async function* news(path, signal, isLast) {
  while (!signal.aborted) {
    try {
      for await (const now of serverSentEvents(await send("GET", path, { signal }))) {
        yield now;
        if (isLast(now)) return;
      }
    } catch (error) {
      if (signal.aborted || (error.status >= 400 && error.status < 500)) return;
    }
    await new Promise((passed) => setTimeout(passed, RECONNECT));
  }
}

async function* serverSentEvents(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (text + value).split("\n\n");
    text = events.pop();
    for (const line of events.flatMap((each) => each.split("\n"))) {
      if (line.startsWith("data:")) yield JSON.parse(line.slice(5));
    }
  }
}
