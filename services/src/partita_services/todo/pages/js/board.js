// The board: tasks in columns, the selected tasks, and the task that has the keyboard focus.

import { parameters } from "/assets/address.js";
import { confirmed } from "/assets/dialog.js";
import { el, isolated, write } from "/assets/dom.js";
import { moreButton } from "/assets/pages.js";
import { failed } from "/assets/states.js";
import * as api from "./api.js";
import { Changes } from "./changes.js";
import { bulkBar, column, columnTabs, drawTotals } from "./columns.js";
import { liftable } from "./drag.js";
import { edit } from "./editor.js";
import { filters, FILTERS } from "./filters.js";
import { icon } from "./icons.js";
import { Roving } from "./roving.js";
import { Tasks, plural } from "./store.js";
import { nameOf, STATUSES } from "./tasks.js";

export class Board {
  #selection = { isOn: false, ids: new Set() };
  #shown = "pending"; // the column that a phone shows

  // Changes that arrive `during` a read of the tasks are applied after it.
  constructor(search, { during }) {
    this.search = search;
    this.during = during;
    this.filters = filters(() => this.#chosen());
    this.tasks = new Tasks(search, this.filters, { found: (number, how) => this.#found(number, how), changed: () => this.#draw() });
    this.changes = new Changes(this.tasks);
    this.#build();
    this.keyboard = new Roving(this.tasks, this.columns, { lists: this.lists, show: (status) => this.#show(status), shown: () => this.#shown });
    this.address = parameters(["q", ...FILTERS, "column"], (given) => this.#goTo(given));
    this.#take(this.address.read());
  }

  #build() {
    this.select = el("button", { className: "button", type: "button", ariaPressed: "false", onclick: () => this.#setSelecting(!this.isSelecting) }, "Select");
    this.parts = STATUSES.map((status) => column(status, this.tasks, this.#selection, this.#on));
    this.lists = new Map(STATUSES.map(({ name }, at) => [name, this.parts[at].list]));
    this.tabs = columnTabs(this.tasks, (status) => this.#show(status));
    this.columns = el("div", { className: "columns" }, ...this.parts.map(({ element }) => element));
    this.totals = el("div", { className: "totals", ariaLabel: "Tasks by priority", role: "group" });
    this.said = el("p", { className: "found", role: "status" });
    this.wrong = el("div", { className: "unread", hidden: true });
    this.bulk = bulkBar({ change: (status) => this.#changeSelected(status), remove: () => this.#removeSelected(), stop: () => this.stopSelecting() });
    this.more = moreButton(() => this.#showMoreFound(), { byItself: false });
    this.cost = el("span", { className: "cost", title: "What the last request consumed", hidden: true });
    api.costs.listener = (text) => write(this.cost, text);
    const add = el("button", { className: "button primary", type: "button", onclick: () => this.compose() }, icon("plus"), el("span", {}, "New task"));
    this.element = el(
      "div",
      { className: "page" },
      el("h1", { className: "hidden" }, "Your tasks"),
      el("div", { className: "tools" }, this.filters.element, this.said, el("span", { className: "space" }), this.select, add),
      this.tabs.element,
      this.wrong,
      this.columns,
      this.more,
      el("footer", { className: "foot" }, this.totals, this.cost),
      this.bulk.element,
    );
  }

  // --- reading

  // An error of the service is shown with a button to try again; the cards that are there stay.
  load = async () => {
    try {
      await this.during(() => this.tasks.load());
      this.wrong.hidden = true;
    } catch (error) {
      if (!(error instanceof api.Refused)) throw error;
      this.#draw();
      if (error.status === 401) this.changes.refused("The tasks cannot be read.", error, this.load);
      else this.wrong.replaceChildren(failed(error, this.load, "The tasks cannot be read"));
      this.wrong.hidden = error.status === 401;
    }
  };

  compose = () => this.#edit({ status: this.#shown });

  // If very many tasks match, the service considers only those that changed last.
  #found(number, { isCut, isWhole }) {
    const cut = isWhole ? "" : " More than 1,000 tasks match: only those that changed last were searched. Add a word to find the others.";
    write(this.said, `${plural(number)} found${isCut ? " so far" : ""}.${cut}`);
  }

  // --- the address

  #take(given) {
    this.search.value = given.q;
    this.filters.choose(given);
    if (STATUSES.some(({ name }) => name === given.column)) this.#shown = given.column;
  }

  #goTo(given) {
    this.#take(given);
    this.load();
  }

  #chosen() {
    this.searched({ isTyped: false });
  }

  searched({ isTyped = true } = {}) {
    this.address.write({ q: this.search.value.trim(), ...this.filters.chosen(), column: this.#shown === "pending" ? "" : this.#shown }, { isTyped });
    return this.load();
  }

  // --- drawing

  #draw() {
    if (this.columns.querySelector(".dragged")) {
      this.columns.addEventListener("dragend", () => this.#draw(), { once: true }); // a card that is being dragged must stay
      return;
    }
    for (const id of this.#selection.ids) if (!this.tasks.has(id)) this.#selection.ids.delete(id);
    const { hadFocus } = this.keyboard;
    if (this.columns.dataset.shown !== this.#shown) this.columns.dataset.shown = this.#shown;
    if (this.select.ariaPressed !== String(this.isSelecting)) this.select.ariaPressed = String(this.isSelecting);
    for (const part of this.parts) part.draw();
    this.tabs.draw(this.#shown);
    this.more.hidden = !this.tasks.hasMoreFound;
    if (!this.tasks.isPart) write(this.said, "");
    drawTotals(this.totals, this.tasks.counts);
    this.bulk.draw(this.#selection);
    this.keyboard.rove();
    if (hadFocus) this.keyboard.keep();
  }

  #on = {
    open: (task) => this.#open(task),
    complete: (task) => this.complete(task),
    select: (task) => this.toggle(task),
    drop: (id, status) => this.tasks.has(id) && this.changes.move(this.tasks.get(id), status),
    lift: (item, id) => liftable(item, id, this.#on.drop),
    more: (status) => this.#more(() => this.tasks.more(status)),
    clear: () => this.#deleteCompleted(),
    add: (status, title, draft) => this.changes.create({ title, status }, draft),
  };

  #open(task) {
    this.keyboard.at = task.task_id; // a click outside the title does not move the focus there
    this.#edit(task);
  }

  #edit(task) {
    edit(task, {
      categories: this.filters.categories,
      save: (known, fields, draft) => this.#save(known, fields, draft),
      remove: (known) => this.#remove(known),
      current: (id) => this.changes.refresh(id),
      go: (next) => this.go(next),
    });
  }

  #more = (read) => this.changes.attempt("More tasks exist, but cannot be read.", () => this.during(read));

  async #showMoreFound() {
    const read = await this.#more(() => this.tasks.moreFound());
    const isThere = [this.more, document.body].includes(document.activeElement);
    if (this.more.hidden && isThere) this.go(this.keyboard.nearest({ status: this.#shown })); // the focus was on the button that is now hidden
    return read;
  }

  #show(status) {
    this.#shown = status;
    this.address.write({ q: this.search.value.trim(), ...this.filters.chosen(), column: status === "pending" ? "" : status }, { isTyped: true });
    this.#draw();
  }

  // --- actions on a task

  // Saving and removing return the task that gets the keyboard focus.
  async #save(task, fields, draft) {
    const nearest = this.keyboard.nearest(task);
    const saved = task.task_id ? await this.changes.save(task, fields) : await this.changes.create(fields, draft);
    return this.tasks.has(saved.task_id) ? saved : nearest;
  }

  async #remove(task) {
    const nearest = this.keyboard.nearest(task);
    await this.changes.remove(task);
    return nearest;
  }

  async remove(task) {
    this.go(await this.changes.attempt(`“${isolated(nameOf(task))}” was not deleted.`, () => this.#remove(task)));
  }

  complete = (task) => this.changes.move(task, task.status === "completed" ? "pending" : "completed");

  step(task, by) {
    const status = STATUSES[STATUSES.findIndex(({ name }) => name === task.status) + by];
    if (status) this.changes.move(task, status.name);
  }

  async #deleteCompleted() {
    const total = this.tasks.number("completed");
    const title = `Delete ${total === 1 ? "the completed task" : `all ${total} completed tasks`}?`;
    if (await confirmed({ title, text: "This cannot be undone.", action: "Delete", keep: "Keep" })) await this.changes.deleteCompleted();
  }

  // --- selecting

  get isSelecting() {
    return this.#selection.isOn;
  }

  stopSelecting = () => this.#setSelecting(false);

  #setSelecting(isOn) {
    this.#selection.isOn = isOn;
    this.#selection.ids.clear();
    this.#draw();
    this.keyboard.focus();
  }

  toggle(task) {
    const { ids } = this.#selection;
    this.#selection.isOn = true;
    if (!ids.delete(task.task_id)) ids.add(task.task_id);
    this.keyboard.at = task.task_id;
    this.#draw();
    this.keyboard.focus();
  }

  async #changeSelected(status) {
    const ids = [...this.#selection.ids];
    this.#setSelecting(false);
    await this.changes.moveMany(ids, status);
  }

  async #removeSelected() {
    const ids = [...this.#selection.ids];
    if (!(await confirmed({ title: `Delete ${plural(ids.length)}?`, text: "This cannot be undone.", action: "Delete", keep: "Keep" }))) return;
    this.#setSelecting(false);
    await this.changes.removeMany(ids);
  }

  // --- the keyboard

  get focused() {
    return this.keyboard.task;
  }

  first = () => this.go(STATUSES.flatMap(({ name }) => this.tasks.in(name))[0]);
  go = (task) => this.keyboard.go(task);
  beside = (task, by) => this.keyboard.beside(task, by);
  across = (task, by) => this.keyboard.across(task, by);
}
