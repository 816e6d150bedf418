// The API of countries, relative to the page.

import { ask, askOnce, query, Refused, send, token } from "/assets/api.js";

export { Refused, token };

const ROOT = "api/countries";

export const list = () => ask("GET", "api/countries.json");
export const withdrawn = () => ask("GET", "api/countries.json?status=withdrawn");
export const listOf = (day) => ask("GET", `api/countries.json?${query({ as_of: day })}`);
export const search = async (text) => (await ask("GET", `api/search?${query({ q: text })}`)).items;
export const latestChanges = async (limit) => (await ask("GET", `api/changes?${query({ newest: true, limit })}`)).items;
export const compare = (code, before, after) => ask("GET", `${ROOT}/${code}/versions/${before}/compare/${after}`);

export async function country(code, asOf = null) {
  const query = asOf === null ? "" : `?as_of=${encodeURIComponent(asOf)}`;
  const response = await send("GET", `${ROOT}/${code}${query}`);
  return { ...(await response.json()), etag: response.headers.get("ETag") };
}

export async function versions(code) {
  const found = [];
  let cursor = "";
  do {
    const body = await ask("GET", `${ROOT}/${code}/history?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    found.push(...body.items);
    cursor = body.next_cursor;
  } while (cursor);
  return found;
}

export const save = (alpha2, data, reason, etag) => write("PUT", alpha2, reason, data, { "If-Match": etag });
export const create = (alpha2, data, reason) => write("PUT", alpha2, reason, data, { "If-None-Match": "*" });
export const remove = (alpha2, reason, etag) => write("DELETE", alpha2, reason, null, { "If-Match": etag });
export const restore = (alpha2, reason) => write("POST", `${alpha2}/restore`, reason, null, {});

// What a table would change; with `apply`, what it has changed. To send it again does no harm.
export async function importTable(text, { whole, apply, reason }) {
  const headers = { "Content-Type": "text/csv", Authorization: `Bearer ${token.get()}` };
  const address = `api/imports.csv?${query({ whole, apply, reason })}`;
  const response = await fetch(address, { method: "POST", headers, body: text }).catch(() => { throw new Refused(0, {}); });
  if (!response.ok) throw new Refused(response.status, await response.json().catch(() => ({})));
  return response.json();
}

// With its key, the service adds no second version for a write that is sent again.
const write = (method, path, reason, data, headers) => askOnce(method, `${ROOT}/${path}?${query({ reason })}`, { data, headers });
