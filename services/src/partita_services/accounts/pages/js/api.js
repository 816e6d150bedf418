// The API of accounts, relative to the page.

import { ask, askOnce, query, Refused, send, token } from "/assets/api.js";

export { Refused, token };

const at = (pk, rest = "") => `api/accounts/${encodeURIComponent(pk)}${rest}`;

export const own = () => all("api/accounts", {});
export const shared = () => all("api/accounts", { shared: true });
export const open = (draft) => askOnce("POST", "api/accounts", { data: draft });
export const account = (pk) => ask("GET", at(pk, "?consistent=true"));
export const rename = (account, name) =>
  ask("PUT", at(account.pk), { data: { name, balance: account.balance }, headers: { "If-Match": String(account.last_write) } });
export const close = (account) => send("DELETE", at(account.pk), { headers: { "If-Match": String(account.last_write) } });

export const statements = async (pk) => (await ask("GET", at(pk, "/statements"))).items;
export const entries = (pk, month) => all(at(pk, "/entries"), { month });
export const versions = (pk) => all(at(pk, "/versions"), {});
export const grants = (pk) => all(at(pk, "/grants"), {});
export const grant = (pk, user, access) => ask("PUT", at(pk, `/grants/${encodeURIComponent(user)}`), { data: { access } });
export const revoke = (pk, user) => send("DELETE", at(pk, `/grants/${encodeURIComponent(user)}`));
export const csv = async (pk, month) => (await send("GET", at(pk, `/statements/${month}.csv`))).blob();

// With its key, the service moves money once for an order that is sent again.
export const deposit = (pk, amount, memo) => askOnce("POST", at(pk, "/deposit"), { data: { amount, memo } });
export const withdraw = (pk, amount, memo) => askOnce("POST", at(pk, "/withdraw"), { data: { amount, memo } });
export const transfer = (from, to, amount, memo) => askOnce("POST", "api/transfers", { data: { from, to, amount, memo } });

async function all(address, wanted) {
  const found = [];
  let cursor = "";
  do {
    const page = await ask("GET", `${address}?${query({ ...wanted, limit: 100, cursor })}`);
    found.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor);
  return found;
}
