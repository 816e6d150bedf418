// The page: a welcome before the login, the dashboard after it, kept up while somebody looks.

import { action } from "/assets/attempt.js";
import { el, replace, write } from "/assets/dom.js";
import { poll } from "/assets/poll.js";
import { signInBy } from "/assets/signin.js";
import { failed, skeleton } from "/assets/states.js";
import { accountPanel } from "./account.js";
import * as api from "./api.js";
import { ConnectionPanel } from "./connection.js";
import { Dashboard } from "./dashboard.js";
import { arrived, logInAgain, onTold, tell } from "./tabs.js";
import { problemNotice, welcome } from "./welcome.js";
import { workoutPanel } from "./workouts.js";

const EVERY = 2000;
const LIVELY = 6; // so many looks after a change, because parts follow a workout a little later
const AT_LEAST = 15; // looks between two readings of the milestones, when nothing seems to happen

const content = document.querySelector("#content");
const session = document.querySelector("#session");
let models = [];
let staying = new AbortController(); // ends with the dashboard, and with every look that is under way

const problem = () => new URLSearchParams(location.search).get("problem");

function leave(text = "") {
  staying.abort();
  replace(session);
  replace(content, welcome(problem(), text, models.filter((model) => !model.retired_at)));
}

// Who is not logged in is welcome; what cannot be read is tried again, and nobody is logged out by that.
async function start() {
  replace(content, skeleton(3));
  const [me, known] = await Promise.allSettled([api.me(), api.models()]);
  models = known.value ?? [];
  if (me.reason?.status === 401) return leave();
  try {
    if (known.reason) throw known.reason;
    if (me.reason) throw me.reason;
    const [milestones, workouts] = await Promise.all([api.milestones(), api.workouts()]);
    return open({ me: me.value, milestones, workouts });
  } catch (error) {
    if (error.status === undefined) throw error;
    return replace(content, failed(error, start, "Your collection cannot be shown"));
  }
}

function open(first) {
  const who = first.me.user_id;
  staying = new AbortController();
  const { signal } = staying;
  let [seen, lively, looks] = ["", LIVELY, 0];

  // Progress is counted from all workouts of a milestone: it is read while something happens, and else now and then.
  async function read() {
    const isDue = lively > 0 || looks >= AT_LEAST;
    const [me, workouts, milestones] = await Promise.all([api.me(), api.workouts(), isDue ? api.milestones() : null]);
    return { me, workouts, milestones: milestones ?? (seen === JSON.stringify([me, workouts]) ? null : await api.milestones()) };
  }
  function show({ me, workouts, milestones }) {
    if (me.user_id !== who) return location.reload(); // somebody else logged in, in another tab
    const now = JSON.stringify([me, workouts]);
    if (now !== seen) account.look();
    lively = now === seen ? Math.max(0, lively - 1) : LIVELY;
    looks = milestones ? 0 : looks + 1;
    seen = now;
    connection.show(me);
    newest.show(workouts);
    if (milestones) dashboard.show(milestones);
    return write(stale, "");
  }
  // A dialog stays with what is written in it, and asks for the login when it is sent.
  function refused(error) {
    if (error.status !== 401) write(stale, error.status === 0 ? "" : `This may be out of date. ${error.message}`);
    else if (!document.querySelector("dialog:modal")) leave("You are logged out. Log in again to go on.");
  }
  const look = poll({ every: EVERY, read, show, failed: refused, signal });
  const refresh = () => {
    lively = LIVELY;
    return look();
  };
  const changed = () => {
    tell({ isChanged: true });
    return refresh();
  };
  const left = (text) => {
    tell({ isLoggedOut: true });
    leave(text);
  };

  const stale = el("p", { className: "stale", role: "status" });
  const connection = new ConnectionPanel({ changed });
  const newest = workoutPanel(signal);
  const dashboard = new Dashboard(models, { changed, signal });
  const account = accountPanel({ left, signal });
  onTold(({ isChanged, isLoggedOut }) => (isLoggedOut ? leave("You are logged out.") : isChanged && refresh()), signal);
  signInBy(async () => {
    const isBack = await logInAgain(who);
    if (isBack) refresh();
    return isBack;
  });

  show(first);
  const out = action("You are still logged in.", async () => {
    await api.logOut();
    left("You are logged out.");
  });
  replace(session, el("span", { className: "name", dir: "auto" }, first.me.name), el("button", { className: "button", type: "button", onclick: out }, "Log out"));
  const wrong = problemNotice(problem()); // what went wrong while somebody was logged in already
  history.replaceState(null, "", "./");
  replace(content, wrong, stale, el("div", { className: "board" }, dashboard.element, el("div", { className: "side" }, connection.element, newest.element, account.element)));
  arrived(who);
}

await start();
