// The tasks that are shown, as far as they have been read.

import { Pages } from "/assets/pages.js";
import * as api from "./api.js";
import { STATUSES, ordered } from "./tasks.js";

const RECOUNT = 250;
const FOUND = "found"; // the one list for all columns: what a search found

export class Tasks {
  #known = new Map(); // by id, in the order of the responses
  #pages = new Map(); // by status, the pages that can be continued
  #columns = new Map(); // by status, the tasks in the order of the board
  #asked = 0;
  #counting = null;
  #sought = ""; // the text of the search that is shown; the field may contain another by now
  #isWhole = true; // whether the search that is shown has considered all matches

  // `search` is the field with the text, `filters` the chosen filters; `found` reports how many were found, `changed` redraws.
  constructor(search, filters, { found, changed }) {
    Object.assign(this, { search, filters, found, changed });
    this.counts = null;
    this.loading = new Set();
  }

  // --- state

  get text() {
    return this.search.value.trim();
  }

  get isPart() {
    return this.#sought !== "" || this.filters.isSet();
  }

  get isSearch() {
    return this.#sought !== "";
  }

  get = (id) => this.#known.get(id);
  has = (id) => this.#known.has(id);
  hasMore = (status) => this.#pages.get(status)?.hasMore ?? false;

  get hasMoreFound() {
    return this.hasMore(FOUND);
  }

  isCut = (status) => this.hasMore(status) || this.hasMoreFound;
  isLoading = (status) => this.loading.has(status);

  // The results of a search stay in their order, best first.
  in(status) {
    if (!this.#columns.has(status)) {
      const found = [...this.#known.values()].filter((task) => task.status === status);
      this.#columns.set(status, this.#sought ? found : ordered(found));
    }
    return this.#columns.get(status);
  }

  number(status) {
    const shown = this.in(status).length;
    return this.isPart || !this.counts || !this.isCut(status) ? shown : Math.max(shown, this.counts.by_status[status] ?? 0);
  }

  // The number as it is shown: what was read so far is not the total.
  tally(status) {
    if (this.isLoading(status)) return "…";
    return `${this.number(status)}${this.isCut(status) && (this.isPart || !this.counts) ? "+" : ""}`;
  }

  // --- reading

  async load() {
    const question = ++this.#asked;
    const text = this.text;
    const isCurrent = () => question === this.#asked; // no later load has begun
    const parts = text ? [FOUND] : STATUSES.map(({ name }) => name);
    this.loading = new Set(STATUSES.map(({ name }) => name));
    if (!this.#known.size) this.changed();
    let isFirst = true;
    const read = async (part) => {
      const { items, pages, isWhole = true } = await (text ? this.#search(text) : this.#column(part));
      if (!isCurrent()) return;
      if (isFirst) this.#clear(text);
      this.#isWhole = isWhole;
      isFirst = false;
      this.#pages.set(part, pages);
      for (const status of text ? [...this.loading] : [part]) this.loading.delete(status);
      this.#take(items);
    };
    try {
      await Promise.all(parts.map(read));
    } catch (error) {
      if (isCurrent()) this.loading.clear();
      throw error;
    }
    if (!isCurrent()) return;
    if (this.isPart) this.#tell();
    this.countSoon();
  }

  #clear(text) {
    this.#sought = text;
    this.#isWhole = true;
    this.#known.clear();
    this.#pages.clear();
    this.#columns.clear();
  }

  async more(status) {
    const question = this.#asked;
    const items = await this.#pages.get(status).next({ least: api.PAGE });
    if (question !== this.#asked) return; // another load has begun since
    this.#take(items);
    if (this.isPart) this.#tell();
  }

  moreFound = () => this.more(FOUND);

  // A column that fits on one page is sorted here. Of a longer one the service returns the most urgent first, then those
  // without a priority, which are not in its index of priorities.
  async #column(status) {
    const asked = { ...this.filters.asks(), status };
    const first = await api.list(asked);
    if (!first.next_cursor) return { items: first.items, pages: new Pages() };
    const by = (more) => (cursor) => api.list({ ...asked, ...more }, cursor);
    const pages = asked.priority ? new Pages(by({})) : new Pages(by({ sort: "priority" }), by({ has_priority: false }));
    return { items: await pages.next({ least: api.PAGE }), pages };
  }

  // A search has no filters, so they are applied to its results, until a page is full.
  async #search(text) {
    let isWhole = true;
    const read = async (cursor) => {
      const page = await api.search(text, cursor);
      isWhole = page.complete;
      return { ...page, items: page.items.filter(this.filters.holds) };
    };
    const pages = new Pages(read);
    return { items: await pages.next({ least: api.PAGE }), pages, isWhole };
  }

  #take(tasks) {
    for (const task of tasks) this.#known.set(task.task_id, task);
    this.#columns.clear();
    this.filters.learn(tasks);
    this.changed();
  }

  #tell() {
    this.found(this.#known.size, { isCut: [...this.#pages.values()].some((pages) => pages.hasMore), isWhole: this.#isWhole });
  }

  // The counts follow the changes with a short delay, which their `lag` reports.
  countSoon(delay = 0) {
    clearTimeout(this.#counting);
    this.#counting = setTimeout(() => this.#count().catch(() => {}), delay); // the next change counts again
  }

  async #count() {
    this.counts = await api.counts();
    this.changed();
    if (this.counts.lag.records > 0) this.countSoon(RECOUNT);
  }

  // --- changes

  // Puts the current task; one that the filters exclude is not shown. Among the results of a search no other task appears.
  put(task, { isNew = true } = {}) {
    const before = this.#known.get(task.task_id);
    if (!before && (!isNew || (this.#sought && !isNew))) return;
    if (this.filters.holds(task)) this.#known.set(task.task_id, task);
    else this.#known.delete(task.task_id);
    for (const status of [before?.status, task.status]) this.#columns.delete(status);
    this.filters.learn([task]);
    this.changed();
  }

  drop(id) {
    const before = this.#known.get(id);
    if (!before) return;
    this.#known.delete(id);
    this.#columns.delete(before.status);
    this.changed();
  }
}

export const plural = (number) => `${number.toLocaleString("en")} ${number === 1 ? "task" : "tasks"}`;
