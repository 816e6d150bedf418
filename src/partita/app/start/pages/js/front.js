// The front page: who is signed in, and the one-time sign-in link that the terminal prints.

import { ask, token } from "/assets/api.js";
import { connection } from "/assets/connection.js";
import { el, replace } from "/assets/dom.js";
import { latest } from "/assets/latest.js";
import { signInPanel } from "/assets/signin.js";
import { failed, skeleton } from "/assets/states.js";

const LINK = "#sign-in=";
const place = document.getElementById("account");
const newest = latest();
const me = () => ask("GET", "/signin/api/me");

// Removes the code from the address before anything else happens: it must not be stored, shared or sent again.
function codeOfLink() {
  if (!location.hash.startsWith(LINK)) return null;
  const code = location.hash.slice(LINK.length);
  history.replaceState(null, "", location.pathname);
  return code;
}

async function whoIsThis(code) {
  if (code !== null) token.set((await ask("POST", "/signin/api/link", { data: { code } })).token);
  return token.get() ? me() : null;
}

function open(code = codeOfLink()) {
  if (code !== null || token.get()) replace(place, skeleton(1));
  return newest(() => whoIsThis(code), (user) => (user ? welcome(user) : offer()), (error) => trouble(error, code));
}

function trouble(error, code) {
  if (error.status === undefined) throw error;
  if (error.status === 401) token.forget();
  const isRefused = error.status === 401 || (code !== null && error.status >= 400 && error.status < 500);
  if (isRefused) offer([error.message, code === null ? "" : error.hint].filter(Boolean).join(" "));
  else replace(place, failed(error, () => open(code), "Your sign-in cannot be checked"));
}

function offer(problem = "") {
  const signedIn = () => open(null);
  replace(place, signInPanel({ title: "Sign in", level: "h2", commands: ["partita token --user demo"], check: me, signedIn, roles: ["user", "operator"], problem, takesFocus: false }));
}

function welcome({ user_id: name, role }) {
  const leave = () => {
    token.forget();
    offer();
    place.querySelector("h2").focus();
  };
  const other = role === "operator" ? null : el("p", { className: "small" }, "Only operators can use the console's reads and some tools: sign out, and sign in as an operator.");
  replace(
    place,
    el("section", { className: "signin signed-in" }, el("h2", { tabIndex: -1 }, "You are signed in"), el("p", { className: "who", role: "status" }, el("span", { dir: "auto" }, name), role === "operator" ? ", as an operator" : ""), other, el("div", { className: "ways" }, el("button", { className: "button", type: "button", onclick: leave }, "Sign out")), el("p", { className: "small" }, "You stay signed in until this tab is closed, also in services that you open from here.")),
  );
}

connection.onRegained(() => {
  if (place.querySelector(".failed")) open(null);
});
addEventListener("hashchange", () => location.hash.startsWith(LINK) && open());
await open();
