// The page: a welcome before the login, the dashboard after it, kept up while somebody looks.

import { el, replace } from "/assets/dom.js";
import { accountPanel } from "./account.js";
import * as api from "./api.js";
import { ConnectionPanel } from "./connection.js";
import { Dashboard } from "./dashboard.js";
import { problemNotice, welcome } from "./welcome.js";
import { WorkoutList } from "./workouts.js";

const EVERY = 2000;
const SAID = 6000;
const LIVELY = 6; // so many looks after a change, because parts follow a workout a little later
const AT_LEAST = 15; // looks between two readings of the milestones, when nothing seems to happen

const content = document.querySelector("#content");
const session = document.querySelector("#session");
const said = document.querySelector("#said");
const models = await api.models().catch(() => []);
const offered = models.filter((model) => !model.retired_at);
let hush;

function say(text, kind = "") {
  clearTimeout(hush);
  said.className = `said ${kind}`;
  replace(said, el("p", {}, text));
  hush = setTimeout(() => replace(said), SAID);
}

// Where the service refuses, that is said. Gives whether it worked.
async function attempt(work) {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof api.Refused)) throw error;
    if (error.status === 401) leave();
    else say(error.message, "wrong");
    return false;
  }
}

// A look that is under way meanwhile is refused, and must not take the text away again.
function leave(text = "") {
  if (leave.isDone && !text) return;
  leave.isDone = true;
  clearTimeout(leave.timer);
  replace(session);
  replace(content, welcome(problem(), text, offered));
}

const problem = () => new URLSearchParams(location.search).get("problem");

async function open() {
  const me = await api.me();
  const connection = new ConnectionPanel({ attempt: (work) => attempt(work).then(() => attempt(refresh)) });
  const workouts = new WorkoutList({ attempt });
  const dashboard = new Dashboard(models, { say, attempt, refresh });
  const account = accountPanel({ attempt, left: leave });

  async function refresh() {
    const [now, milestones, newest] = await Promise.all([api.me(), api.milestones(), api.workouts()]);
    connection.show(now);
    dashboard.show(milestones);
    workouts.show(newest);
  }

  // Progress is counted from all workouts of a milestone: it is read while something happens, and else now and then.
  let [seen, lively, looks] = ["", LIVELY, 0];
  async function look() {
    const [now, newest] = await Promise.all([api.me(), api.workouts()]);
    const isNew = seen !== (seen = JSON.stringify([now, newest]));
    lively = isNew ? LIVELY : lively - 1;
    connection.show(now);
    workouts.show(newest);
    if (lively > 0 || ++looks % AT_LEAST === 0) dashboard.show(await api.milestones());
  }

  function watch() {
    leave.timer = setTimeout(async () => {
      const isGoingOn = document.hidden || (await attempt(look)) || session.firstChild;
      if (isGoingOn) watch();
    }, EVERY);
  }

  const out = async () => {
    if (await attempt(api.logOut)) leave("You are logged out.");
  };
  replace(session, el("span", { className: "name" }, me.name), el("button", { className: "button", type: "button", onclick: out }, "Log out"));
  connection.show(me);
  await refresh();
  const wrong = problemNotice(problem()); // what went wrong while somebody was logged in already
  history.replaceState(null, "", "./");
  replace(content, ...(wrong ? [wrong] : []), el("div", { className: "board" }, dashboard.element, el("aside", { ariaLabel: "Strava and account" }, connection.element, workouts.element, account)));
  watch();
}

await attempt(open);
