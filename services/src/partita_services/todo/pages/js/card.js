// One task on the board.

import { el } from "/assets/dom.js";
import { icon } from "./icons.js";
import { capital } from "./filters.js";
import { dueText, isOverdue, nameOf, titleOf } from "./tasks.js";

// `on` contains the actions on the task: open, complete, select, lift.
export function card(task, { selecting, selected, on }) {
  const open = el("button", { className: "title", type: "button", tabIndex: -1, dir: "auto", onclick: () => (selecting ? on.select(task) : on.open(task)) }, nameOf(task));
  open.setAttribute("aria-label", label(task, selected));
  const item = el(
    "li",
    { className: selected ? "card selected" : "card", draggable: true },
    selecting ? box(task, selected, on) : ring(task, on),
    el("div", { className: "body" }, open, task.description ? el("p", { className: "text", dir: "auto" }, task.description) : null, facts(task)),
  );
  item.dataset.id = task.task_id;
  item.dataset.status = task.status;
  if (task.priority) item.dataset.priority = task.priority;
  item.addEventListener("click", (event) => {
    if (!event.target.closest("button, input")) open.click();
  });
  on.lift(item, task.task_id);
  return item;
}

function ring(task, on) {
  const isDone = task.status === "completed";
  const name = `${isDone ? "Reopen" : "Complete"} ${nameOf(task)}`;
  return el("button", { className: "ring", type: "button", tabIndex: -1, title: isDone ? "Reopen" : "Complete", ariaLabel: name, onclick: () => on.complete(task) }, icon("check"));
}

function box(task, selected, on) {
  const control = el("input", { type: "checkbox", className: "box", checked: selected, tabIndex: -1, ariaLabel: `Select ${nameOf(task)}` });
  control.addEventListener("change", () => on.select(task));
  return control;
}

function facts(task) {
  const shown = [
    task.priority ? fact("flag", capital(task.priority), `priority ${task.priority}`) : null,
    task.due_date ? fact("calendar", capital(dueText(task)), isOverdue(task) ? "due late" : "due") : null,
    task.category ? fact("tag", task.category, "category") : null,
  ].filter(Boolean);
  return shown.length ? el("ul", { className: "facts" }, ...shown) : null;
}

const fact = (name, text, className) => el("li", { className: `fact ${className}` }, icon(name), el("span", { dir: "auto" }, text));

function label(task, selected) {
  const parts = [nameOf(task), titleOf(task.status)];
  if (task.priority) parts.push(`${task.priority} priority`);
  if (task.due_date) parts.push(isOverdue(task) ? `overdue, ${dueText(task)}` : `due ${dueText(task)}`);
  if (task.category) parts.push(task.category);
  if (selected) parts.push("selected");
  return parts.join(", ");
}
