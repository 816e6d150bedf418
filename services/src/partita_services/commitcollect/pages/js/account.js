// What happened to the account, and how to leave it.

import { el, replace } from "/assets/dom.js";
import * as api from "./api.js";
import { confirm } from "./dialog.js";
import { instantText } from "./format.js";

export function accountPanel({ attempt, left }) {
  const list = el("ul", { className: "audit" });
  const more = el("button", { className: "button quiet wide", type: "button", hidden: true }, "Older");
  const trail = el("details", {}, el("summary", {}, "What happened in this account"), list, more);
  let cursor = null;

  async function read() {
    const page = await api.audit(cursor);
    list.append(...page.items.map(record));
    cursor = page.next_cursor;
    more.hidden = !cursor;
  }
  trail.addEventListener("toggle", () => {
    if (!trail.open) return;
    cursor = null;
    replace(list);
    attempt(read);
  });
  more.addEventListener("click", () => attempt(read));

  const leave = () =>
    confirm({
      title: "Delete your account?",
      text: ["Your profile, workouts, milestones, awards and the connection to Strava are deleted, and you are logged out everywhere.", "This cannot be undone. A trail of what happened in the account, without any workout, is kept for 90 days. Your activities on Strava stay as they are."],
      action: "Delete everything",
      word: "delete",
      work: async () => {
        await api.deleteAccount();
        left("Your account is being deleted, with everything that belonged to it.");
      },
    });
  const out = async () => {
    if (await attempt(api.logOutEverywhere)) left("You are logged out in all browsers.");
  };
  const everywhere = el("button", { className: "button", type: "button", onclick: out }, "Log out everywhere");
  const bin = el("button", { className: "button danger", type: "button", onclick: leave }, "Delete account");
  return el("section", { className: "panel account" }, el("header", {}, el("h2", {}, "Account")), trail, el("footer", { className: "actions" }, everywhere, bin));
}

// What the trail says, in words; it names models and parts.
const WORDS = {
  athlete_linked: () => "Connected Strava",
  athlete_unlinked: ({ workouts }) => `Disconnected Strava, ${workouts} ${workouts === 1 ? "workout" : "workouts"} removed`,
  disconnect_requested: () => "Asked to disconnect Strava",
  reconnect_needed: () => "Strava no longer took our key",
  backfill_finished: ({ found }) => `Read ${found} earlier ${found === 1 ? "workout" : "workouts"}`,
  workout_ingested: ({ outcome }) => `Read a workout again: ${outcome}`,
  logged_in: ({ is_new_user: isNew }) => (isNew ? "Logged in for the first time" : "Logged in"),
  logged_out_everywhere: ({ browsers }) => `Logged out in ${browsers} ${browsers === 1 ? "browser" : "browsers"}`,
  milestone_created: ({ model }) => `Committed to the ${model.toLowerCase()}`,
  milestone_edited: ({ model, changed }) => `Changed the ${model.toLowerCase()} milestone: ${changed.replaceAll("_", " ")}`,
  milestone_cancelled: ({ model }) => `Cancelled the ${model.toLowerCase()} milestone`,
  milestone_expired: ({ model }) => `The ${model.toLowerCase()} milestone expired`,
  milestone_completed: ({ model }) => `Completed the ${model.toLowerCase()}`,
  part_awarded: ({ model, part }) => `Earned a part of the ${model.toLowerCase()}: ${part}`,
};

function record({ event_type: type, occurred_at: seconds, details }) {
  const text = WORDS[type] && !("part_index" in details) && !("model_id" in details) ? WORDS[type](details) : type.replaceAll("_", " ");
  return el("li", {}, el("strong", {}, text), el("span", { className: "small" }, instantText(seconds * 1000)));
}
