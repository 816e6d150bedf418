// The API of countries, relative to the page.

import { ask, askOnce, Refused, send, token } from "/assets/api.js";

export { Refused, token };

const ROOT = "api/countries";

export const list = async () => (await send("GET", "api/countries.json")).json();

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

export const save = (alpha2, data, etag) => write("PUT", alpha2, data, { "If-Match": etag });
export const create = (alpha2, data) => write("PUT", alpha2, data, { "If-None-Match": "*" });
export const remove = (alpha2, etag) => write("DELETE", alpha2, null, { "If-Match": etag });
export const restore = (alpha2) => write("POST", `${alpha2}/restore`, null, {});

// With its key, the service adds no second version for a write that is sent again.
const write = (method, path, data, headers) => askOnce(method, `${ROOT}/${path}`, { data, headers });
