// Everything around the cards: columns, the tabs that replace them on a phone, counts, and the bar for selected tasks.

import { el, replace, takesRoom, write } from "/assets/dom.js";
import { KeyedList } from "/assets/list.js";
import { skeleton } from "/assets/states.js";
import { moreButton } from "/assets/pages.js";
import { card } from "./card.js";
import { takeDrops } from "./drag.js";
import { icon } from "./icons.js";
import { quickAdd } from "./quick.js";
import { plural } from "./store.js";
import { PRIORITIES, STATUSES } from "./tasks.js";

const EMPTY = {
  pending: "Nothing to do. Enjoy it, or add a task.",
  in_progress: "Nothing is under way.",
  completed: "Nothing is completed yet.",
  cancelled: "Nothing was cancelled.",
};

// A column that is built once, and redrawn when its tasks have changed. `on` contains the actions: open, complete,
// select, lift, drop, more, clear, add.
export function column({ name, title }, tasks, selection, on) {
  const number = el("span", { className: "number" });
  const empty = el("p", { className: "empty" });
  const waiting = skeleton(3, "waiting");
  const more = moreButton(() => on.more(name));
  const clear = el("button", { className: "link", type: "button", ariaLabel: "Delete all completed tasks", onclick: on.clear }, "Delete all");
  const add = quickAdd(title, (text, draft) => on.add(name, text, draft));
  const cards = el("ul", { className: "cards" });
  const list = new KeyedList(cards, {
    key: (task) => task.task_id,
    state: (task) => `${selection.isOn}${selection.ids.has(task.task_id)}`,
    draw: (task) => card(task, { selecting: selection.isOn, selected: selection.ids.has(task.task_id), on }),
  });
  const head = el("header", {}, el("span", { className: "dot", ariaHidden: "true" }), el("h2", { id: `column-${name}` }, title), number, el("span", { className: "space" }), clear, add.button);
  const section = el("section", { className: "column", "aria-labelledby": `column-${name}` }, head, add.form, el("div", { className: "scroll" }, waiting, cards, empty, more));
  section.dataset.status = name;
  takeDrops(section, (id) => on.drop(id, name));

  function draw() {
    const found = tasks.in(name);
    const isLoading = tasks.isLoading(name) && !found.length;
    list.show(found);
    write(number, tasks.tally(name));
    write(empty, emptiness(name, tasks));
    waiting.hidden = !isLoading;
    empty.hidden = found.length > 0 || isLoading;
    more.hidden = !tasks.hasMore(name);
    clear.hidden = name !== "completed" || !found.length || tasks.isPart;
  }
  return { element: section, list, draw };
}

function emptiness(name, tasks) {
  if (!tasks.isPart) return EMPTY[name];
  return tasks.isCut(name) ? "Nothing here so far." : "Nothing here matches.";
}

// The tabs are built once; `draw(status)` marks the one that is shown.
export function columnTabs(tasks, choose) {
  const tabs = STATUSES.map(({ name, title }) => {
    const number = el("span", { className: "number" });
    const button = el("button", { type: "button", onclick: () => choose(name) }, title, number);
    button.dataset.status = name;
    return { name, button, number };
  });
  const element = el("nav", { className: "tabs", ariaLabel: "Columns" }, ...tabs.map(({ button }) => button));
  const draw = (shown) => {
    for (const { name, button, number } of tabs) {
      write(number, tasks.tally(name));
      if (name === shown) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  };
  return { element, draw };
}

// Priorities that no task has are omitted.
export function drawTotals(totals, counts) {
  if (!counts) return;
  const total = Object.values(counts.by_status).reduce((sum, part) => sum + part, 0);
  const parts = PRIORITIES.filter((name) => counts.by_priority[name] > 0);
  const text = [total, ...parts.map((name) => counts.by_priority[name])].join();
  if (totals.dataset.shown === text) return;
  totals.dataset.shown = text;
  const part = (name) => el("span", { className: `fact priority ${name}` }, icon("flag"), el("span", {}, `${counts.by_priority[name]} ${name}`));
  replace(totals, el("strong", {}, plural(total)), ...parts.map(part));
}

// The actions on the selected tasks.
export function bulkBar({ change, remove, stop }) {
  const selected = el("strong", {});
  const button = (title, work, kind = "") => el("button", { className: `button ${kind}`, type: "button", onclick: work }, title);
  const works = [
    button("Complete", () => change("completed")),
    button("In progress", () => change("in_progress")),
    button("To do", () => change("pending")),
    button("Cancelled", () => change("cancelled")),
    button("Delete", remove, "danger"),
  ];
  const element = el("div", { className: "bulk", role: "toolbar", ariaLabel: "Selected tasks", hidden: true }, selected, el("div", { className: "works" }, ...works), el("button", { className: "button square", type: "button", ariaLabel: "Stop selecting", onclick: stop }, icon("close")));
  takesRoom(element, "--tools");
  const draw = ({ isOn, ids }) => {
    element.hidden = !isOn;
    write(selected, `${ids.size} selected`);
    for (const work of works) work.disabled = ids.size === 0;
  };
  return { element, draw };
}
