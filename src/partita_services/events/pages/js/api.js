// The API, relative to the page. Every refusal becomes a Refused with the problem that the service answered.

const TOKEN = "partita-token";
const NO_ANSWER = 0;
const PAGE = 100;
const RECONNECT = 1000;

export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? "The service did not answer.");
    this.status = status;
    this.hint = problem.hint ?? "";
    this.problem = problem;
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? "",
  set: (value) => sessionStorage.setItem(TOKEN, value.trim()),
  forget: () => sessionStorage.removeItem(TOKEN),
};

// Who the token says that this is; the service decides whether it believes it.
export function caller() {
  const claims = token.get().split(".")[1].replace(/-/g, "+").replace(/_/g, "/");
  const { sub, role } = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(claims), (letter) => letter.charCodeAt(0))));
  return { id: sub, isOperator: role === "operator" };
}

export const events = async (cursor = null) => ask("GET", `events?${query({ limit: PAGE, cursor })}`);
export const event = async (id) => ask("GET", `events/${encodeURIComponent(id)}`);
export const mine = async (cursor = null) => ask("GET", `me/requests?${query({ limit: PAGE, cursor })}`);
export const requests = async (id, limit, cursor = null) => ask("GET", `events/${encodeURIComponent(id)}/requests?${query({ limit, cursor })}`);
export const apply = async (id) => twice("POST", `events/${encodeURIComponent(id)}/requests`);
export const create = async (draft) => twice("POST", "events", draft, { "Idempotency-Key": key() });
export const cancel = async (requestId) => ask("DELETE", `requests/${encodeURIComponent(requestId)}`);
export const log = async (requestId) => ask("GET", `requests/${encodeURIComponent(requestId)}/log`);
export const draw = async (id) => ask("GET", `events/${encodeURIComponent(id)}/draw`);
export const runDraw = async (id) => twice("POST", `events/${encodeURIComponent(id)}/draw`);

export async function csv(id) {
  const response = await send("GET", `events/${encodeURIComponent(id)}/requests.csv`);
  return response.blob();
}

// What the service tells from now on, for as long as `signal` lets it; after a lost connection it is asked again.
export async function* news(path, signal) {
  while (!signal.aborted) {
    try {
      yield* told(await send("GET", path, null, {}, signal));
      return; // the service has told the last of it
    } catch (error) {
      if (signal.aborted || (error.status >= 400 && error.status < 500)) return;
    }
    await new Promise((passed) => setTimeout(passed, RECONNECT));
  }
}

async function* told(response) {
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

// What got no answer may be sent again: the service does it once.
async function twice(...request) {
  try {
    return await ask(...request);
  } catch (error) {
    if (error.status !== NO_ANSWER) throw error;
    return ask(...request);
  }
}

function query(fields) {
  return new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)).toString();
}

function key() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function ask(method, path, data = null, headers = {}) {
  const response = await send(method, path, data, headers);
  return /json/.test(response.headers.get("Content-Type") ?? "") ? response.json() : null;
}

async function send(method, path, data = null, headers = {}, signal = undefined) {
  const request = { method, signal, headers: { ...headers, Authorization: `Bearer ${token.get()}` } };
  if (data) Object.assign(request, { body: JSON.stringify(data), headers: { ...request.headers, "Content-Type": "application/json" } });
  const response = await fetch(`api/${path}`, request).catch(() => { throw new Refused(NO_ANSWER, {}); });
  if (!response.ok) throw new Refused(response.status, await response.json().catch(() => ({})));
  return response;
}
