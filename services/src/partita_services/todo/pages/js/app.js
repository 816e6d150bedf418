// The page: sign in, then the board.

import { claims } from "/assets/api.js";
import { connection } from "/assets/connection.js";
import { el, replace } from "/assets/dom.js";
import { leaveButton } from "/assets/person.js";
import { failed, skeleton } from "/assets/states.js";
import { live } from "/assets/stream.js";
import { startOver } from "/assets/unsaved.js";
import * as api from "./api.js";
import { Board } from "./board.js";
import { icon } from "./icons.js";
import { help, listen } from "./keys.js";
import { profile, showsCost } from "./profile.js";
import { signIn } from "./signin.js";

const at = (id) => document.getElementById(id);
const [main, find, search, account] = ["main", "find", "search", "account"].map(at);
const PAUSE = 200;

function ask(problem) {
  find.hidden = account.hidden = true;
  replace(main, signIn(open, problem));
}

// An unknown user must sign in. If the service cannot be reached, the user stays signed in and can try again.
async function open() {
  replace(main, skeleton(5, "board"));
  const board = follow();
  let user;
  try {
    user = await whoIsThis();
    await board.ready;
  } catch (error) {
    board.leave();
    if (error.status === undefined) throw error;
    if (error.status !== 401) return replace(main, failed(error, open, "The board cannot be shown"));
    api.token.forget();
    return ask(error.message);
  }
  find.hidden = account.hidden = false;
  const shown = board.show(new Board(search, { during: board.during }));
  shown.cost.hidden = !showsCost.get();
  drawAccount(user, shown);
  replace(main, shown.element);
  listen(shown, search);
  searchOn(shown);
  await shown.load();
}

function drawAccount(user, shown) {
  const saved = (now) => drawAccount(now, shown);
  const name = el("button", { className: "button who", type: "button", title: "Your profile", onclick: () => profile(user, { saved, shown }) }, icon("person"), el("span", { dir: "auto" }, user.name));
  replace(account, name, keyboard(), leave());
}

// Changes in other tabs and on other devices appear at once; after a lost connection everything is read again. It listens
// before the tasks are read, so that no change is missed in between.
function follow() {
  const stop = new AbortController();
  let shown = null;
  const heard = ({ event, data }) => {
    if (!shown) return undefined; // nothing has been read yet
    if (event === "reset") return shown.load();
    if (shown.changes.isUnderWay(data.task_id)) return undefined;
    const known = shown.tasks.get(data.task_id);
    if (!data.task) shown.tasks.drop(data.task_id);
    else if (!known || known.version < data.task.version) shown.tasks.put(data.task, { isNew: !shown.tasks.isSearch });
    return shown.tasks.countSoon(PAUSE);
  };
  const show = (board) => {
    shown = board;
    connection.onRegained(board.load, stop.signal);
    return board;
  };
  return { ...live(api.STREAM, heard, { signal: stop.signal }), show, leave: () => stop.abort() };
}

function searchOn(shown) {
  let pause;
  const now = async () => {
    clearTimeout(pause);
    await shown.searched();
    shown.first();
  };
  search.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => shown.searched(), PAUSE);
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
    startOver(location.pathname);
  };
  return leaveButton(out);
}

// A user without a profile is shown with the id in the token.
async function whoIsThis() {
  try {
    return await api.me();
  } catch (error) {
    if (error.status !== 404) throw error;
    return { name: claims().sub, isNew: true };
  }
}

if (api.token.get()) await open();
else ask("");
