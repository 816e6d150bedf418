// The tasks that are shown, as far as they were read, and every change of them.

import * as api from "./api.js";
import { STATUSES, sorted, titleOf } from "./tasks.js";

const RECOUNT = 250;
const EVERY_STATUS = null; // where there is one list for all columns: what a search found
const MOST_LOOKED_AT = 1000; // by the filters, for one page of a search: as many as the service looks at for a page of a list

export class Tasks {
  #known = new Map(); // by id, in the order of the answers
  #cursors = new Map(); // by status, where there is more
  #moves = new Map(); // what is being written, by id
  #asked = 0;
  #sought = ""; // the text of the search that is shown; the field may have another by now

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
    return this.#sought !== "" || this.filters.isSet();
  }

  get = (id) => this.#known.get(id);
  has = (id) => this.#known.has(id);
  hasMore = (status) => this.#cursors.has(status);

  get hasMoreFound() {
    return this.hasMore(EVERY_STATUS);
  }

  isCut = (status) => this.hasMore(status) || this.hasMoreFound;

  // What a search found stays in its order, best first.
  in(status) {
    const found = [...this.#known.values()].filter((task) => task.status === status);
    return this.#sought ? found : sorted(found);
  }

  number(status) {
    return this.isPart ? this.in(status).length : (this.counts.by_status[status] ?? this.in(status).length);
  }

  // As it is shown: what was read so far is not the total.
  tally(status) {
    return `${this.number(status)}${this.isPart && this.isCut(status) ? "+" : ""}`;
  }

  // --- reading

  async load() {
    const question = ++this.#asked;
    const text = this.text;
    const statuses = text ? [EVERY_STATUS] : STATUSES.map(({ name }) => name);
    const pages = await Promise.all(statuses.map((status) => this.#page(status, text)));
    if (question !== this.#asked) return; // a later question was asked
    this.#sought = text;
    this.#known.clear();
    this.#cursors.clear();
    for (const page of pages) this.#take(page);
    this.#tell();
    this.count();
  }

  async more(status) {
    const question = this.#asked;
    const page = await this.#page(status, this.#sought, this.#cursors.get(status));
    if (question !== this.#asked) return; // this is no longer what is shown
    this.#take(page);
    this.#tell();
  }

  moreFound = () => this.more(EVERY_STATUS);

  async #page(status, text, cursor = null) {
    const page = text ? await this.#search(text, cursor) : await api.list({ ...this.filters.asks(), status }, cursor);
    return { ...page, status };
  }

  // A search knows no filters, so they are held against what it finds, until there is a page of it.
  async #search(text, cursor) {
    const question = this.#asked;
    const items = [];
    let looked = 0;
    let next_cursor = cursor;
    do {
      const page = await api.search(text, next_cursor);
      items.push(...page.items.filter(this.filters.holds));
      looked += api.PAGE;
      next_cursor = page.next_cursor;
    } while (next_cursor && items.length < api.PAGE && looked < MOST_LOOKED_AT && question === this.#asked);
    return { items, next_cursor };
  }

  #take({ status, items, next_cursor }) {
    for (const task of items) this.#known.set(task.task_id, task);
    if (next_cursor) this.#cursors.set(status, next_cursor);
    else this.#cursors.delete(status);
  }

  #tell() {
    this.filters.learn(this.#known.values());
    if (this.isPart) this.say(`${plural(this.#known.size)} found${this.#cursors.size ? " so far" : ""}.`);
    this.changed();
  }

  // The counts follow the changes with a short delay, and say so.
  async count() {
    this.counts = await api.counts();
    this.changed();
    if (this.counts.lag.records > 0) this.#countSoon();
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
    const saved = await api.change(task, fields);
    this.#put(saved);
    this.say(`Saved “${saved.title}”.`);
    return saved;
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
