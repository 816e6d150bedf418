// An athlete's card: what they granted, what they can do, and their workouts.

import { el, replace } from "/assets/dom.js";

const WHEN = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });

export function athleteCard({ id, firstname, lastname, username }, sports, act) {
  const granted = el("span", { className: "chip" });
  const sport = el("select", { ariaLabel: `Sport of ${firstname}'s next workout`, className: "button" }, el("option", { value: "" }, "any sport"), ...sports.map((name) => el("option", { value: name }, name)));
  const list = el("ul");
  const count = el("summary");
  const button = (text, work, kind = "") => el("button", { className: `button ${kind}`, type: "button", onclick: work }, text);
  const at = `athletes/${id}`;
  const revoke = el(
    "span",
    { className: "actions" },
    button("Take access back", () => act("POST", `${at}/deauthorize`, {}, `${firstname} took the access back.`), "danger"),
    button("End the token", () => act("POST", `${at}/expire`, {}, "The application has to refresh its token."), ""),
  );
  const element = el(
    "article",
    { className: "card athlete", ariaLabel: `${firstname} ${lastname}` },
    el("header", {}, el("span", { className: "face", ariaHidden: "true" }, firstname[0] + lastname[0]), el("div", {}, el("h2", {}, `${firstname} ${lastname}`), el("small", {}, `@${username}`)), granted),
    el(
      "div",
      { className: "actions" },
      button("Add a workout", () => act("POST", `${at}/activities`, sport.value ? { sport_type: sport.value } : {}, `${firstname} has trained.`), "primary"),
      sport,
      button("Add a week of workouts", () => act("POST", `${at}/weeks`, {}, `${firstname} has trained for a week.`)),
      revoke,
    ),
    el("details", {}, count, list),
  );
  let shown = "";

  return {
    element,
    show({ granted: grant, activities }) {
      granted.textContent = grant ? `Granted ${grant.scopes.join(", ")}` : "Granted nothing";
      granted.classList.toggle("good", Boolean(grant));
      revoke.hidden = !grant;
      if (JSON.stringify(activities) === shown) return;
      shown = JSON.stringify(activities);
      count.textContent = `The newest ${activities.length} workouts`;
      replace(list, ...activities.map((activity) => item(activity, act, button)));
    },
  };
}

function item(activity, act, button) {
  const { id, name, sport_type: sport, distance, start_date_local: start, manual, flagged, private: isPrivate } = activity;
  const change = (fields, said) => () => act("PATCH", `activities/${id}`, fields, said);
  const rename = () => {
    const given = prompt("What is it called?", name);
    if (given) change({ name: given }, "It has a new name.")();
  };
  const chips = [["by hand", manual], ["flagged", flagged], ["only me", isPrivate]].filter(([, holds]) => holds);
  return el(
    "li",
    { id: `activity-${id}` },
    el("span", {}, el("strong", {}, name), ...chips.map(([text]) => el("span", { className: "chip" }, text)), el("small", {}, ` ${WHEN.format(new Date(start))} · ${sport} · ${(distance / 1000).toFixed(1)} km`)),
    el(
      "span",
      { className: "actions" },
      button("Rename", rename, "small"),
      button("Double", change({ distance: distance * 2 }, "It is twice as far now."), "small"),
      button(isPrivate ? "Show" : "Hide", change({ visibility: isPrivate ? "everyone" : "only_me" }, isPrivate ? "Everyone sees it." : "Only the athlete sees it."), "small"),
      button(flagged ? "Unflag" : "Flag", change({ flagged: !flagged }, flagged ? "It is not flagged any more." : "It is flagged."), "small"),
      button("Delete", () => act("DELETE", `activities/${id}`, {}, "It is deleted."), "small danger"),
    ),
  );
}
