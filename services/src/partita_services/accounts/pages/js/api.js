// The API of accounts, relative to the page.

import { ask, askOnce, query, Refused, send, token } from "/assets/api.js";

export { Refused, token };

export const PAGE = 100;
export const STREAM = "api/stream";
const at = (pk, rest = "") => `api/accounts/${encodeURIComponent(pk)}${rest}`;
const page = (address, wanted, cursor) => ask("GET", `${address}?${query({ ...wanted, limit: PAGE, cursor })}`);
const match = (account) => ({ "If-Match": String(account.last_write) });

export const own = (cursor = null) => page("api/accounts", {}, cursor);
export const shared = (cursor = null) => page("api/accounts", { shared: true }, cursor);
export const account = (pk) => ask("GET", at(pk, "?consistent=true"));
export const rename = (account, name) => ask("PUT", at(account.pk), { data: { name, balance: account.balance }, headers: match(account) });
export const close = (account) => send("DELETE", at(account.pk), { headers: match(account) });

export const statements = async (pk) => (await ask("GET", at(pk, "/statements"))).items;
export const entries = (pk, month, cursor = null) => page(at(pk, "/entries"), { month, order: "newest" }, cursor);
export const versions = (pk, cursor = null) => page(at(pk, "/versions"), {}, cursor);
export const grants = (pk, cursor = null) => page(at(pk, "/grants"), {}, cursor);
export const grant = (pk, user, access) => ask("PUT", at(pk, `/grants/${encodeURIComponent(user)}`), { data: { access } });
export const revoke = (pk, user) => send("DELETE", at(pk, `/grants/${encodeURIComponent(user)}`));
export const csv = async (pk, month) => (await send("GET", at(pk, `/statements/${month}.csv`))).blob();

// Because of the key, the service opens one account or moves money once, however often the request is sent.
export const open = (draft, key) => askOnce("POST", "api/accounts", { data: draft, key });
export const deposit = (pk, amount, memo, key) => askOnce("POST", at(pk, "/deposit"), { data: { amount, memo }, key });
export const withdraw = (pk, amount, memo, key) => askOnce("POST", at(pk, "/withdraw"), { data: { amount, memo }, key });
export const transfer = (from, to, amount, memo, key) => askOnce("POST", "api/transfers", { data: { from, to, amount, memo }, key });
