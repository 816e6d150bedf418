// Changes that are shown at once, and taken back where they fail. Changes of one thing wait for each other.

export class Optimistic {
  #waiting = new Map(); // by key, what is under way

  // `show(previous)` draws what a failed change takes back; `failed(error, again)` tells the person.
  constructor({ failed }) {
    this.failed = failed;
  }

  // `show()` shows the change, `send()` makes it, `settle(result, isLast)` shows what the service made of it, and `rollback()`
  // takes it back. A failure takes back what waits behind it, too: that was made over what is not there.
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

  // Whether this was the last one.
  #finish(key, entry) {
    const line = this.#waiting.get(key);
    if (!line) return true;
    line.entries = line.entries.filter((each) => each !== entry);
    if (line.entries.length) return false;
    this.#waiting.delete(key);
    return true;
  }
}
