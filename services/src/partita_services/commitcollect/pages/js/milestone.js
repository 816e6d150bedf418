// The card of one milestone: its picture, its ring, and the distance to the next part. It changes in place with the progress.

import { el, isolated, replace, write } from "/assets/dom.js";
import * as api from "./api.js";
import { METRICS, dayText, daysLeft, localDay, sport, whyNot } from "./format.js";
import { icon } from "./icons.js";
import { picture } from "./picture.js";
import { ring } from "./ring.js";

const STATUS = { ACTIVE: "Active", COMPLETED: "Completed", EXPIRED: "Expired", CANCELLED: "Cancelled" };

export class MilestoneCard {
  #earned = null;
  #isDated = false;

  // `edit(milestone)` and `cancel(milestone)` are called by the buttons, `earned(parts, milestone)` for new parts.
  constructor(model, { edit, cancel, earned }) {
    this.model = model;
    this.earned = earned;
    this.picture = picture(model);
    this.ring = ring(model.parts.length);
    this.title = el("h2", { dir: "auto" });
    this.chip = el("span", { className: "chip" });
    this.promise = el("p", { className: "promise" });
    this.value = el("strong");
    this.target = el("span");
    this.next = el("p", { className: "next" });
    this.story = el("p", { className: "story" }, model.story);
    this.parts = model.parts.map((part) => el("li", {}, el("span", { className: "mark" }), part.name));
    this.notes = el("ul", { className: "notes" });
    this.actions = el(
      "footer",
      { className: "actions" },
      el("button", { className: "button", type: "button", onclick: () => edit(this.milestone) }, "Edit"),
      el("button", { className: "button quiet", type: "button", onclick: () => cancel(this.milestone) }, "Cancel milestone"),
    );
    this.element = el(
      "article",
      { className: "milestone" },
      this.picture,
      el(
        "div",
        { className: "about" },
        el("header", {}, this.title, this.chip),
        this.promise,
        el("div", { className: "figures" }, this.ring, el("div", {}, el("p", { className: "amount" }, this.value, this.target), this.next, this.story)),
        el("ol", { className: "parts", ariaLabel: "Parts", onpointerenter: () => this.#date() }, ...this.parts),
        this.notes,
        this.actions,
      ),
    );
  }

  show(milestone) {
    this.milestone = milestone;
    const { progress, parts_earned: earned, status } = milestone;
    write(this.title, milestone.title);
    write(this.chip, status === "ACTIVE" ? daysLeft(milestone.ends_on) : STATUS[status]);
    this.element.dataset.status = status;
    this.element.ariaLabel = milestone.title;
    write(this.promise, promise(milestone));
    write(this.value, METRICS[milestone.metric].exact(progress.value));
    write(this.target, ` of ${METRICS[milestone.metric].text(milestone.target)}`);
    write(this.next, this.#next());
    this.ring.show(progress.fraction, earned);
    this.picture.show(earned);
    for (const [index, item] of this.parts.entries()) {
      item.className = index < earned ? "earned" : index === earned && status === "ACTIVE" ? "coming" : "";
      if (index < earned && !item.querySelector(".icon")) replace(item.firstChild, icon("check"));
    }
    this.actions.hidden = status !== "ACTIVE";
    this.story.hidden = status !== "COMPLETED";
    this.#note(progress);
    if (earned !== this.#earned) this.#award(earned);
  }

  #next() {
    const { metric, parts_earned: earned, parts_total: total, progress, status, target } = this.milestone;
    if (status === "COMPLETED") return `${isolated(this.model.name)} is complete.`;
    if (status !== "ACTIVE") return `${earned} of ${total} parts stay in your collection.`;
    const missing = (target * (earned + 1)) / total - progress.value;
    const part = this.model.parts[earned]?.name ?? "the last part";
    if (missing <= 0) return `The next part is on its way: ${part}`;
    return `${METRICS[metric].exact(metric === "count" ? Math.ceil(missing) : missing)} to the next part: ${part}`;
  }

  #note({ truncated, inspected, not_counted: left }) {
    const notes = Object.entries(left)
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([reason, number]) => `${number} ${number === 1 ? "workout does" : "workouts do"} not count: ${whyNot(reason)}`);
    if (truncated) notes.unshift(`Only ${inspected.toLocaleString("en")} workouts were inspected, so the progress may be higher than shown.`);
    if (notes.join() === this.notes.dataset.shown) return;
    this.notes.dataset.shown = notes.join();
    replace(this.notes, ...notes.map((note) => el("li", {}, note)));
  }

  #award(earned) {
    const before = this.#earned;
    this.#earned = earned;
    this.#isDated = false;
    if (before !== null && earned > before) this.earned(this.model.parts.slice(before, earned), this.milestone);
  }

  // Adds to each earned part the day on which it was earned, as a tooltip.
  async #date() {
    if (this.#isDated) return;
    this.#isDated = true;
    for (const award of await api.awards(this.milestone.milestone_id).catch(() => [])) {
      const item = this.parts[award.part_index - 1];
      if (item) item.title = `Earned on ${localDay(award.awarded_at)}`;
    }
  }
}

export function promise({ metric, target, sport_types: sports, starts_on: from, ends_on: to }) {
  const what = sports.length ? sports.map(sport).join(", ") : "any sport";
  const { verb, text } = METRICS[metric];
  return `${verb[0].toUpperCase()}${verb.slice(1)} ${text(target)} from ${dayText(from)} to ${dayText(to)} · ${what}`;
}
