// The page: a welcome before the sign-in, and the dashboard after it, which receives changes from a stream.

import { action } from "/assets/attempt.js";
import { el, replace, write } from "/assets/dom.js";
import { onceMore } from "/assets/latest.js";
import { person } from "/assets/person.js";
import { poll } from "/assets/poll.js";
import { signInBy } from "/assets/signin.js";
import { failed, skeleton } from "/assets/states.js";
import { live } from "/assets/stream.js";
import { startOver } from "/assets/unsaved.js";
import { accountPanel } from "./account.js";
import * as api from "./api.js";
import { ConnectionPanel } from "./connection.js";
import { Dashboard } from "./dashboard.js";
import { arrived, onTold, signInAgain, tell } from "./tabs.js";
import { problemNotice, welcome } from "./welcome.js";
import { workoutPanel } from "./workouts.js";

const EVERY = 3_600_000; // changes arrive by the stream, except for the end of a day, with which milestones end
const WHILE_READING = 30_000; // the stream does not report Strava's limits either, which all users share
const APART = 1000; // milliseconds between two reads: progress is computed from all workouts, not for each of many changes

const content = document.querySelector("#content");
const session = document.querySelector("#session");
let models = [];
let staying = new AbortController(); // ends with the dashboard, and cancels its reads

const problem = () => new URLSearchParams(location.search).get("problem");

function leave(text = "") {
  staying.abort();
  replace(session);
  replace(content, welcome(problem(), text, models.filter((model) => !model.retired_at)));
}

async function read() {
  const [me, workouts, milestones] = await Promise.all([api.me(), api.workouts(), api.milestones()]);
  return { me, workouts, milestones };
}

// Shows the welcome to a person who is not signed in. Failed reads are retried and sign nobody out. The stream is opened before
// the first read, so that no change falls between the two.
async function start() {
  replace(content, el("h1", { className: "hidden loading" }, "Milestones"), skeleton(3));
  const [me, known] = await Promise.allSettled([api.me(), api.models()]);
  models = known.value ?? [];
  if (me.reason?.status === 401) return leave();
  try {
    if (known.reason) throw known.reason;
    if (me.reason) throw me.reason;
    const news = listen(me.value.user_id);
    await news.ready;
    return open(await read(), news);
  } catch (error) {
    if (error.status === undefined) throw error;
    return replace(content, failed(error, start, "Your collection cannot be shown"));
  }
}

// Receives changes from other tabs and devices, new workouts from Strava, and the parts that they earn.
function listen(who) {
  staying = new AbortController();
  const news = { isMissed: false, heard: () => { news.isMissed = true; }, unknown: () => {} };
  const told = (each) => news.heard(each);
  return Object.assign(news, live(api.STREAM, told, { signal: staying.signal, who, unknown: (error) => news.unknown(error) }));
}

function open(first, news) {
  const who = first.me.user_id;
  const { signal } = staying;
  let [seen, isReading] = ["", false];

  function show({ me, workouts, milestones }) {
    if (me.user_id !== who) return startOver(); // somebody else signed in, in another tab
    const now = JSON.stringify([me, workouts, milestones]);
    if (now !== seen) account.look();
    seen = now;
    isReading = me.connection?.backfill?.state === "running";
    connection.show(me);
    newest.show(workouts);
    dashboard.show(milestones);
    return write(stale, "");
  }
  // A dialog keeps its input, and asks for the sign-in when it is submitted.
  function refused(error) {
    if (error.status !== 401) write(stale, error.status === 0 ? "" : `This may be out of date. ${error.message}`);
    else if (!document.querySelector("dialog:modal")) leave("You are signed out. Sign in again to continue.");
  }
  const refresh = poll({ every: () => (isReading ? WHILE_READING : EVERY), read, show, failed: refused, signal });
  news.heard = onceMore(refresh, { apart: APART });
  news.unknown = refused;
  const changed = () => {
    tell({ isChanged: true });
    return refresh();
  };
  const left = (text) => {
    tell({ isSignedOut: true });
    leave(text);
  };

  const stale = el("p", { className: "stale", role: "status" });
  const connection = new ConnectionPanel({ changed });
  const newest = workoutPanel(signal);
  const dashboard = new Dashboard(models, { changed, signal });
  const account = accountPanel({ left, signal });
  onTold(({ isChanged, isSignedOut }) => (isSignedOut ? leave("You are signed out.") : isChanged && refresh()), signal);
  signInBy(async () => {
    const isBack = await signInAgain(who);
    if (isBack) refresh();
    return isBack;
  });

  show(first);
  const out = action("You are still signed in.", async () => {
    await api.signOut();
    left("You are signed out.");
  });
  replace(session, person(first.me.name, out));
  const wrong = problemNotice(problem()); // a problem at Strava of somebody who was already signed in
  history.replaceState(null, "", "./");
  replace(content, wrong, stale, el("div", { className: "board" }, dashboard.element, el("div", { className: "side" }, connection.element, newest.element, account.element)));
  arrived(who);
  if (news.isMissed) refresh();
}

await start();
