// Keyboard focus on the board: one card of each column is reached with Tab, the others with the arrows.

import { STATUSES } from "./tasks.js";

export class Roving {
  #stops = new Map(); // by status, the card that Tab reaches

  // `lists` are the lists of the columns, by status; `show(status)` shows a column on a phone, which shows only one.
  constructor(tasks, columns, { lists, show, shown }) {
    Object.assign(this, { tasks, columns, lists, show, shown, at: null });
    columns.addEventListener("focusin", (event) => {
      const item = event.target.closest(".card");
      if (!item || this.at === item.dataset.id) return;
      this.at = item.dataset.id;
      this.rove();
    });
    // A card that was redrawn behind a dialog does not regain the focus without this.
    document.addEventListener("close", () => this.#takeBack(), true);
  }

  // The task whose card has the focus.
  get task() {
    return document.activeElement?.closest(".card") ? this.tasks.get(this.at) : undefined;
  }

  get hadFocus() {
    return this.columns.contains(document.activeElement) && Boolean(document.activeElement.closest(".card"));
  }

  // Only the previous and the new tab stop of each column are changed.
  rove() {
    for (const { name } of STATUSES) {
      const cards = this.lists.get(name).element;
      const current = this.tasks.get(this.at)?.status === name ? this.#item(this.at) : null;
      const stop = current ?? cards.querySelector(".card");
      const before = this.#stops.get(name);
      if (before === stop && stop?.querySelector(".title").tabIndex === 0) continue;
      if (before && before !== stop) reachable(before, -1);
      if (stop) reachable(stop, 0);
      this.#stops.set(name, stop);
    }
  }

  focus() {
    this.#item(this.at)?.querySelector(".title").focus();
  }

  // Restores the focus after its card was moved to another column, or redrawn.
  keep() {
    if (!this.columns.contains(document.activeElement)) this.focus();
  }

  #takeBack() {
    const at = document.activeElement;
    if (at === document.body || at.closest("dialog:not([open])")) this.focus();
  }

  #item = (id) => (id && this.tasks.has(id) ? this.columns.querySelector(`[data-id="${CSS.escape(id)}"]`) : null);

  go(task) {
    if (!task) return;
    this.at = task.task_id;
    if (this.shown() !== task.status) this.show(task.status);
    this.lists.get(task.status)?.reveal(task.task_id);
    this.rove();
    this.focus();
  }

  // The task that gets the focus when a task's card is no longer shown, or never was; columns that a phone hides are skipped.
  nearest(task) {
    const from = task.task_id ? task : (this.tasks.get(this.at) ?? task);
    const near = [from, this.beside(from, 1), this.beside(from, -1), this.across(from, -1), this.across(from, 1)];
    return near.find((other) => other && other.task_id !== task.task_id && this.#item(other.task_id)?.checkVisibility());
  }

  beside(task, by) {
    const found = this.tasks.in(task.status);
    return found[found.findIndex(({ task_id }) => task_id === task.task_id) + by];
  }

  // The task at the same height in the nearest column that has any.
  across(task, by) {
    const row = this.tasks.in(task.status).findIndex(({ task_id }) => task_id === task.task_id);
    const position = STATUSES.findIndex(({ name }) => name === task.status);
    for (let next = position + by; STATUSES[next]; next += by) {
      const found = this.tasks.in(STATUSES[next].name);
      if (found.length) return found[Math.min(Math.max(row, 0), found.length - 1)];
    }
    return undefined;
  }
}

function reachable(card, tabIndex) {
  for (const stop of card.querySelectorAll("button, input")) stop.tabIndex = tabIndex;
}
