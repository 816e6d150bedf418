// The board: tasks in columns, which of them are selected, and which one the keyboard is at.

import * as api from "./api.js";
import { column, drawBulk, drawTabs, drawTotals } from "./columns.js";
import { el, replace } from "/assets/dom.js";
import { icon } from "./icons.js";
import { confirmed, editor } from "./editor.js";
import { filters } from "./filters.js";
import { Tasks } from "./store.js";
import { STATUSES } from "./tasks.js";

export class Board {
  #selection = { isOn: false, ids: new Set() };
  #shown = "pending"; // the column that a phone shows
  #current = null; // the id of the task that the keyboard is at

  constructor(search, said) {
    const chosen = filters(() => this.load());
    this.tasks = new Tasks(search, chosen, {
      say: (text, isWrong = false) => {
        said.textContent = text;
        said.classList.toggle("wrong", isWrong);
      },
      changed: () => this.#draw(),
    });
    this.edit = editor({
      categories: chosen.categories,
      save: (task, fields) => this.#save(task, fields),
      remove: (task) => this.#remove(task),
      go: (task) => this.go(task),
    });
    this.element = this.#build(chosen.element);
    // A card that was drawn anew behind a dialog does not get the keyboard back by itself.
    document.addEventListener("close", () => this.#takeBack(), true);
  }

  #build(chosen) {
    this.select = el("button", { className: "button", type: "button", onclick: () => this.#setSelecting(!this.isSelecting) }, "Select");
    this.tabs = el("nav", { className: "tabs", ariaLabel: "Columns" });
    this.columns = el("div", { className: "columns", id: "board", tabIndex: -1 });
    this.columns.addEventListener("focusin", (event) => {
      const item = event.target.closest(".card");
      if (item) this.#current = item.dataset.id;
    });
    this.totals = el("div", { className: "totals", ariaLabel: "Tasks by priority", role: "group" });
    this.bulk = el("div", { className: "bulk", role: "toolbar", ariaLabel: "Selected tasks", hidden: true });
    this.more = el("button", { className: "link more", type: "button", hidden: true, onclick: () => this.#showMoreFound() }, "Show more");
    const cost = el("span", { className: "cost", title: "What the last request consumed" });
    api.costs.listener = (text) => { cost.textContent = text; };
    const add = el("button", { className: "button primary", type: "button", onclick: () => this.compose() }, icon("plus"), el("span", {}, "New task"));
    return el(
      "div",
      { className: "page" },
      el("div", { className: "tools" }, chosen, el("span", { className: "space" }), this.select, add),
      this.tabs,
      this.columns,
      this.more,
      el("footer", { className: "foot" }, this.totals, cost),
      this.bulk,
    );
  }

  load = () => this.tasks.attempt(() => this.tasks.load());
  compose = () => this.edit({ status: this.#shown });

  // --- drawing

  #draw() {
    if (this.columns.querySelector(".dragged")) {
      this.columns.addEventListener("dragend", () => this.#draw(), { once: true }); // a card in the hand must stay
      return;
    }
    const hadFocus = this.columns.contains(document.activeElement) && document.activeElement !== this.columns;
    for (const id of this.#selection.ids) if (!this.tasks.has(id)) this.#selection.ids.delete(id);
    this.columns.dataset.shown = this.#shown;
    this.select.setAttribute("aria-pressed", String(this.isSelecting));
    replace(this.columns, ...STATUSES.map((status) => column(status, this.tasks, this.#selection, this.#on)));
    drawTabs(this.tabs, this.tasks, this.#shown, (status) => this.#show(status));
    this.more.hidden = !this.tasks.hasMoreFound;
    drawTotals(this.totals, this.tasks.counts);
    drawBulk(this.bulk, this.#selection, { change: (status) => this.#changeSelected(status), stop: () => this.stopSelecting() });
    this.#rove();
    if (hadFocus) this.#focus();
  }

  #on = {
    open: (task) => this.#open(task),
    complete: (task) => this.complete(task),
    select: (task) => this.toggle(task),
    drop: (id, status) => this.tasks.has(id) && this.tasks.move(this.tasks.get(id), status),
    more: (status) => this.tasks.attempt(() => this.tasks.more(status)),
    clear: () => this.#deleteCompleted(),
  };

  #open(task) {
    this.#current = task.task_id; // a click beside the title does not bring the keyboard there
    this.edit(task);
  }

  async #showMoreFound() {
    await this.tasks.attempt(() => this.tasks.moreFound());
    const isThere = [this.more, document.body].includes(document.activeElement);
    if (this.more.hidden && isThere) this.go(this.#nearest({ status: this.#shown })); // the keyboard was at what is gone
  }

  #show(status) {
    this.#shown = status;
    this.#draw();
  }

  // --- what can be done with a task

  // To save and to remove give the task that the keyboard goes to.
  async #save(task, fields) {
    const nearest = this.#nearest(task);
    const saved = task.task_id ? await this.tasks.save(task, fields) : await this.tasks.create(fields);
    return this.tasks.has(saved.task_id) ? saved : nearest;
  }

  async #remove(task) {
    const nearest = this.#nearest(task);
    await this.tasks.remove(task);
    return nearest;
  }

  async remove(task) {
    if (!(await confirmed(`Delete “${task.title}” for good?`, "Delete"))) return;
    this.go(await this.tasks.attempt(() => this.#remove(task)));
  }

  complete = (task) => this.tasks.move(task, task.status === "completed" ? "pending" : "completed");

  step(task, by) {
    const status = STATUSES[position(task) + by];
    if (status) this.tasks.move(task, status.name);
  }

  async #deleteCompleted() {
    const total = this.tasks.number("completed");
    const question = `Delete ${total === 1 ? "the completed task" : `all ${total} completed tasks`} for good?`;
    if (await confirmed(question, "Delete")) await this.tasks.deleteCompleted();
  }

  // --- selecting

  get isSelecting() {
    return this.#selection.isOn;
  }

  stopSelecting = () => this.#setSelecting(false);

  #setSelecting(isOn) {
    this.#selection = { isOn, ids: new Set() };
    this.#draw();
    this.#focus();
  }

  toggle(task) {
    const { ids } = this.#selection;
    this.#selection.isOn = true;
    if (!ids.delete(task.task_id)) ids.add(task.task_id);
    this.#draw();
    this.#focus();
  }

  async #changeSelected(status) {
    const ids = [...this.#selection.ids];
    this.#setSelecting(false);
    await this.tasks.changeMany(ids, status);
  }

  // --- the keyboard: one card is reached with Tab, the others with the arrows

  get focused() {
    return document.activeElement?.closest(".card") ? this.tasks.get(this.#current) : undefined;
  }

  #rove() {
    const cards = [...this.columns.querySelectorAll(".card")];
    const at = cards.find((item) => item.dataset.id === this.#current) ?? cards[0];
    for (const stop of this.columns.querySelectorAll(".card button, .card input")) stop.tabIndex = at.contains(stop) ? 0 : -1;
  }

  #focus() {
    this.#item(this.#current)?.querySelector(".title").focus();
  }

  #takeBack() {
    const at = document.activeElement;
    if (at === document.body || at.closest("dialog:not([open])")) this.#focus();
  }

  #item = (id) => id && this.columns.querySelector(`[data-id="${CSS.escape(id)}"]`);

  first = () => this.go(STATUSES.flatMap(({ name }) => this.tasks.in(name))[0]);

  go(task) {
    if (!task) return;
    this.#current = task.task_id;
    if (this.#shown !== task.status) this.#show(task.status);
    this.#rove();
    this.#focus();
  }

  // Where the keyboard goes when a task's card is not shown any more, or not at all; no column that a phone hides is near.
  #nearest(task) {
    const from = task.task_id ? task : (this.tasks.get(this.#current) ?? task);
    const near = [from, this.beside(from, 1), this.beside(from, -1), this.across(from, -1), this.across(from, 1)];
    return near.find((other) => other && other.task_id !== task.task_id && this.#item(other.task_id)?.checkVisibility());
  }

  beside(task, by) {
    const found = this.tasks.in(task.status);
    return found[found.findIndex(({ task_id }) => task_id === task.task_id) + by];
  }

  // The card at the same height in the nearest column that has any.
  across(task, by) {
    const row = this.tasks.in(task.status).findIndex(({ task_id }) => task_id === task.task_id);
    for (let next = position(task) + by; STATUSES[next]; next += by) {
      const found = this.tasks.in(STATUSES[next].name);
      if (found.length) return found[Math.min(Math.max(row, 0), found.length - 1)];
    }
    return undefined;
  }
}

const position = (task) => STATUSES.findIndex(({ name }) => name === task.status);
