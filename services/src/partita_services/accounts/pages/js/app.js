// The page: accounts on the left, and on the right the one that the address after # names: `#/acc-1001?month=2026-05`.

import { hashParameters } from "/assets/address.js";
import { claims, onSignIn } from "/assets/api.js";
import { refused } from "/assets/attempt.js";
import { connection } from "/assets/connection.js";
import { el, isolated, replace } from "/assets/dom.js";
import { latest, onceMore } from "/assets/latest.js";
import { person } from "/assets/person.js";
import { signInAgain, signInPanel } from "/assets/signin.js";
import { failed, skeleton } from "/assets/states.js";
import { live } from "/assets/stream.js";
import { toast } from "/assets/toast.js";
import { startOver } from "/assets/unsaved.js";
import { AccountView, back } from "./account.js";
import * as api from "./api.js";
import { AccountList } from "./list.js";

const [content, browse, who] = ["content", "browse", "who"].map((id) => document.getElementById(id));
const COMMANDS = ["partita token --user demo", "partita token --user boss --role operator"];
const APART = 500; // milliseconds between two reads of what others change
const ROLES = ["user", "operator"];
const address = hashParameters(["month"], () => api.token.get() && route());
const pageAsked = latest();
const list = new AccountList(browse, { opened, isUnknown, read: () => shown === "" && welcome() });
let view = null; // the account that is shown
let shown = null; // the key in the address when it was shown
let expired = null; // the message that the sign-in has expired
let listening = new AbortController(); // ends the stream of changes

// --- signing in

function signIn(problem = "") {
  document.title = "Accounts";
  document.body.classList.remove("at-account");
  listening.abort();
  leave(null);
  browse.hidden = true;
  replace(who);
  const panel = signInPanel({ title: "Your money, entry by entry", commands: COMMANDS, roles: ROLES, check: () => api.own(), signedIn: start, problem });
  return pageAsked(() => {}, () => replace(content, panel));
}

function signOut() {
  api.token.forget();
  location.hash = "#/";
  startOver();
}

// Whether an error means that the sign-in is no longer valid. The content stays, and the person signs in on top of it.
function isUnknown(error) {
  if (error.status !== 401) return false;
  expired?.close();
  if (browse.hidden || !list.isShown) {
    api.token.forget();
    signIn(error.message);
  } else {
    expired = refused("What you see may be out of date.", error, readAgain, { signIn: again });
    onSignIn(() => { expired.close(); readAgain(); }); // whichever message they used to sign in
  }
  return true;
}

const again = () => signInAgain({ roles: ROLES, commands: COMMANDS });

// --- the content for the address

function route({ focus = true } = {}) {
  const { name, month } = address.read();
  document.body.classList.toggle("at-account", Boolean(name));
  list.mark(name);
  if (view && shown === name) return view.statement.goTo(month);
  leave(name);
  if (focus) {
    scrollTo(0, 0);
    content.focus({ preventScroll: true });
  }
  if (!name) return welcome();
  replace(content, back(), heading(), skeleton(5));
  return load();
}

// The heading until the name is known.
const heading = () => el("h1", { className: "hidden" }, shown);

function leave(name) {
  view?.end();
  [view, shown] = [null, name];
}

function welcome() {
  document.title = "Accounts";
  if (!list.isShown) return pageAsked(() => {}, () => replace(content, el("h1", { className: "hidden loading" }, "Accounts"))); // until they were read
  const isFirst = list.isEmpty;
  if (content.querySelector(isFirst ? ".notice.first" : ".notice.choose")) return undefined; // so that its button keeps the focus
  const [title, text] = isFirst ? ["You have no account yet", "Open one to move money, read statements and let others see it."] : ["Choose an account", "Its statement, transfers and versions are shown here."];
  const start = isFirst ? el("button", { className: "button primary", type: "button", onclick: () => list.open() }, "Open your first account") : null;
  const said = el("section", { className: `notice ${isFirst ? "first" : "choose"}` }, el("h1", {}, title), el("p", {}, text), start);
  return pageAsked(() => {}, () => replace(content, said));
}

// Reads the account. If it is already shown, it stays meanwhile, with all input.
function load() {
  const pk = shown;
  return pageAsked(() => api.account(pk), show, (error) => {
    if (error.status === undefined) throw error;
    if (isUnknown(error)) return undefined;
    if ([404, 422].includes(error.status)) return missing(pk); // 422: not even a key
    if (view) return refused("What you see may be out of date.", error, load);
    return replace(content, back(), heading(), failed(error, load, "The account cannot be read"));
  });
}

// If the access of the person has changed, the view is built again.
function show(account) {
  document.title = `${isolated(account.name)} · Accounts`;
  if (view?.access === account.access) return view.update(account);
  view?.end();
  view = new AccountView(account, {
    month: address.read().month,
    chose: (month) => address.write({ month }),
    changed,
    closed,
    isUnknown,
    signIn: again,
    known: () => list.known,
  });
  return replace(content, view.element);
}

function missing(pk) {
  leave(pk);
  document.title = "There is no such account · Accounts";
  replace(content, back(), el("section", { className: "notice" }, el("h1", {}, "There is no account ", el("bdi", {}, pk)), el("p", {}, "If it exists, you do not have access to it.")));
}

// --- changes

// Everything is read again; the content stays meanwhile.
function changed(message) {
  if (message) toast(message);
  readAgain();
}

// Shows changes by others, and by this person in other tabs, when they happen. The stream is opened before the first read, so
// that no change falls between the two. The number of changes does not matter, because the current state is read.
function listen() {
  const readNews = onceMore(() => readAgain(), { apart: APART });
  listening = new AbortController();
  return live(api.STREAM, readNews, { signal: listening.signal, unknown: (error) => void isUnknown(error) }).ready;
}

function opened(account) {
  changed(`${isolated(account.name)} is open.`);
  address.go({ name: account.pk, month: "" });
}

function closed(account) {
  leave(null);
  changed(`${isolated(account.name)} is closed.`);
  address.go({ name: "", month: "" });
}

function readAgain() {
  if (!api.token.get() || browse.hidden) return undefined;
  return Promise.all([list.load(), shown ? load() : null]);
}

async function start() {
  if (!api.token.get()) return signIn();
  const name = claims().sub ?? "";
  replace(who, person(name, signOut));
  browse.hidden = false;
  list.wait();
  replace(content, el("h1", { className: "hidden loading" }, "Accounts"), address.read().name ? skeleton(5) : null);
  await listen();
  return Promise.all([list.load(), route({ focus: false })]);
}

connection.onRegained(readAgain);
await start();
