// The page: sign in, then the board.

import * as api from "./api.js";
import { board } from "./board.js";
import { el, icon, replace } from "./dom.js";
import { help, listen } from "./keys.js";
import { signIn } from "./signin.js";

const at = (id) => document.getElementById(id);
const [main, find, search, account, said] = ["main", "find", "search", "account", "said"].map(at);
const PAUSE = 200;
let isListening = false;

function ask(problem) {
  find.hidden = account.hidden = true;
  replace(main, signIn(open, problem));
  at("token").focus();
}

async function open() {
  let name;
  try {
    name = await whoIsThis();
  } catch (error) {
    if (error.status === 401) api.token.forget();
    ask(error.message);
    return;
  }
  find.hidden = account.hidden = false;
  const shown = board(search, said);
  replace(main, shown.element);
  replace(account, el("span", { className: "who", title: name }, name), keyboard(), leave());
  if (!isListening) listen(shown, search);
  isListening = true;
  let pause;
  search.oninput = () => {
    clearTimeout(pause);
    pause = setTimeout(shown.load, PAUSE);
  };
  find.onsubmit = (event) => {
    event.preventDefault();
    clearTimeout(pause);
    shown.load().then(() => shown.first());
  };
  search.onkeydown = (event) => {
    if (event.key !== "Escape") return;
    search.value = "";
    shown.load().then(() => shown.first());
  };
  await shown.load();
}

const keyboard = () => el("button", { className: "button square wide-only", type: "button", title: "Keyboard shortcuts", ariaLabel: "Keyboard shortcuts", onclick: help }, icon("keys"));

function leave() {
  const out = () => {
    api.token.forget();
    location.reload();
  };
  return el("button", { className: "button", type: "button", onclick: out }, "Sign out");
}

// A user without a profile goes by the id in the token.
async function whoIsThis() {
  try {
    return (await api.me()).name;
  } catch (error) {
    if (error.status !== 404) throw error;
    const claims = api.token.get().split(".")[1].replace(/-/g, "+").replace(/_/g, "/");
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(claims), (letter) => letter.charCodeAt(0)))).sub;
  }
}

if (api.token.get()) await open();
else ask("");
