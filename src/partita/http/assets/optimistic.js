// Optimistic changes: shown at once, and rolled back if they fail. Changes with the same key run one after the other.

export class Optimistic {
  #waiting = new Map(); // by key, the changes that are under way

  // `failed(error, key)` is called when a change failed and was rolled back.
  constructor({ failed }) {
    this.failed = failed;
  }

  // `show()` shows the change, `send()` sends it, `settle(result, isLast)` shows the result of the service, and `rollback()`
  // undoes the change. A failure also rolls back the changes that wait behind it, because they were based on it.
  change(key, { show, send, settle, rollback }) {
    show();
    const entry = { isCancelled: false, rollback };
    const before = this.#waiting.get(key) ?? { done: Promise.resolve(), entries: [] };
    const line = { entries: [...before.entries, entry] };
    line.done = before.done.then(() => this.#send(key, entry, { send, settle }));
    this.#waiting.set(key, line);
    return line.done;
  }

  isWaiting = (key) => this.#waiting.has(key);
  settled = async (key) => this.#waiting.get(key)?.done;
  all = () => Promise.all([...this.#waiting.values()].map(({ done }) => done));

  async #send(key, entry, { send, settle }) {
    if (entry.isCancelled) return;
    try {
      const result = await send();
      settle(result, this.#finish(key, entry));
    } catch (error) {
      const behind = this.#waiting.get(key)?.entries ?? [];
      this.#waiting.delete(key);
      for (const each of behind.toReversed()) each.isCancelled = true;
      (behind[0] ?? entry).rollback();
      if (error.status === undefined) throw error;
      this.failed(error, key);
    }
  }

  // Removes a change; returns whether it was the last one.
  #finish(key, entry) {
    const line = this.#waiting.get(key);
    if (!line) return true;
    line.entries = line.entries.filter((each) => each !== entry);
    if (line.entries.length) return false;
    this.#waiting.delete(key);
    return true;
  }
}
