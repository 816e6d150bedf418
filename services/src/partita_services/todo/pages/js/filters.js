// The filters above the board: the parameters for the service, and the same test for tasks that a search found.

import { el, replace } from "/assets/dom.js";
import { PRIORITIES, isOverdue, today } from "./tasks.js";

const DUE = {
  overdue: { title: "Overdue", asks: () => ({ overdue: true }), holds: isOverdue },
  today: { title: "Due today", asks: () => ({ due: today() }), holds: (task) => task.due_date === today() },
  week: {
    title: "Due in 7 days",
    asks: () => ({ due_from: today(), due_to: today(7) }),
    holds: (task) => Boolean(task.due_date) && today() <= task.due_date && task.due_date <= today(7),
  },
  none: { title: "No due date", asks: () => ({ has_due: false }), holds: (task) => !task.due_date },
};
export const FILTERS = ["priority", "category", "due"];

// `changed()` is called when the user has chosen a filter.
export function filters(changed) {
  const chosen = { priority: "", category: "", due: "" };
  const categories = new Set();

  const priority = choice("Priority", "Any priority", PRIORITIES.map((name) => [name, capital(name)]), "priority");
  const category = choice("Category", "Any category", [], "category");
  const due = choice("Due date", "Any due date", Object.entries(DUE).map(([name, { title }]) => [name, title]), "due");
  const clear = el("button", { className: "link", type: "button", hidden: true, onclick: reset }, "Clear filters");

  function choice(label, any, options, field) {
    const select = el("select", { ariaLabel: label }, el("option", { value: "" }, any), ...options.map(option));
    select.addEventListener("change", () => {
      chosen[field] = select.value;
      refresh();
      changed();
    });
    return select;
  }

  function refresh() {
    for (const [select, value] of [[priority, chosen.priority], [category, chosen.category], [due, chosen.due]]) {
      select.value = value;
      select.classList.toggle("set", value !== "");
    }
    clear.hidden = !isSet();
  }

  const isSet = () => Object.values(chosen).some(Boolean);

  function reset() {
    Object.assign(chosen, { priority: "", category: "", due: "" });
    refresh();
    changed();
  }

  // The categories seen so far are all kept, so that a filter does not make the others unreachable.
  function learn(tasks) {
    const before = categories.size;
    for (const task of tasks) if (task.category) categories.add(task.category);
    if (categories.size === before) return;
    const known = [...categories].sort((a, b) => a.localeCompare(b));
    replace(category, el("option", { value: "" }, "Any category"), ...known.map((name) => option([name, name])));
    category.value = chosen.category;
  }

  return {
    element: el("div", { className: "filters", role: "group", ariaLabel: "Filters" }, due, priority, category, clear),
    categories,
    isSet,
    learn,
    chosen: () => ({ ...chosen }),
    // Sets the filters from an address, which may contain unknown values.
    choose(given) {
      chosen.priority = PRIORITIES.includes(given.priority) ? given.priority : "";
      chosen.due = given.due in DUE ? given.due : "";
      chosen.category = given.category ?? "";
      learn([chosen]);
      refresh();
    },
    asks: () => ({ priority: chosen.priority, category: chosen.category, ...(chosen.due ? DUE[chosen.due].asks() : {}) }),
    holds: (task) =>
      (!chosen.priority || task.priority === chosen.priority) &&
      (!chosen.category || task.category === chosen.category) &&
      (!chosen.due || DUE[chosen.due].holds(task)),
  };
}

const option = ([value, title]) => el("option", { value }, title);
export const capital = (word) => word[0].toUpperCase() + word.slice(1);
