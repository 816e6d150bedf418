// All milestones: those that run, those that are complete, and those that are over.

import { el, replace } from "/assets/dom.js";
import * as api from "./api.js";
import { celebrate } from "./celebrate.js";
import { confirm } from "./dialog.js";
import { editMilestone, newMilestone } from "./editor.js";
import { icon } from "./icons.js";
import { MilestoneCard } from "./milestone.js";
import { picture } from "./picture.js";

const SHELF = 3;
const ORDER = { ACTIVE: 0, COMPLETED: 1, EXPIRED: 2, CANCELLED: 2 };

export class Dashboard {
  #cards = new Map(); // by milestone
  #order = "";

  constructor(models, { say, attempt, refresh }) {
    this.models = new Map(models.map((model) => [model.model_id, model]));
    this.offered = models.filter((model) => !model.retired_at); // those that are retired go on where they have begun
    this.say = say;
    this.attempt = attempt;
    this.refresh = refresh;
    this.list = el("div", { className: "milestones" });
    this.past = el("details", { className: "past" }, el("summary"), el("div", { className: "milestones" }));
    const add = el("button", { className: "button primary", type: "button", onclick: () => this.#create() }, icon("plus"), "New milestone");
    this.element = el("section", { className: "dashboard" }, el("header", {}, el("h1", {}, "Milestones"), add), this.list, this.past);
  }

  show(milestones) {
    const sorted = [...milestones].sort((one, other) => ORDER[one.status] - ORDER[other.status] || other.milestone_id.localeCompare(one.milestone_id));
    for (const milestone of sorted) this.#card(milestone).show(milestone);
    const order = sorted.map(({ milestone_id: id, status }) => `${id} ${ORDER[status]}`).join();
    if (order === this.#order && order) return;
    this.#order = order;
    this.#arrange(sorted);
  }

  #arrange(sorted) {
    const elements = (isPast) => sorted.filter(({ status }) => (ORDER[status] === 2) === isPast).map(({ milestone_id: id }) => this.#cards.get(id).element);
    const [current, past] = [elements(false), elements(true)];
    replace(this.list, ...(current.length ? current : [this.#invitation()]));
    replace(this.past.lastChild, ...past);
    this.past.firstChild.textContent = `Past milestones (${past.length})`;
    this.past.hidden = past.length === 0;
  }

  #card(milestone) {
    const { milestone_id: id } = milestone;
    if (!this.#cards.has(id)) {
      const model = this.models.get(milestone.model_id) ?? { model_id: milestone.model_id, name: milestone.model_name, story: "", parts: [] };
      this.#cards.set(id, new MilestoneCard(model, { edit: (now) => this.#edit(now), cancel: (now) => this.#cancel(now), earned: (parts, now) => this.#earned(parts, now) }));
    }
    return this.#cards.get(id);
  }

  #invitation() {
    if (!this.offered.length) return el("div", { className: "invitation" }, el("h2", {}, "There are no models to collect yet"), el("p", {}, "Whoever operates this service has to load them."));
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
      this.say(`${model.name} is complete. Well done!`, "joy");
      celebrate(this.#cards.get(milestone.milestone_id).picture);
    } else {
      const number = parts.length === 1 ? "a part" : `${parts.length} parts`;
      this.say(`You earned ${number} of your ${model.name.toLowerCase()}: ${parts.map(({ name }) => name).join(", ")}`, "joy");
    }
  }

  #create() {
    if (!this.offered.length) {
      this.say("There are no models to collect yet.", "wrong");
      return;
    }
    newMilestone(this.offered, async (milestone) => {
      this.say(`You committed to “${milestone.title}”.`);
      await this.attempt(this.refresh);
      this.#cards.get(milestone.milestone_id)?.element.scrollIntoView({ block: "nearest", behavior: "smooth" });
    });
  }

  #edit(milestone) {
    editMilestone(milestone, (saved) => {
      this.say(`Saved “${saved.title}”.`);
      this.attempt(this.refresh);
    });
  }

  #cancel(milestone) {
    confirm({
      title: "Cancel this milestone?",
      text: [`“${milestone.title}” ends here. The parts that you earned stay yours.`],
      action: "Cancel the milestone",
      work: async () => {
        const now = await api.milestoneNow(milestone.milestone_id);
        await api.change(milestone.milestone_id, { version: now.version, status: "CANCELLED" });
        this.say(`“${milestone.title}” is cancelled.`);
        await this.attempt(this.refresh);
      },
    });
  }
}
