// Sign-in with an identity provider: the authorization code flow with PKCE. The secrets stay in this tab.

import { ask, Refused, token } from "./api.js";

const KEPT = "partita-signin";
const BYTES = 32;
const CHANNEL = "partita signin";

export async function begin() {
  location.assign(await prepared(sessionStorage));
}

// Signs in without leaving the page: the identity provider is in another window, which sends the token to this one; then `done` is
// called. If the browser opens no window, the page is left.
export async function beginInWindow(done) {
  const opened = window.open("", "_blank", "popup,width=520,height=720");
  if (!opened) return begin();
  try {
    const address = await prepared(opened.sessionStorage, { isWindow: true });
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = ({ data }) => {
      if (data.state !== address.searchParams.get("state")) return;
      channel.close();
      token.set(data.token);
      done();
    };
    opened.location.assign(address);
  } catch (error) {
    opened.close();
    throw error;
  }
  return undefined;
}

// Keeps the secrets of a sign-in in the window that will receive the response, and returns the address at the provider.
async function prepared(storage, { isWindow = false } = {}) {
  if (!crypto.subtle) throw new Refused(0, { detail: "The browser can only sign in over https. Open this page by https, or on the server's own machine." });
  const { authorize, client_id, scope } = await ask("GET", "/signin/api/issuer");
  const [state, nonce, verifier] = [secret(), secret(), secret()];
  const page = location.pathname + location.search + location.hash;
  storage.setItem(KEPT, JSON.stringify({ state, nonce, verifier, page, isWindow }));
  const address = new URL(authorize);
  const parameters = { response_type: "code", client_id, scope, state, nonce, redirect_uri: `${location.origin}/signin/`, code_challenge: await challenge(verifier), code_challenge_method: "S256" };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return address;
}

// Uses the response of the identity provider once, in the tab that started the sign-in, or in the window that it opened. Returns
// the `page` to go to, or null in such a window.
export async function finish(given) {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  sessionStorage.removeItem(KEPT);
  const page = kept && /^\/(?![/\\])/.test(kept.page) ? kept.page : "/";
  try {
    if (!kept || given.get("state") !== kept.state) throw new Refused(0, { detail: "This tab did not start this sign-in. Sign in again." });
    if (given.has("error")) throw new Refused(0, { detail: ["The identity provider refused the sign-in, or you cancelled it.", given.get("error_description")].filter(Boolean).join(" Its message: ") });
    const { token: value } = await ask("POST", "/signin/api/token", { data: { code: given.get("code") ?? "", code_verifier: kept.verifier, nonce: kept.nonce } });
    if (!kept.isWindow) {
      token.set(value);
      return page;
    }
    new BroadcastChannel(CHANNEL).postMessage({ state: kept.state, token: value });
    return null;
  } catch (error) {
    error.page = page;
    throw error;
  }
}

const secret = () => base64url(crypto.getRandomValues(new Uint8Array(BYTES)));
const challenge = async (verifier) => base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
