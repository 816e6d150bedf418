// An athlete's card: what they allow, what they can do, and their workouts.

import { ask, query } from "/assets/api.js";
import { button as submitButton, confirm, openDialog } from "/assets/dialog.js";
import { el, write } from "/assets/dom.js";
import { Feed } from "/assets/feed.js";
import { field } from "/assets/form.js";

const WHEN = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });
const SPORTS = { TrailRun: "Trail run" };
const words = (sport) => SPORTS[sport] ?? sport;

const button = (text, work, kind = "") => el("button", { className: `button ${kind}`, type: "button", onclick: work }, text);

// `act` sends what is pressed, and `tell` what a dialog asks for.
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
    title: `Take ${firstname}'s access back?`,
    text: "The application loses it, and removes the workouts that came from here. It has to be connected again.",
    action: "Take it back",
    work: () => tell("POST", `${at}/deauthorize`, {}, `${firstname} took the access back.`),
  });
  const revoke = el("span", { className: "actions" }, button("Take access back", takeBack, "danger"), button("Let the access run out", () => act("POST", `${at}/expire`, {}, "The application has to renew its access.")));
  const element = el(
    "article",
    { className: "card athlete", ariaLabel: `${firstname} ${lastname}` },
    el("header", {}, el("span", { className: "face", ariaHidden: "true" }, firstname[0] + lastname[0]), el("div", {}, el("h2", {}, `${firstname} ${lastname}`), el("small", {}, `@${username}`)), allowed),
    el(
      "div",
      { className: "actions" },
      button("Add a workout", () => act("POST", `${at}/activities`, sport.value ? { sport_type: sport.value } : {}, `${firstname} has trained.`), "primary"),
      sport,
      button("Add a week of workouts", () => act("POST", `${at}/weeks`, {}, `${firstname} has trained for a week.`)),
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
  return granted.scopes.includes("activity:read") ? "Access to workouts" : "Access to the profile alone";
}

function item(activity, { act, tell }) {
  const { id, name, sport_type: sport, distance, start_date_local: start, manual, flagged, private: isPrivate } = activity;
  const back = (before) => () => act("PATCH", `activities/${id}`, before, "It is as it was.");
  const change = (fields, said, before) => () => act("PATCH", `activities/${id}`, fields, said, back(before));
  const renamed = (given) => tell("PATCH", `activities/${id}`, { name: given }, "It has a new name.", back({ name }));
  const remove = () => confirm({
    title: `Delete “${name}”?`,
    text: "The application is told that it is gone. This cannot be undone.",
    action: "Delete it",
    work: () => tell("DELETE", `activities/${id}`, {}, "It is deleted."),
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
      button("Double", change({ distance: distance * 2 }, "It is twice as far now.", { distance }), "small"),
      button(isPrivate ? "Show" : "Hide", change({ visibility: isPrivate ? "everyone" : "only_me" }, isPrivate ? "Everyone sees it." : "Only the athlete sees it.", { visibility: isPrivate ? "only_me" : "everyone" }), "small"),
      button(flagged ? "Unflag" : "Flag", change({ flagged: !flagged }, flagged ? "It is not flagged any more." : "It is flagged.", { flagged }), "small"),
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
