// The dialog in which a task is written: a new one, or one that is there already.

import { el, replace } from "/assets/dom.js";
import { icon } from "./icons.js";
import { capital } from "./filters.js";
import { PRIORITIES, STATUSES } from "./tasks.js";

// Gives a function that opens the dialog. `save(task, fields)` and `remove(task)` may refuse, which is then said; they give
// the task to `go` to afterwards.
export function editor({ categories, save, remove, go }) {
  const dialog = el("dialog", { className: "editor" });
  dialog.setAttribute("aria-labelledby", "editor-title");
  document.body.append(dialog);
  dialog.addEventListener("close", () => {
    if (!dialog.open) replace(dialog); // the event comes late: the next task may be open already
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });

  return (task) => {
    const said = el("p", { className: "wrong", role: "alert" });
    const title = el("input", { id: "title", required: true, maxLength: 200, value: task.title ?? "", autocomplete: "off" });
    const description = el("textarea", { id: "description", rows: 4, maxLength: 4000, value: task.description ?? "" });
    const due = el("input", { id: "due", type: "date", value: task.due_date ?? "", min: "0001-01-01", max: "9999-12-31" });
    const category = el("input", { id: "category", maxLength: 60, value: task.category ?? "", autocomplete: "off" });
    category.setAttribute("list", "categories");
    const known = el("datalist", { id: "categories" }, ...[...categories].map((value) => el("option", { value })));
    const status = segments("Status", "status", STATUSES.map(({ name, title: text }) => [name, text]), task.status ?? "pending");
    const priority = segments("Priority", "priority", [["", "None"], ...PRIORITIES.map((name) => [name, capital(name)]).reverse()], task.priority ?? "");

    async function submit(event) {
      event.preventDefault();
      const form = new FormData(event.target);
      const fields = {
        title: title.value,
        description: description.value.trim() ? description.value : null,
        status: form.get("status"),
        priority: form.get("priority") || null,
        category: category.value.trim() || null,
        due_date: due.value || null,
      };
      await attempt(() => save(task, fields));
    }

    let isAtWork = false;

    async function attempt(work) {
      if (isAtWork) return; // Enter was pressed twice
      isAtWork = true;
      let next;
      try {
        next = await work();
      } catch (error) {
        said.textContent = error.status === 412 ? "This task was changed elsewhere. Close, and open it again." : `${error.message} ${error.hint ?? ""}`;
        return;
      } finally {
        isAtWork = false;
      }
      leaveFor(next);
    }

    // What is behind an open dialog cannot have the keyboard, so that is closed first.
    function leaveFor(next) {
      if (!said.isConnected) return; // closed while the service was at work: the dialog may be another task's by now
      dialog.close();
      go(next);
    }

    const bin = el("button", { className: "button danger", type: "button", onclick: () => attempt(() => remove(task)) }, icon("bin"), "Delete");
    replace(
      dialog,
      el(
        "form",
        { onsubmit: submit },
        el(
          "header",
          {},
          el("h2", { id: "editor-title" }, task.task_id ? "Edit task" : "New task"),
          el("button", { className: "button square", type: "button", ariaLabel: "Close", onclick: () => dialog.close() }, icon("close")),
        ),
        field("Title", title),
        field("Description", description),
        status,
        priority,
        el("div", { className: "pair" }, field("Due date", due), field("Category", category)),
        known,
        said,
        el("footer", {}, task.task_id ? bin : null, el("span", { className: "space" }), el("button", { className: "button primary" }, task.task_id ? "Save" : "Create")),
      ),
    );
    dialog.showModal();
    title.focus();
    title.select();
  };
}

const field = (name, control) => el("label", { className: "field", htmlFor: control.id }, el("span", {}, name), control);

function segments(name, key, options, chosen) {
  const choice = ([value, text]) =>
    el("label", {}, el("input", { type: "radio", name: key, value, checked: value === chosen }), el("span", {}, text));
  return el("fieldset", { className: `segments ${key}` }, el("legend", {}, name), el("div", {}, ...options.map(choice)));
}

// Asks before something is lost; gives whether to go on.
export function confirmed(question, action) {
  const dialog = el("dialog", { className: "ask" });
  const answer = (value) => () => dialog.close(value);
  dialog.append(
    el("p", {}, question),
    el(
      "footer",
      {},
      el("button", { className: "button", type: "button", onclick: answer("") }, "Keep"),
      el("button", { className: "button danger solid", type: "button", autofocus: true, onclick: answer("yes") }, action),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
