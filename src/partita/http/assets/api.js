// Calls of an API. A failed call throws a Refused, whose message is for people and whose problem is for programs.

import { connection } from "./connection.js";
import { explain } from "./explain.js";
import { noteTime } from "./time.js";
import { startOver } from "./unsaved.js";

const TOKEN = "partita-token";
export const NO_RESPONSE = 0;
const UNKNOWN = 401;

export class Refused extends Error {
  constructor(status, problem) {
    super(explain(status, problem));
    this.status = status;
    this.hint = problem.hint ?? "";
    this.problem = problem;
  }
}

// Kept until the tab is closed.
export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? "",
  set: (value) => sessionStorage.setItem(TOKEN, value.trim()),
  forget: () => sessionStorage.removeItem(TOKEN),
};

// A page that the browser kept in memory belongs to the person who left it: after a sign-out, Back must not show it again.
let leftAs = "";
addEventListener("pagehide", () => { leftAs = token.get(); });
addEventListener("pageshow", ({ persisted }) => persisted && token.get() !== leftAs && startOver());

// Events for a person who has signed in again after the sign-in expired: work that waited for this continues.
const signIns = new EventTarget();
export const noteSignIn = () => signIns.dispatchEvent(new Event("in"));
export const onSignIn = (listener, signal) => signIns.addEventListener("in", listener, { once: true, signal });

// The unverified claims of the token; the service verifies them. An unreadable token has no claims.
export function claims() {
  try {
    const part = token.get().split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(part), (letter) => letter.charCodeAt(0)))) ?? {};
  } catch {
    return {};
  }
}

export async function send(method, address, { data = null, text = null, headers = {}, signal = undefined } = {}) {
  const request = { method, signal, headers: { ...headers } };
  const [given, who] = [token.get(), claims().sub];
  if (given) request.headers.Authorization = `Bearer ${given}`;
  if (data !== null) {
    request.headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(data);
  } else if (text !== null) request.body = text; // its Content-Type is in the headers
  const asked = performance.now();
  const response = await fetch(address, request).catch(() => {
    if (!signal?.aborted) connection.lost();
    throw new Refused(NO_RESPONSE, {});
  });
  connection.regained();
  noteTime(response.headers.get("Date"), asked, performance.now());
  // The person signed in while the request was under way. The request did nothing, so send it again with the new token.
  const isSame = who === undefined || claims().sub === who;
  if (response.status === UNKNOWN && token.get() && token.get() !== given && isSame) return send(method, address, { data, text, headers, signal });
  if (!response.ok) throw new Refused(response.status, await response.json().catch(() => ({})));
  return response;
}

// Sends a call once more if it got no response: both have the same key, so the service executes it once. If a person may
// press the button again, create the key with the form (newKey), not with the click.
export async function sendOnce(method, address, { data = null, headers = {}, key = newKey() } = {}) {
  const options = { data, headers: { ...headers, "Idempotency-Key": key } };
  try {
    return await send(method, address, options);
  } catch (error) {
    if (error.status !== NO_RESPONSE) throw error;
    return send(method, address, options);
  }
}

export const body = (response) => (/json/.test(response.headers.get("Content-Type") ?? "") ? response.json() : null);
export const ask = async (...request) => body(await send(...request));
export const askOnce = async (...request) => body(await sendOnce(...request));

export function query(fields) {
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return new URLSearchParams(given).toString();
}

export const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// For a form that a person may change and send again: one key for each content, however often it is sent.
export function keysByContent() {
  const known = new Map();
  return (content) => {
    const text = JSON.stringify(content);
    if (!known.has(text)) known.set(text, newKey());
    return known.get(text);
  };
}
