// The board: a column for each status, what is selected, and everything that can be done with tasks.

import * as api from "./api.js";
import { card } from "./card.js";
import { el, icon, replace } from "./dom.js";
import { confirmed, editor } from "./editor.js";
import { filters } from "./filters.js";
import { PRIORITIES, STATUSES, sorted, titleOf } from "./tasks.js";

const RECOUNT = 250;

export function board(search, said) {
  const tasks = new Map();
  const cursors = new Map();
  const selected = new Set();
  const moves = new Map(); // what is being written, by task
  let selecting = false;
  let shown = "pending";
  let current = null; // the id of the task that the keyboard is at
  let asked = 0;

  const chosen = filters(() => load());
  const edit = editor({ categories: chosen.categories, save, remove });
  const add = el("button", { className: "button primary", type: "button", onclick: () => edit({ status: shown }) }, icon("plus"), el("span", {}, "New task"));
  const select = el("button", { className: "button", type: "button", ariaPressed: "false", onclick: () => setSelecting(!selecting) }, "Select");
  const totals = el("div", { className: "totals", ariaLabel: "Tasks by priority", role: "group" });
  const tabs = el("nav", { className: "tabs", ariaLabel: "Columns" });
  const columns = el("div", { className: "columns", id: "board", tabIndex: -1 });
  const bulk = el("div", { className: "bulk", role: "toolbar", ariaLabel: "Selected tasks", hidden: true });
  const cost = el("span", { className: "cost", title: "What the last request consumed" });
  api.costs.listener = (text) => { cost.textContent = text; };
  const numbers = { by_status: {}, by_priority: {} };

  const say = (text, isWrong = false) => {
    said.textContent = text;
    said.classList.toggle("wrong", isWrong);
  };

  // --- reading

  async function load() {
    const question = ++asked;
    const text = search.value.trim();
    const pages = text ? [await api.search(text)] : await Promise.all(STATUSES.map(({ name }) => api.list({ status: name, ...chosen.asks() })));
    if (question !== asked) return; // a later question was answered already
    tasks.clear();
    cursors.clear();
    pages.forEach((page, position) => {
      for (const task of page.items) if (!text || chosen.holds(task)) tasks.set(task.task_id, task);
      if (!text && page.next_cursor) cursors.set(STATUSES[position].name, page.next_cursor);
    });
    chosen.learn(tasks.values());
    for (const id of selected) if (!tasks.has(id)) selected.delete(id);
    if (isPart()) say(`${tasks.size} ${tasks.size === 1 ? "task" : "tasks"} found.`);
    draw();
    count();
  }

  async function more(status) {
    const page = await api.list({ status, ...chosen.asks() }, cursors.get(status));
    for (const task of page.items) tasks.set(task.task_id, task);
    if (page.next_cursor) cursors.set(status, page.next_cursor);
    else cursors.delete(status);
    draw();
  }

  // The counts follow the changes with a short delay, and say so.
  async function count() {
    const counts = await api.counts();
    Object.assign(numbers, counts);
    drawNumbers();
    if (counts.behind.records > 0) setTimeout(() => attempt(count), RECOUNT);
  }

  // --- changing

  async function attempt(work) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof api.Refused)) throw error;
      say(error.status === 412 ? "This task was changed elsewhere; here it is as it is now." : `${error.message} ${error.hint}`, true);
      await load();
      return null;
    }
  }

  function put(task) {
    const isShown = search.value.trim() ? tasks.has(task.task_id) || chosen.holds(task) : chosen.holds(task);
    if (isShown) tasks.set(task.task_id, task);
    else tasks.delete(task.task_id);
    chosen.learn([task]);
    draw();
    setTimeout(() => attempt(count), RECOUNT);
  }

  async function save(task, fields) {
    if (task.task_id) {
      put(await api.change(task, fields));
      say(`Saved “${fields.title}”.`);
      return;
    }
    const made = await api.create(fields);
    current = made.task_id;
    shown = made.status;
    put(made);
    say(`Created “${made.title}”.`);
    focus();
  }

  async function remove(task) {
    const neighbour = beside(task, 1) ?? beside(task, -1);
    await api.remove(task);
    tasks.delete(task.task_id);
    current = neighbour?.task_id ?? null;
    draw();
    focus();
    say(`Deleted “${task.title}”.`);
    setTimeout(() => attempt(count), RECOUNT);
  }

  // Shown at once; if the service refuses, the board is read again. Moves of one task wait for each other, because each
  // is made over the version that the one before left.
  function move(task, status) {
    if (task.status === status) return;
    const id = task.task_id;
    tasks.set(id, { ...task, status });
    draw();
    const moved = (moves.get(id) ?? Promise.resolve()).then(() => attempt(async () => {
      const saved = await api.change(tasks.get(id) ?? task, { status });
      if (moves.get(id) !== moved) {
        tasks.set(id, { ...tasks.get(id), version: saved.version });
        return;
      }
      moves.delete(id);
      put(saved);
      say(`Moved “${task.title}” to ${titleOf(status)}.`);
    }));
    moves.set(id, moved);
  }

  const complete = (task) => move(task, task.status === "completed" ? "pending" : "completed");

  function step(task, by) {
    const position = STATUSES.findIndex(({ name }) => name === task.status) + by;
    if (STATUSES[position]) move(task, STATUSES[position].name);
  }

  async function changeSelected(status) {
    await Promise.all(moves.values());
    const ids = [...selected];
    const results = [];
    for (let start = 0; start < ids.length; start += 100) {
      results.push(...((await attempt(() => api.changeMany(ids.slice(start, start + 100), status))) ?? []));
    }
    const done = results.filter(({ outcome }) => outcome === "changed" || outcome === "unchanged").length;
    setSelecting(false);
    await load();
    say(done === ids.length ? `Moved ${plural(done)} to ${titleOf(status)}.` : `${done} of ${plural(ids.length)} moved to ${titleOf(status)}.`, done < ids.length);
  }

  async function deleteCompleted() {
    await Promise.all(moves.values());
    const total = numbers.by_status.completed;
    if (!(await confirmed(`Delete ${total === 1 ? "the completed task" : `all ${total} completed tasks`} for good?`, "Delete"))) return;
    const deleted = await attempt(() => api.deleteCompleted());
    await load();
    if (deleted !== null) say(`Deleted ${plural(deleted)}.`);
  }

  // --- selecting

  function setSelecting(value) {
    selecting = value;
    if (!value) selected.clear();
    draw();
    focus();
  }

  function toggle(task) {
    selecting = true;
    if (!selected.delete(task.task_id)) selected.add(task.task_id);
    draw();
    focus();
  }

  // --- drawing

  const on = { open: edit, complete, select: toggle };
  const isPart = () => Boolean(search.value.trim()) || chosen.isSet();

  // What a search found stays in its order, best first.
  function inColumn(status) {
    const found = [...tasks.values()].filter((task) => task.status === status);
    return search.value.trim() ? found : sorted(found);
  }

  function draw() {
    const hadFocus = document.activeElement?.closest?.(".card") !== null && columns.contains(document.activeElement);
    columns.dataset.shown = shown;
    columns.classList.toggle("selecting", selecting);
    select.setAttribute("aria-pressed", String(selecting));
    replace(columns, ...STATUSES.map(column));
    drawBulk();
    drawNumbers();
    rove();
    if (hadFocus) focus();
  }

  function column({ name, title }) {
    const found = inColumn(name);
    const cards = found.map((task) => card(task, { selecting, selected: selected.has(task.task_id), on }));
    const next = cursors.has(name) ? el("button", { className: "link more", type: "button", onclick: () => attempt(() => more(name)) }, "Show more") : null;
    const empty = found.length ? null : el("p", { className: "empty" }, isPart() ? "Nothing here matches." : EMPTY[name]);
    const clear = name === "completed" && found.length && !isPart() ? el("button", { className: "link", type: "button", ariaLabel: "Delete all completed tasks", onclick: deleteCompleted }, "Delete all") : null;
    const section = el(
      "section",
      { className: "column" },
      el("header", {}, el("span", { className: "dot", ariaHidden: "true" }), el("h2", { id: `column-${name}` }, title), el("span", { className: "number" }), clear),
      el("ul", { className: "cards" }, ...cards),
      empty,
      next,
    );
    section.setAttribute("aria-labelledby", `column-${name}`);
    section.dataset.status = name;
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
      const task = tasks.get(event.dataTransfer.getData("text/plain"));
      if (task) move(task, name);
    });
    return section;
  }

  function drawNumbers() {
    const number = (status) => (isPart() ? inColumn(status).length : (numbers.by_status[status] ?? inColumn(status).length));
    for (const section of columns.children) section.querySelector(".number").textContent = number(section.dataset.status);
    replace(
      tabs,
      ...STATUSES.map(({ name, title }) => {
        const tab = el("button", { type: "button", onclick: () => { shown = name; draw(); } }, title, el("span", { className: "number" }, String(number(name))));
        if (name === shown) tab.setAttribute("aria-current", "true");
        return tab;
      }),
    );
    const total = Object.values(numbers.by_status).reduce((sum, part) => sum + part, 0);
    const parts = PRIORITIES.map((name) => el("span", { className: `fact priority ${name}` }, icon("flag"), el("span", {}, `${numbers.by_priority[name] ?? 0} ${name}`)));
    replace(totals, el("strong", {}, plural(total)), ...parts);
  }

  function drawBulk() {
    bulk.hidden = !selecting;
    const choice = ({ name, title }) => el("button", { className: "button", type: "button", disabled: selected.size === 0, onclick: () => changeSelected(name) }, name === "completed" ? "Complete" : title);
    const order = ["completed", "in_progress", "pending", "cancelled"].map((name) => STATUSES.find((status) => status.name === name));
    replace(
      bulk,
      el("strong", {}, `${selected.size} selected`),
      ...order.map(choice),
      el("button", { className: "button square", type: "button", ariaLabel: "Stop selecting", onclick: () => setSelecting(false) }, icon("close")),
    );
  }

  // --- the keyboard: one card is reached with Tab, the others with the arrows

  function rove() {
    const cards = [...columns.querySelectorAll(".card")];
    const at = cards.find((item) => item.dataset.id === current) ?? cards[0];
    if (!at) return;
    for (const stop of at.querySelectorAll("button, input")) stop.tabIndex = 0;
  }

  function focus() {
    const item = current && columns.querySelector(`[data-id="${CSS.escape(current)}"]`);
    item?.querySelector(".title").focus();
  }

  function beside(task, by) {
    const column = inColumn(task.status);
    return column[column.findIndex(({ task_id }) => task_id === task.task_id) + by];
  }

  // The card at the same height in the nearest column that has any.
  function across(task, by) {
    const row = inColumn(task.status).findIndex(({ task_id }) => task_id === task.task_id);
    const from = STATUSES.findIndex(({ name }) => name === task.status);
    for (let position = from + by; STATUSES[position]; position += by) {
      const column = inColumn(STATUSES[position].name);
      if (column.length) return column[Math.min(row, column.length - 1)];
    }
    return undefined;
  }

  function go(task) {
    if (!task) return;
    current = task.task_id;
    if (shown !== task.status) shown = task.status;
    columns.dataset.shown = shown;
    rove();
    focus();
  }

  columns.addEventListener("focusin", (event) => {
    const item = event.target.closest(".card");
    if (item) current = item.dataset.id;
  });

  const element = el(
    "div",
    { className: "page" },
    el("div", { className: "tools" }, chosen.element, el("span", { className: "space" }), select, add),
    tabs,
    columns,
    el("footer", { className: "foot" }, totals, cost),
    bulk,
  );

  return {
    element,
    load: () => attempt(load),
    focused: () => (document.activeElement?.closest(".card") ? tasks.get(current) : undefined),
    first: () => go(STATUSES.flatMap(({ name }) => inColumn(name))[0]),
    go,
    beside,
    across,
    step,
    complete,
    toggle,
    edit,
    remove: async (task) => {
      if (await confirmed(`Delete “${task.title}” for good?`, "Delete")) await attempt(() => remove(task));
    },
    compose: () => edit({ status: shown }),
    isSelecting: () => selecting,
    stopSelecting: () => setSelecting(false),
  };
}

const EMPTY = {
  pending: "Nothing to do. Enjoy it, or press N.",
  in_progress: "Nothing is under way.",
  completed: "Nothing is completed yet.",
  cancelled: "Nothing was cancelled.",
};

const plural = (number) => `${number} ${number === 1 ? "task" : "tasks"}`;
