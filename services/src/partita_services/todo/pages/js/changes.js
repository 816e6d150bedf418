// All changes of tasks: shown at once, rolled back if they fail, and undone on request.

import { newKey } from "/assets/api.js";
import { attempt, refused } from "/assets/attempt.js";
import { isolated } from "/assets/dom.js";
import { Optimistic } from "/assets/optimistic.js";
import { toast } from "/assets/toast.js";
import * as api from "./api.js";
import { plural } from "./store.js";
import { titleOf } from "./tasks.js";

const RECOUNT = 250;
const FIELDS = ["title", "description", "status", "priority", "category", "due_date"];

export class Changes {
  #under = new Optimistic({ failed: (error, id) => this.#failed.get(id)?.(error) });
  #failed = new Map(); // by id, the function that reports a failed move
  #left = new Map(); // by task and version, the version that a move on this page turned it into

  constructor(tasks) {
    this.tasks = tasks;
  }

  isUnderWay = (id) => this.#under.isWaiting(id);
  refused = refused;
  attempt = attempt;

  // Moves of one task wait for each other, because each replaces the version that the last one wrote.
  move(task, status, { said = true } = {}) {
    const id = task.task_id;
    const before = this.tasks.get(id) ?? task;
    if (before.status === status) return;
    this.#failed.set(id, (error) => this.#moveFailed(before, status, error));
    this.#under.change(id, {
      show: () => this.tasks.put({ ...before, status }),
      send: () => this.#moveNow(this.tasks.get(id) ?? task, status),
      settle: (saved, isLast) => {
        if (isLast) this.tasks.put(saved);
        else this.tasks.put({ ...this.tasks.get(id), version: saved.version });
        if (isLast && said) this.#moved(saved, before.status);
        this.tasks.countSoon(RECOUNT);
      },
      rollback: () => this.tasks.put({ ...before, version: this.tasks.get(id)?.version ?? before.version }),
    });
  }

  async #moveNow(task, status) {
    const saved = await this.#change(task, { status });
    if (saved.version !== task.version) this.#left.set(named(task), saved.version);
    return saved;
  }

  // A task as the user saw it, with the version that their own moves have written, because those are not a conflict.
  async #settled(task) {
    await this.#under.settled(task.task_id);
    let seen = task;
    while (this.#left.has(named(seen))) seen = { ...seen, version: this.#left.get(named(seen)) };
    return seen;
  }

  #moved(task, from) {
    const undo = () => this.move(this.tasks.get(task.task_id) ?? task, from, { said: false });
    toast(`Moved “${isolated(task.title)}” to ${titleOf(task.status)}.`, { action: ["Undo", undo] });
  }

  async #moveFailed(task, status, error) {
    const isStale = error.status === 412;
    const current = isStale || error.status === 404 ? await this.refresh(task.task_id) : this.tasks.get(task.task_id);
    if (isStale) toast(`“${isolated(task.title)}” was changed elsewhere; here it is as it is now.`, { wrong: true, action: current && ["Move it", () => this.move(current, status)] });
    else if (error.status === 404) toast(`“${isolated(task.title)}” was deleted elsewhere.`, { wrong: true });
    else this.refused(`“${isolated(task.title)}” was not moved.`, error, () => this.move(current ?? task, status));
  }

  // After a lost response the task may already have the change.
  async #change(task, fields) {
    try {
      return await api.change(task, fields);
    } catch (error) {
      if (error.status !== 412) throw error;
      const current = await api.task(task.task_id);
      if (Object.entries(fields).every(([name, value]) => (current[name] ?? null) === value)) return current;
      throw error;
    }
  }

  // The current task; null if it was deleted.
  async refresh(id) {
    const current = await api.task(id).catch(() => null);
    if (current) this.tasks.put(current);
    else this.tasks.drop(id);
    return current;
  }

  // `draft` belongs to one dialog: however often it is sent, it creates one task. The first attempt may have been saved
  // without a response; then that task is changed to what the user has written since.
  async create(fields, draft = { key: newKey() }) {
    draft.sent ??= fields;
    let task;
    try {
      task = await api.create(fields, draft.key);
    } catch (error) {
      if (error.problem?.code !== "idempotency_mismatch") throw error;
      task = await api.change(await api.create(draft.sent, draft.key), fields);
    }
    this.#written(task, `Created “${isolated(task.title)}”.`);
    return task;
  }

  async save(task, fields) {
    const saved = await this.#change(await this.#settled(task), fields);
    this.#written(saved, `Saved “${isolated(saved.title)}”.`, () => this.attempt(`“${isolated(saved.title)}” stays as it is.`, () => this.save(saved, picked(task))));
    return saved;
  }

  #written(task, text, undo = null) {
    this.tasks.put(task);
    toast(text, undo ? { action: ["Undo", undo] } : {});
    this.tasks.countSoon(RECOUNT);
  }

  // Deletes a task at once; undoing creates it again.
  async remove(task) {
    await api.remove(await this.#settled(task)).catch((error) => { if (error.status !== 404) throw error; });
    this.tasks.drop(task.task_id);
    this.tasks.countSoon(RECOUNT);
    const draft = { key: newKey() };
    const undo = () => this.attempt(`“${isolated(task.title)}” was not restored.`, () => this.create(picked(task), draft));
    toast(`Deleted “${isolated(task.title)}”.`, { action: ["Undo", undo] });
  }

  async moveMany(ids, status) {
    const before = Map.groupBy(ids.map(this.tasks.get).filter((task) => task && task.status !== status), (task) => task.status);
    const done = await this.#give(ids, status);
    if (done === null) return;
    const what = done === ids.length ? plural(done) : `${done} of ${plural(ids.length)}`;
    const undo = async () => {
      for (const [from, tasks] of before) await this.#give(tasks.map(({ task_id }) => task_id), from);
    };
    toast(`Moved ${what} to ${titleOf(status)}.`, { wrong: done < ids.length, action: ["Undo", undo] });
  }

  // How many have the status now; null if the service refused.
  async #give(ids, status) {
    await this.#under.all();
    const results = [];
    for (let start = 0; start < ids.length; start += api.PAGE) {
      const part = ids.slice(start, start + api.PAGE);
      const answers = await this.attempt(`Not all tasks were moved to ${titleOf(status)}.`, () => api.changeMany(part, status));
      if (answers === null) return null;
      results.push(...answers);
    }
    await this.attempt("The board is out of date.", () => this.tasks.load());
    return results.filter(({ outcome }) => outcome === "changed" || outcome === "unchanged").length;
  }

  async removeMany(ids) {
    let done = 0;
    for (const id of ids) {
      const task = this.tasks.get(id);
      const isGone = task && (await this.attempt(`“${isolated(task.title)}” was not deleted.`, async () => {
        await api.remove(await this.#settled(task));
        return true;
      }));
      if (!isGone) continue;
      this.tasks.drop(id);
      done += 1;
    }
    this.tasks.countSoon(RECOUNT);
    toast(`Deleted ${plural(done)}.`, { wrong: done < ids.length });
  }

  async deleteCompleted() {
    await this.#under.all();
    const deleted = await this.attempt("Not all completed tasks were deleted.", () => api.deleteCompleted());
    await this.attempt("The board is out of date.", () => this.tasks.load());
    if (deleted !== null) toast(`Deleted ${plural(deleted)}.`);
  }
}

const named = ({ task_id, version }) => `${task_id} ${version}`;
const picked = (task) => Object.fromEntries(FIELDS.map((name) => [name, task[name] ?? null]));
