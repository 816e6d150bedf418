// The dialog for a new or an existing task.

import { newKey } from "/assets/api.js";
import { button, openDialog } from "/assets/dialog.js";
import { el } from "/assets/dom.js";
import { field, segments } from "/assets/form.js";
import { icon } from "./icons.js";
import { capital } from "./filters.js";
import { PRIORITIES, STATUSES } from "./tasks.js";

// Opens the dialog. `save(task, fields, draft)` and `remove(task)` may fail, which the dialog reports; they return the
// task to `go` to afterwards. `current(id)` reads the current task.
export function edit(task, { categories, save, remove, current, go }) {
  let known = task;
  let next;
  const draft = { key: newKey() };
  const title = el("input", { name: "title", required: true, maxLength: 200, autocomplete: "off", dir: "auto" });
  const description = el("textarea", { name: "description", rows: 4, maxLength: 4000, dir: "auto" });
  const due = el("input", { name: "due_date", type: "date", min: "0001-01-01", max: "9999-12-31" });
  const category = el("input", { name: "category", maxLength: 60, autocomplete: "off", dir: "auto" });
  category.setAttribute("list", "categories");
  const offered = el("datalist", { id: "categories" }, ...[...categories].map((value) => el("option", { value })));
  const status = segments("Status", "status", STATUSES.map(({ name, title: text }) => [name, text]));
  const priority = segments("Priority", "priority", [["", "None"], ...PRIORITIES.map((name) => [name, capital(name)]).reverse()]);
  const bin = el("button", { className: "button danger", type: "button", onclick: () => dialog.form.send(drop) }, icon("bin"), "Delete");

  const chosen = (group) => group.querySelector(":checked").value;
  const choose = (group, value) => { group.querySelector(`[value="${value}"]`).checked = true; };
  const fields = () => ({
    title: title.value,
    description: description.value.trim() ? description.value : null,
    status: chosen(status),
    priority: chosen(priority) || null,
    category: category.value.trim() || null,
    due_date: due.value || null,
  });

  function show(shown) {
    title.value = shown.title ?? "";
    description.value = shown.description ?? "";
    due.value = shown.due_date ?? "";
    category.value = shown.category ?? "";
    choose(status, shown.status ?? "pending");
    choose(priority, shown.priority ?? "");
  }

  async function submit() {
    try {
      next = await save(known, fields(), draft);
    } catch (error) {
      if (error.status === 412) await explain(error);
      else if (error.status === 404) gone(error);
      throw error;
    }
  }

  // Another tab or device was faster: the user decides which text to keep.
  async function explain(error) {
    known = await current(task.task_id);
    error.isSaid = true;
    dialog.say(
      el("p", {}, "This task was changed elsewhere while you were writing. Save again to keep your changes, or "),
      el("button", { className: "button", type: "button", onclick: () => { show(known); dialog.say(); } }, "Show what is there now"),
    );
  }

  function gone(error) {
    error.isSaid = true;
    known = { status: chosen(status) };
    dialog.say(el("p", {}, "This task was deleted elsewhere while you were writing. Save again to create it once more."));
  }

  async function drop() {
    next = await remove(known);
    if (dialog.isConnected) dialog.close();
  }

  const dialog = openDialog({
    title: task.task_id ? "Edit task" : "New task",
    className: "editor",
    body: [field("Title", title), field("Description", description), status, priority, el("div", { className: "pair" }, field("Due date", due), field("Category", category)), offered],
    buttons: [task.task_id ? bin : null, el("span", { className: "space" }), button(task.task_id ? "Save" : "Create", "primary")],
    submit,
    closed: () => next && go(next),
  });
  show(task);
  title.focus();
  title.select();
}
