// The audit trail of the account, the sign-out everywhere, and the deletion of the account.

import { action } from "/assets/attempt.js";
import { confirm } from "/assets/dialog.js";
import { el, replace } from "/assets/dom.js";
import { Feed } from "/assets/feed.js";
import { latest } from "/assets/latest.js";
import { failed, skeleton } from "/assets/states.js";
import * as api from "./api.js";
import { instantText } from "./format.js";

// Returns the panel, and `look()`, which is to be called after changes.
export function accountPanel({ left, signal }) {
  const leave = () =>
    confirm({
      title: "Delete your account?",
      text: ["Your profile, workouts, milestones, awards and the connection to Strava are deleted, and you are signed out everywhere.", "This cannot be undone. The audit trail of the account, which contains no workouts, is kept for 90 days. Your activities on Strava stay as they are."],
      action: "Delete everything",
      word: "delete",
      work: async () => {
        await api.deleteAccount();
        left("Your account is being deleted, with everything that belonged to it.");
      },
    });
  const out = action("You are still signed in.", async () => {
    await api.signOutEverywhere();
    left("You are signed out in all browsers.");
  });
  const { trail, look } = auditTrail(signal);
  const everywhere = el("button", { className: "button", type: "button", onclick: out }, "Sign out everywhere");
  const bin = el("button", { className: "button danger", type: "button", onclick: leave }, "Delete account");
  const element = el("section", { className: "panel account" }, el("header", {}, el("h2", {}, "Account")), trail, el("footer", { className: "actions" }, everywhere, bin));
  return { element, look };
}

// Reads the trail when it is opened, and again after changes while it is open.
function auditTrail(signal) {
  const ask = latest();
  const place = el("div", {});
  const trail = el("details", {}, el("summary", {}, "What happened in this account"), place);
  const feed = new Feed({
    name: "What happened in this account",
    className: "audit",
    read: api.audit,
    key: ({ occurred_at: at, request_id: request, sequence }) => `${at} ${request} ${sequence}`,
    draw: record,
    none: "Nothing has happened yet.",
    signal,
  });
  const isShown = () => feed.element.parentElement === place;

  function look() {
    if (!trail.open || signal.aborted) return undefined;
    if (!isShown()) replace(place, skeleton(3));
    return ask(() => api.audit(), show, fail);
  }
  function show(page) {
    if (!isShown()) replace(place, feed.element);
    feed.show(page);
  }
  function fail(error) {
    if (error.status === undefined) throw error;
    if (!isShown()) replace(place, failed(error, look));
  }
  trail.addEventListener("toggle", look);
  return { trail, look };
}

const plural = (number, one) => `${number} ${number === 1 ? one : `${one}s`}`;
const OUTCOMES = { stored: "saved", gone: "it was deleted", outdated: "nothing new", repeated: "nothing new", ignored: "nothing to do", not_connected: "Strava is not connected", withdrawn: "the access was revoked" };
const FIELDS = { ends_on: "last day", sport_types: "sports" };

// The texts of the records, which name models and parts.
const WORDS = {
  athlete_linked: () => "Connected Strava",
  athlete_unlinked: ({ workouts }) => `Disconnected Strava, ${plural(workouts, "workout")} removed`,
  disconnect_requested: () => "Asked to disconnect Strava",
  reconnect_needed: () => "Strava no longer accepted the connection",
  backfill_finished: ({ found }) => `Read ${found} earlier ${found === 1 ? "workout" : "workouts"}`,
  workout_ingested: ({ outcome }) => `Read a workout again: ${OUTCOMES[outcome] ?? outcome.replaceAll("_", " ")}`,
  logged_in: ({ is_new_user: isNew }) => (isNew ? "Signed in for the first time" : "Signed in"),
  logged_out: () => "Signed out",
  logged_out_everywhere: ({ browsers }) => `Signed out in ${plural(browsers, "browser")}`,
  milestone_created: ({ model }) => `Committed to the ${model.toLowerCase()}`,
  milestone_edited: ({ model, changed }) => `Changed the ${model.toLowerCase()} milestone: ${changed.split(", ").map((name) => FIELDS[name] ?? name).join(", ")}`,
  milestone_cancelled: ({ model }) => `Cancelled the ${model.toLowerCase()} milestone`,
  milestone_expired: ({ model }) => `The ${model.toLowerCase()} milestone expired`,
  milestone_completed: ({ model }) => `Completed the ${model.toLowerCase()}`,
  part_awarded: ({ model, part }) => `Earned a part of the ${model.toLowerCase()}: ${part}`,
};

function record({ event_type: type, occurred_at: seconds, details }) {
  const text = WORDS[type] && !("part_index" in details) && !("model_id" in details) ? WORDS[type](details) : type.replaceAll("_", " ");
  return el("li", {}, el("strong", {}, text), el("span", { className: "small" }, instantText(seconds * 1000)));
}
