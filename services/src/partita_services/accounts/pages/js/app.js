// The page: accounts at the left, and at the right the one that the address after # names.

import { decoded } from "/assets/address.js";
import { claims } from "/assets/api.js";
import { el, replace } from "/assets/dom.js";
import { signInPanel } from "/assets/signin.js";
import * as api from "./api.js";
import { button } from "./form.js";
import { money } from "./format.js";
import { fillList, mark } from "./list.js";
import { movePanel } from "./move.js";
import { settingsPanel, sharingPanel, versionsPanel } from "./sharing.js";
import { statementPanel } from "./statement.js";

const content = document.getElementById("content");
const browse = document.getElementById("browse");
const who = document.getElementById("who");

const chosen = () => decoded(location.hash.slice(2));

function signIn(problem = "") {
  document.title = "Accounts";
  document.body.classList.remove("at-account");
  browse.hidden = true;
  replace(who);
  const panel = signInPanel({
    title: "Your money, entry by entry",
    commands: ["partita token --user demo"],
    roles: ["user", "operator"],
    check: api.own,
    signedIn: start,
    problem,
  });
  replace(content, panel);
}

function signOut() {
  api.token.forget();
  signIn();
}

// A token that is no longer taken leads back to signing in; what else is refused is said.
async function guarded(work) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof api.Refused)) throw error;
    if (error.status === 401) {
      api.token.forget();
      signIn(error.message);
    } else if (error.status === 404) notice(`There is no account ${chosen()}`, "At least none that you may see.");
    else notice("The account cannot be read", error.message);
  }
}

function notice(title, text) {
  document.title = `${title} · Accounts`;
  replace(content, back(), el("section", { className: "notice" }, el("h1", {}, title), el("p", {}, text)));
}

const back = () => el("a", { className: "back", href: "#/" }, "← All accounts");

const loadList = () => fillList(browse, chosen(), async (pk) => { await loadList(); go(pk); });

function go(pk) {
  const address = pk ? `#/${encodeURIComponent(pk)}` : "#/";
  if (location.hash === address) return route();
  location.hash = address;
}

async function showAccount(pk, said = "") {
  const account = await api.account(pk);
  document.title = `${account.name} · Accounts`;
  const isOwner = account.owner === claims().sub || claims().role === "operator";
  const changed = async (message) => { await loadList(); await guarded(() => showAccount(pk, message)); };
  const panels = await Promise.all([statementPanel(pk), isOwner ? sharingPanel(account) : null, versionsPanel(pk)]);
  const [statement, sharing, versions] = panels;
  const settings = isOwner ? settingsPanel(account, changed, async () => { await loadList(); go(""); }) : null;
  replace(content, back(), hero(account, said), movePanel(account, changed), statement, sharing, versions, settings);
}

function hero(account, said) {
  const meta = `${account.pk}${account.owner ? `, of ${account.owner}` : ""}`;
  return el(
    "header",
    { className: "hero" },
    el("div", {}, el("h1", {}, account.name), el("p", { className: "meta" }, meta)),
    el("span", { className: "space" }),
    el("p", { className: "balance money", "aria-label": "Balance" }, money(account.balance)),
    el("p", { className: "said right", role: "status" }, said),
  );
}

function welcome() {
  document.title = "Accounts";
  replace(content, el("section", { className: "notice" }, el("h1", {}, "Choose an account"), el("p", {}, "Its statement, transfers, and everything that was ever written over it.")));
}

async function route({ focus = true } = {}) {
  if (!api.token.get()) return signIn();
  const pk = chosen();
  document.body.classList.toggle("at-account", Boolean(pk));
  mark(browse, pk);
  if (pk) await guarded(() => showAccount(pk));
  else welcome();
  if (focus) content.focus({ preventScroll: true });
}

async function start() {
  if (!api.token.get()) return signIn();
  replace(who, el("span", {}, claims().sub), button("Sign out", "", signOut));
  await guarded(async () => { await loadList(); await route({ focus: false }); });
}

window.addEventListener("hashchange", () => route());
await start();
