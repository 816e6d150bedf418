// The page: sign in, then the board.

import { claims } from "/assets/api.js";
import * as api from "./api.js";
import { Board } from "./board.js";
import { el, replace } from "/assets/dom.js";
import { icon } from "./icons.js";
import { help, listen } from "./keys.js";
import { signIn } from "./signin.js";

const at = (id) => document.getElementById(id);
const [main, find, search, account, said] = ["main", "find", "search", "account", "said"].map(at);
const PAUSE = 200;

function ask(problem) {
  find.hidden = account.hidden = true;
  replace(main, signIn(open, problem));
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
  const shown = new Board(search, said);
  replace(main, shown.element);
  replace(account, el("span", { className: "who", title: name }, name), keyboard(), leave());
  listen(shown, search);
  searchOn(shown);
  await shown.load();
}

function searchOn(shown) {
  let pause;
  const now = async () => {
    clearTimeout(pause);
    await shown.load();
    shown.first();
  };
  search.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(shown.load, PAUSE);
  });
  find.addEventListener("submit", (event) => {
    event.preventDefault();
    now();
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    search.value = "";
    now();
  });
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
    return claims().sub;
  }
}

if (api.token.get()) await open();
else ask("");
