// All milestones: active, completed, and past ones.

import { attempt } from "/assets/attempt.js";
import { confirm } from "/assets/dialog.js";
import { el, isolated, write } from "/assets/dom.js";
import { KeyedList } from "/assets/list.js";
import { moreButton, Pages } from "/assets/pages.js";
import { toast } from "/assets/toast.js";
import * as api from "./api.js";
import { celebrate } from "./celebrate.js";
import { editMilestone, fieldsOf, newMilestone } from "./editor.js";
import { icon } from "./icons.js";
import { MilestoneCard } from "./milestone.js";
import { picture } from "./picture.js";

const SHELF = 3;
const ORDER = { ACTIVE: 0, COMPLETED: 1, EXPIRED: 2, CANCELLED: 2 };
const PAST = 2;

export class Dashboard {
  #cards = new Map(); // by milestone
  #known = new Map(); // the milestones that were read
  #pages = null; // the pages after the first one, which is read again after every change
  #current;
  #past;

  // `changed()` is called after a person has changed something here.
  constructor(models, { changed, signal }) {
    this.models = new Map(models.map((model) => [model.model_id, model]));
    this.offered = models.filter((model) => !model.retired_at); // existing milestones continue with retired models
    this.changed = changed;
    const list = () => el("div", { className: "milestones" });
    const drawn = { key: ({ id }) => id, draw: ({ card }) => card.element, spacer: "div", signal };
    const [current, past] = [list(), list()];
    this.#current = new KeyedList(current, drawn);
    this.#past = new KeyedList(past, drawn);
    this.invitation = this.#invitation();
    this.summary = el("summary");
    this.more = moreButton(() => attempt("Not all milestones are shown.", () => this.#readOn()), { className: "button quiet wide", signal });
    this.past = el("details", { className: "past", hidden: true }, this.summary, past, this.more);
    const add = el("button", { className: "button primary", type: "button", onclick: () => this.#create() }, icon("plus"), "New milestone");
    this.element = el("section", { className: "dashboard" }, el("header", {}, el("h1", {}, "Milestones"), add), current, this.invitation, this.past);
  }

  // Shows the current first page, which contains the active milestones.
  show({ items, next_cursor: next }) {
    this.#pages ??= next === null ? new Pages() : new Pages((cursor) => api.milestones(cursor ?? next));
    this.#take(items);
  }

  async #readOn() {
    this.#take(await this.#pages.next());
  }

  #take(milestones) {
    for (const milestone of milestones) {
      if (this.#known.get(milestone.milestone_id)?.version > milestone.version) continue; // read before it was changed
      this.#known.set(milestone.milestone_id, milestone);
      this.#entry(milestone).card.show(milestone);
    }
    const sorted = [...this.#known.values()].sort((one, other) => ORDER[one.status] - ORDER[other.status] || other.milestone_id.localeCompare(one.milestone_id));
    const entries = (isPast) => sorted.filter(({ status }) => (ORDER[status] === PAST) === isPast).map(({ milestone_id: id }) => this.#cards.get(id));
    const [current, past] = [entries(false), entries(true)];
    this.#current.show(current);
    this.#past.show(past);
    this.invitation.hidden = current.length > 0;
    this.past.hidden = past.length === 0 && !this.#pages.hasMore;
    this.more.hidden = !this.#pages.hasMore;
    write(this.summary, `Past milestones (${past.length}${this.#pages.hasMore ? " and more" : ""})`);
  }

  // A card stays as long as the page, and changes in place.
  #entry(milestone) {
    const { milestone_id: id } = milestone;
    if (!this.#cards.has(id)) {
      const model = this.models.get(milestone.model_id) ?? { model_id: milestone.model_id, name: milestone.model_name, story: "", parts: [] };
      this.#cards.set(id, { id, card: new MilestoneCard(model, { edit: (now) => this.#edit(now), cancel: (now) => this.#cancel(now), earned: (parts, now) => this.#earned(parts, now) }) });
    }
    return this.#cards.get(id);
  }

  #invitation() {
    if (!this.offered.length) return el("div", { className: "invitation" }, el("h2", {}, "There are no models to collect yet"), el("p", {}, "An operator of this service has to load them."));
    const shown = this.offered.slice(0, SHELF).map((model) => {
      const one = picture(model);
      one.show(0);
      return one;
    });
    return el(
      "div",
      { className: "invitation" },
      el("div", { className: "shelf" }, ...shown),
      el("h2", {}, "An empty shelf is a good beginning"),
      el("p", {}, "Choose a model and commit to a milestone. Each step towards it earns a part."),
      el("button", { className: "button primary", type: "button", onclick: () => this.#create() }, "Commit to a milestone"),
    );
  }

  #earned(parts, milestone) {
    const model = this.models.get(milestone.model_id) ?? { name: milestone.model_name };
    if (milestone.status === "COMPLETED") {
      toast(`${isolated(model.name)} is complete. Well done!`, { joy: true });
      celebrate(this.#cards.get(milestone.milestone_id).card.picture);
    } else {
      const number = parts.length === 1 ? "a part" : `${parts.length} parts`;
      toast(`You earned ${number} of your ${model.name.toLowerCase()}: ${parts.map(({ name }) => name).join(", ")}`, { joy: true });
    }
  }

  #create() {
    if (!this.offered.length) {
      toast("There are no models to collect yet.", { wrong: true });
      return;
    }
    newMilestone(this.offered, (milestone) => {
      toast(`You committed to “${isolated(milestone.title)}”.`);
      this.#take([milestone]);
      this.#current.reveal(milestone.milestone_id)?.scrollIntoView({ block: "nearest", behavior: "smooth" });
      this.changed();
    });
  }

  #edit(milestone) {
    editMilestone(milestone, (saved) => this.#saved(saved, fieldsOf(milestone)));
  }

  // `before` are the previous values of the fields.
  #saved(milestone, before) {
    const { milestone_id: id, title, version } = milestone;
    const undo = () => attempt(`“${isolated(title)}” was not changed.`, async () => this.#saved(await api.change(id, { ...before, version }), fieldsOf(milestone)));
    this.#take([milestone]);
    toast(`Saved “${isolated(title)}”.`, { action: ["Undo", undo] });
    this.changed();
  }

  #cancel(milestone) {
    confirm({
      title: "Cancel this milestone?",
      text: [`“${isolated(milestone.title)}” ends here. The parts that you earned stay yours.`],
      action: "Cancel the milestone",
      work: async () => {
        const now = await api.milestoneNow(milestone.milestone_id);
        this.#take([await api.change(milestone.milestone_id, { version: now.version, status: "CANCELLED" })]);
        toast(`“${isolated(milestone.title)}” is cancelled.`);
        this.changed();
      },
    });
  }
}
