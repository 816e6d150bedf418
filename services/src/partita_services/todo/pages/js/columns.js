// What is drawn around the cards: columns, the tabs that stand for them on a phone, counts, and the selected tasks.

import { card } from "./card.js";
import { el, replace } from "/assets/dom.js";
import { icon } from "./icons.js";
import { plural } from "./store.js";
import { PRIORITIES, STATUSES } from "./tasks.js";

const EMPTY = {
  pending: "Nothing to do. Enjoy it, or press N.",
  in_progress: "Nothing is under way.",
  completed: "Nothing is completed yet.",
  cancelled: "Nothing was cancelled.",
};

// `on` has what can be done: open, complete, select, drop, more, clear.
export function column({ name, title }, tasks, selection, on) {
  const found = tasks.in(name);
  const cards = found.map((task) => card(task, { selecting: selection.isOn, selected: selection.ids.has(task.task_id), on }));
  const empty = el("p", { className: "empty" }, emptiness(name, tasks));
  const more = el("button", { className: "link more", type: "button", onclick: () => on.more(name) }, "Show more");
  const clear = el("button", { className: "link", type: "button", ariaLabel: "Delete all completed tasks", onclick: on.clear }, "Delete all");
  const section = el(
    "section",
    { className: "column" },
    el(
      "header",
      {},
      el("span", { className: "dot", ariaHidden: "true" }),
      el("h2", { id: `column-${name}` }, title),
      el("span", { className: "number" }, tasks.tally(name)),
      name === "completed" && found.length && !tasks.isPart ? clear : null,
    ),
    el("ul", { className: "cards" }, ...cards),
    found.length ? null : empty,
    tasks.hasMore(name) ? more : null,
  );
  section.setAttribute("aria-labelledby", `column-${name}`);
  section.dataset.status = name;
  takeDrops(section, (id) => on.drop(id, name));
  return section;
}

function emptiness(name, tasks) {
  if (!tasks.isPart) return EMPTY[name];
  return tasks.isCut(name) ? "Nothing here so far." : "Nothing here matches.";
}

function takeDrops(section, drop) {
  section.addEventListener("dragover", (event) => {
    event.preventDefault();
    section.classList.add("over");
  });
  section.addEventListener("dragleave", (event) => {
    if (!section.contains(event.relatedTarget)) section.classList.remove("over");
  });
  section.addEventListener("drop", (event) => {
    event.preventDefault();
    section.classList.remove("over");
    drop(event.dataTransfer.getData("text/plain"));
  });
}

export function drawTabs(tabs, tasks, shown, choose) {
  const tab = ({ name, title }) => {
    const button = el("button", { type: "button", onclick: () => choose(name) }, title, el("span", { className: "number" }, tasks.tally(name)));
    if (name === shown) button.setAttribute("aria-current", "true");
    return button;
  };
  replace(tabs, ...STATUSES.map(tab));
}

export function drawTotals(totals, { by_status, by_priority }) {
  const total = Object.values(by_status).reduce((sum, part) => sum + part, 0);
  const part = (name) => el("span", { className: `fact priority ${name}` }, icon("flag"), el("span", {}, `${by_priority[name] ?? 0} ${name}`));
  replace(totals, el("strong", {}, plural(total)), ...PRIORITIES.map(part));
}

export function drawBulk(bulk, selection, { change, stop }) {
  bulk.hidden = !selection.isOn;
  const button = (name, title) => el("button", { className: "button", type: "button", disabled: selection.ids.size === 0, onclick: () => change(name) }, title);
  replace(
    bulk,
    el("strong", {}, `${selection.ids.size} selected`),
    button("completed", "Complete"),
    button("in_progress", "In progress"),
    button("pending", "To do"),
    button("cancelled", "Cancelled"),
    el("button", { className: "button square", type: "button", ariaLabel: "Stop selecting", onclick: stop }, icon("close")),
  );
}
