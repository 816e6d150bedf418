// The connection to Strava: the athlete, its state, and the progress of reading the last weeks.

import { action } from "/assets/attempt.js";
import { confirm } from "/assets/dialog.js";
import { el, replace, write } from "/assets/dom.js";
import * as api from "./api.js";
import { dayText, instantText } from "./format.js";
import { icon } from "./icons.js";

export class ConnectionPanel {
  // `changed()` is called after a change.
  constructor({ changed }) {
    this.changed = changed;
    this.state = el("span", { className: "chip" });
    this.who = el("p", { className: "who", dir: "auto" });
    this.status = el("p", { className: "small" });
    this.bar = el("progress", { ariaLabel: "Reading your workouts" });
    this.action = el("div", { className: "actions" });
    this.element = el("section", { className: "panel connection" }, el("header", {}, el("h2", {}, "Strava"), this.state), this.who, this.bar, this.status, this.action);
  }

  show({ connection, strava_url: site }) {
    const state = connection?.state ?? "none";
    const backfill = connection?.backfill;
    this.element.dataset.state = state;
    write(this.state, { connected: "Connected", reconnect: "Needs you", leaving: "Disconnecting", none: "Not connected" }[state]);
    write(this.who, connection ? connection.athlete_name : "Connect Strava, and your workouts begin to count.");
    this.bar.hidden = backfill?.state !== "running";
    if (backfill) {
      this.bar.max = Math.max(backfill.found, 1);
      this.bar.value = backfill.stored;
    }
    write(this.status, statusText(state, connection, backfill));
    this.#offer(state, backfill?.state === "running", site);
  }

  #disconnect() {
    confirm({
      title: "Disconnect Strava?",
      text: ["The access to Strava is revoked, and the workouts that came from there are removed.", "Parts that you earned and milestones that have ended stay as they are. Active milestones start from zero when you connect again."],
      action: "Disconnect",
      keep: "Stay connected",
      work: async () => {
        await api.disconnect();
        this.changed();
      },
    });
  }

  #sync = action("Your workouts were not read again.", async () => {
    await api.sync();
    this.changed();
  });

  // Draws the buttons only if they change, so that a button keeps the focus.
  #offer(state, isRunning, site) {
    const offered = `${state} ${isRunning} ${site}`;
    if (this.action.dataset.offered === offered) return;
    this.action.dataset.offered = offered;
    const connect = el("a", { className: "button primary wide", href: "auth/login" }, state === "none" ? "Connect Strava" : "Reconnect");
    const resync = el("button", { className: "button wide", type: "button", disabled: isRunning, onclick: this.#sync }, icon("sync"), "Sync again");
    const open = el("a", { className: "button quiet", href: `${site}/`, target: "_blank", rel: "noreferrer" }, "Open Strava");
    const end = el("button", { className: "button quiet", type: "button", onclick: () => this.#disconnect() }, "Disconnect");
    const first = { connected: [resync], leaving: [] }[state] ?? [connect];
    replace(this.action, ...first, ...(site ? [open] : []), ...(state === "none" || state === "leaving" ? [] : [end]));
  }
}

function statusText(state, connection, backfill) {
  if (state === "none") return "";
  if (state === "leaving") return "Your workouts are being removed from this service. Milestones that have ended and your parts stay.";
  if (state === "reconnect") return "Strava no longer accepts the connection. Your earned parts are safe; reconnect to continue.";
  if (!backfill) return `Since ${instantText(connection.connected_at)}`;
  if (backfill.waiting_until) return `Strava's rate limit is used up until ${instantText(backfill.waiting_until)}. Reading then continues automatically.`;
  const read = `${backfill.stored} ${backfill.stored === 1 ? "workout" : "workouts"}`;
  if (backfill.state === "running") return `Reading since ${dayText(backfill.since)}: ${read} so far`;
  return `${read} read since ${dayText(backfill.since)}, up to date on ${instantText(backfill.updated_at)}`;
}
