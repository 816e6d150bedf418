// The API of countries, relative to the page.

import { ask, askOnce, query, Refused, send, token } from "/assets/api.js";

export { Refused, token };

const ROOT = "api/countries";
export const PAGE = 100;

export const list = () => ask("GET", "api/countries.json");
export const withdrawn = () => ask("GET", "api/countries.json?status=withdrawn");
export const listOf = (day) => ask("GET", `api/countries.json?${query({ as_of: day })}`);
export const search = async (text) => (await ask("GET", `api/search?${query({ q: text })}`)).items;
export const changes = (limit, cursor = null) => ask("GET", `api/changes?${query({ newest: true, limit, cursor })}`);
export const versions = (code, cursor = null) => ask("GET", `${at(code)}/history?${query({ limit: PAGE, cursor })}`);
export const compare = (code, before, after) => ask("GET", `${at(code)}/versions/${before}/compare/${after}`);

export async function country(code, asOf = null) {
  const response = await send("GET", `${at(code)}?${query({ as_of: asOf })}`);
  return { ...(await response.json()), etag: response.headers.get("ETag") };
}

// Each request has the key of its form: however often it is sent, the service adds one version.
export const save = (alpha2, data, reason, { etag, key }) => write("PUT", alpha2, reason, { data, key, headers: { "If-Match": etag } });
export const create = (alpha2, data, reason, { key }) => write("PUT", alpha2, reason, { data, key, headers: { "If-None-Match": "*" } });
export const remove = (alpha2, reason, { etag, key }) => write("DELETE", alpha2, reason, { key, headers: { "If-Match": etag } });
export const restore = (alpha2, reason, { key }) => write("POST", `${alpha2}/restore`, reason, { key });

// Returns the changes of a list; with `apply`, the changes are made. The request is idempotent.
export const importTable = (text, { whole, apply, reason }) =>
  ask("POST", `api/imports.csv?${query({ whole, apply, reason })}`, { text, headers: { "Content-Type": "text/csv" } });

const at = (code) => `${ROOT}/${encodeURIComponent(code)}`;
const write = (method, path, reason, options) => askOnce(method, `${ROOT}/${path}?${query({ reason })}`, options);
