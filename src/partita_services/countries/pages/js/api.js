// The API, relative to the page. Every refusal becomes a Refused with the problem that the service answered.

const ROOT = "api/countries";
const TOKEN = "partita-token";
const NO_ANSWER = 0;

export class Refused extends Error {
  constructor(status, problem) {
    super(problem.detail ?? "The service did not answer.");
    this.status = status;
    this.hint = problem.hint ?? "";
    this.country = problem.country ?? null;
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? "",
  set: (value) => sessionStorage.setItem(TOKEN, value.trim()),
  forget: () => sessionStorage.removeItem(TOKEN),
};

export const list = async () => (await ask("api/countries.json")).body;

export async function country(code, asOf = null) {
  const query = asOf === null ? "" : `?as_of=${new Date(asOf).toISOString()}`;
  const { body, etag } = await ask(`${ROOT}/${code}${query}`);
  return { ...body, etag };
}

export async function versions(code) {
  const found = [];
  let cursor = "";
  do {
    const { body } = await ask(`${ROOT}/${code}/history?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    found.push(...body.items);
    cursor = body.next_cursor;
  } while (cursor);
  return found;
}

export const save = (alpha2, data, etag) => write("PUT", alpha2, data, { "If-Match": etag });
export const create = (alpha2, data) => write("PUT", alpha2, data, { "If-None-Match": "*" });
export const remove = (alpha2, etag) => write("DELETE", alpha2, null, { "If-Match": etag });
export const restore = (alpha2) => write("POST", `${alpha2}/restore`, null, {});

// A write that got no answer may be sent again: its key makes the service add no second version.
async function write(method, path, data, conditions) {
  const headers = { ...conditions, Authorization: `Bearer ${token.get()}`, "Idempotency-Key": key() };
  if (data) headers["Content-Type"] = "application/json";
  const request = { method, headers, body: data && JSON.stringify(data) };
  try {
    return (await ask(`${ROOT}/${path}`, request)).body;
  } catch (error) {
    if (error.status !== NO_ANSWER) throw error;
    return (await ask(`${ROOT}/${path}`, request)).body;
  }
}

function key() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function ask(address, request = {}) {
  const response = await fetch(address, request).catch(() => { throw new Refused(NO_ANSWER, {}); });
  const isJson = /json/.test(response.headers.get("Content-Type") ?? "");
  const body = isJson ? await response.json() : {};
  if (!response.ok) throw new Refused(response.status, body);
  return { body, etag: response.headers.get("ETag") };
}
