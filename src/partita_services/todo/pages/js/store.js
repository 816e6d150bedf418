// The tasks that are shown, as far as they were read, and every change of them.

import * as api from "./api.js";
import { STATUSES, sorted, titleOf } from "./tasks.js";

const RECOUNT = 250;

export class Tasks {
  #known = new Map(); // by id, in the order of the answers
  #cursors = new Map(); // by status, where there is more
  #moves = new Map(); // what is being written, by id
  #asked = 0;

  // `search` is the field with the text, `filters` what is chosen; `say` tells the user, `changed` draws.
  constructor(search, filters, { say, changed }) {
    this.search = search;
    this.filters = filters;
    this.say = say;
    this.changed = changed;
    this.counts = { by_status: {}, by_priority: {} };
  }

  // --- what there is

  get text() {
    return this.search.value.trim();
  }

  get isPart() {
    return this.text !== "" || this.filters.isSet();
  }

  get = (id) => this.#known.get(id);
  has = (id) => this.#known.has(id);
  hasMore = (status) => this.#cursors.has(status);

  // What a search found stays in its order, best first.
  in(status) {
    const found = [...this.#known.values()].filter((task) => task.status === status);
    return this.text ? found : sorted(found);
  }

  number(status) {
    return this.isPart ? this.in(status).length : (this.counts.by_status[status] ?? this.in(status).length);
  }

  // --- reading

  async load() {
    const question = ++this.#asked;
    const pages = await this.#pages();
    if (question !== this.#asked) return; // a later question was asked
    this.#known.clear();
    this.#cursors.clear();
    for (const { status, page } of pages) this.#take(page, status);
    this.filters.learn(this.#known.values());
    if (this.isPart) this.say(`${plural(this.#known.size)} found.`);
    this.changed();
    this.count();
  }

  async #pages() {
    if (this.text) return [{ status: null, page: await api.search(this.text) }];
    const read = async ({ name }) => ({ status: name, page: await api.list({ ...this.filters.asks(), status: name }) });
    return Promise.all(STATUSES.map(read));
  }

  #take(page, status) {
    for (const task of page.items) if (status || this.filters.holds(task)) this.#known.set(task.task_id, task);
    if (status && page.next_cursor) this.#cursors.set(status, page.next_cursor);
    else this.#cursors.delete(status);
  }

  async more(status) {
    this.#take(await api.list({ ...this.filters.asks(), status }, this.#cursors.get(status)), status);
    this.changed();
  }

  // The counts follow the changes with a short delay, and say so.
  async count() {
    this.counts = await api.counts();
    this.changed();
    if (this.counts.behind.records > 0) this.#countSoon();
  }

  #countSoon() {
    setTimeout(() => this.attempt(() => this.count()), RECOUNT);
  }

  // --- changing

  // Where the service refuses, that is said, and the tasks are read again. Gives null then.
  async attempt(work) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof api.Refused)) throw error;
      const isStale = error.status === 412;
      this.say(isStale ? "This task was changed elsewhere; here it is as it is now." : `${error.message} ${error.hint}`, true);
      await this.load();
      return null;
    }
  }

  #put(task) {
    if (this.filters.holds(task)) this.#known.set(task.task_id, task);
    else this.#known.delete(task.task_id);
    this.filters.learn([task]);
    this.changed();
    this.#countSoon();
  }

  async create(fields) {
    const task = await api.create(fields);
    this.#put(task);
    this.say(`Created “${task.title}”.`);
    return task;
  }

  async save(task, fields) {
    this.#put(await api.change(task, fields));
    this.say(`Saved “${fields.title}”.`);
  }

  async remove(task) {
    await api.remove(task);
    this.#known.delete(task.task_id);
    this.changed();
    this.say(`Deleted “${task.title}”.`);
    this.#countSoon();
  }

  // Shown at once. Moves of one task wait for each other, because each is made over the version that the last one left.
  move(task, status) {
    if (task.status === status) return;
    const id = task.task_id;
    this.#known.set(id, { ...task, status });
    this.changed();
    const moved = (this.#moves.get(id) ?? Promise.resolve()).then(() => this.attempt(async () => {
      const saved = await api.change(this.get(id) ?? task, { status });
      if (this.#moves.get(id) === moved) this.#moved(saved);
      else this.#known.set(id, { ...this.get(id), version: saved.version });
    }));
    this.#moves.set(id, moved);
  }

  #moved(task) {
    this.#moves.delete(task.task_id);
    this.#put(task);
    this.say(`Moved “${task.title}” to ${titleOf(task.status)}.`);
  }

  async changeMany(ids, status) {
    await Promise.all(this.#moves.values());
    const results = [];
    for (let start = 0; start < ids.length; start += api.PAGE) {
      const part = ids.slice(start, start + api.PAGE);
      results.push(...((await this.attempt(() => api.changeMany(part, status))) ?? []));
    }
    const done = results.filter(({ outcome }) => outcome === "changed" || outcome === "unchanged").length;
    await this.load();
    const what = done === ids.length ? plural(done) : `${done} of ${plural(ids.length)}`;
    this.say(`Moved ${what} to ${titleOf(status)}.`, done < ids.length);
  }

  async deleteCompleted() {
    await Promise.all(this.#moves.values());
    const deleted = await this.attempt(() => api.deleteCompleted());
    await this.load();
    if (deleted !== null) this.say(`Deleted ${plural(deleted)}.`);
  }
}

export const plural = (number) => `${number} ${number === 1 ? "task" : "tasks"}`;
