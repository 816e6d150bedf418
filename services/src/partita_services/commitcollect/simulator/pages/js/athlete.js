// An athlete's card: the granted access, the actions, and the workouts.

import { ask, query } from "/assets/api.js";
import { button as submitButton, confirm, openDialog } from "/assets/dialog.js";
import { el, isolated, write } from "/assets/dom.js";
import { Feed } from "/assets/feed.js";
import { field } from "/assets/form.js";

const WHEN = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });
const SPORTS = { TrailRun: "Trail run" };
const words = (sport) => SPORTS[sport] ?? sport;

const button = (text, work, kind = "") => el("button", { className: `button ${kind}`, type: "button", onclick: work }, text);

// `act` sends the change of a button, and `tell` that of a dialog.
export function athleteCard({ id, firstname, lastname, username }, sports, { act, tell }, signal) {
  const at = `athletes/${id}`;
  const allowed = el("span", { className: "chip" });
  const sport = el("select", { ariaLabel: `Sport of ${firstname}'s next workout`, className: "button" }, el("option", { value: "" }, "any sport"), ...sports.map((name) => el("option", { value: name }, words(name))));
  const summary = el("summary", {}, "Workouts");
  const feed = new Feed({
    name: `Workouts of ${firstname}`,
    read: (cursor) => ask("GET", `control/${at}/activities?${query({ cursor })}`),
    key: (activity) => String(activity.id),
    draw: (activity) => item(activity, { act, tell }),
    none: "No workouts yet.",
    signal,
  });
  const takeBack = () => confirm({
    title: `Revoke the access to ${firstname}'s workouts?`,
    text: "The application loses its access, and removes the workouts that came from here. The athlete has to connect it again.",
    action: "Revoke access",
    work: () => tell("POST", `${at}/deauthorize`, {}, `${firstname} revoked the access.`),
  });
  const revoke = el("span", { className: "actions" }, button("Revoke access", takeBack, "danger"), button("Let the access token expire", () => act("POST", `${at}/expire`, {}, "The access token has expired, and the application has to refresh it.")));
  const element = el(
    "article",
    { className: "card athlete", ariaLabel: `${firstname} ${lastname}` },
    el("header", {}, el("span", { className: "face", ariaHidden: "true" }, firstname[0] + lastname[0]), el("div", {}, el("h2", {}, `${firstname} ${lastname}`), el("small", {}, `@${username}`)), allowed),
    el(
      "div",
      { className: "actions" },
      button("Add a workout", () => act("POST", `${at}/activities`, sport.value ? { sport_type: sport.value } : {}, `A workout of ${firstname} was added.`), "primary"),
      sport,
      button("Add a week of workouts", () => act("POST", `${at}/weeks`, {}, `A week of workouts of ${firstname} was added.`)),
      revoke,
    ),
    el("details", {}, summary, feed.element),
  );

  return {
    element,
    show({ granted, activities, next_cursor: next }) {
      write(allowed, allowance(granted));
      allowed.classList.toggle("good", Boolean(granted));
      revoke.hidden = !granted;
      feed.show({ items: activities, next_cursor: next });
    },
  };
}

function allowance(granted) {
  if (!granted) return "No access";
  if (granted.scopes.includes("activity:read_all")) return "Access to all workouts";
  return granted.scopes.includes("activity:read") ? "Access to workouts" : "Access to the profile only";
}

function item(activity, { act, tell }) {
  const { id, name, sport_type: sport, distance, start_date_local: start, manual, flagged, private: isPrivate } = activity;
  const back = (before) => () => act("PATCH", `activities/${id}`, before, "The change was undone.");
  const change = (fields, said, before) => () => act("PATCH", `activities/${id}`, fields, said, back(before));
  const renamed = (given) => tell("PATCH", `activities/${id}`, { name: given }, "The workout was renamed.", back({ name }));
  const remove = () => confirm({
    title: `Delete “${isolated(name)}”?`,
    text: "The application is notified that the workout was deleted. This cannot be undone.",
    action: "Delete it",
    work: () => tell("DELETE", `activities/${id}`, {}, "The workout was deleted."),
  });
  const chips = [["by hand", manual], ["flagged", flagged], ["only me", isPrivate]].filter(([, holds]) => holds);
  return el(
    "li",
    { id: `activity-${id}` },
    el("span", {}, el("strong", { dir: "auto" }, name), ...chips.map(([text]) => el("span", { className: "chip" }, text)), el("small", {}, ` ${WHEN.format(new Date(start))} · ${words(sport)} · ${(distance / 1000).toFixed(1)} km`)),
    el(
      "span",
      { className: "actions" },
      button("Rename", () => rename(name, renamed), "small"),
      button("Double", change({ distance: distance * 2 }, "The distance was doubled.", { distance }), "small"),
      button(isPrivate ? "Show" : "Hide", change({ visibility: isPrivate ? "everyone" : "only_me" }, isPrivate ? "The workout is visible to everyone." : "The workout is visible only to the athlete.", { visibility: isPrivate ? "only_me" : "everyone" }), "small"),
      button(flagged ? "Unflag" : "Flag", change({ flagged: !flagged }, flagged ? "The workout is no longer flagged." : "The workout is flagged.", { flagged }), "small"),
      button("Delete", remove, "small danger"),
    ),
  );
}

function rename(name, renamed) {
  const given = el("input", { name: "name", required: true, maxLength: 200, value: name, autocomplete: "off", dir: "auto" });
  openDialog({
    title: "Rename the workout",
    className: "ask",
    body: [field("Name", given)],
    buttons: [submitButton("Rename", "primary")],
    submit: () => renamed(given.value),
  });
  given.select();
}
