// Live updates: server-sent events over one connection, read on after a lost one, and shared by all tabs of one person.

import { claims, send, token } from "./api.js";
import { connection } from "./connection.js";

const PAUSES = [500, 1000, 2000, 4000, 8000];
const PATIENCE = 2000;

// What the service sends, as `{id, event, data, isNew}`, while `signal` lets it and until `isLast`. After a lost connection it
// is asked for what came after the last event that was heard; `isNew` says that there was none.
export async function* events(path, { signal, isLast = () => false, last = null } = {}) {
  let [id, failures] = [last, 0];
  while (!signal.aborted) {
    try {
      const response = await send("GET", path, { signal, headers: id === null ? {} : { "Last-Event-ID": id } });
      for await (const heard of parsed(response)) {
        failures = 0;
        const isNew = id === null;
        id = heard.id ?? id;
        yield { ...heard, isNew };
        if (isLast(heard.data)) return;
      }
    } catch (error) {
      if (signal.aborted || (error.status >= 400 && error.status < 500)) return;
    }
    if (signal.aborted) return;
    if (failures > 0) connection.lost();
    await pause(PAUSES[Math.min(failures, PAUSES.length - 1)], signal);
    failures += 1;
  }
}

async function* parsed(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (text + value).split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").filter((each) => /^\w+:/.test(each)).map((each) => [each.slice(0, each.indexOf(":")), each.slice(each.indexOf(":") + 1).trimStart()]));
      if (fields.data !== undefined) yield { id: fields.id, event: fields.event ?? "message", data: JSON.parse(fields.data) };
    }
  }
}

// Calls `heard({id, event, data})` for what the service sends. A browser opens few connections to one server: of all tabs
// in which this person has the same page open, one listens and tells the others. Gives:
//
// - `ready`: resolves when whatever changes from now on will be heard. A list that is read after it misses nothing.
// - `during(read)`: reads a list. What is heard meanwhile is told after it: the list may be older than that.
//
// A service that does not say `ready` in time is not waited for. Where it does so later, changes may have been missed since
// the list was read: `heard` gets a `reset`, and reads it again.
export function live(path, heard, { signal, patience = PATIENCE }) {
  const name = `partita ${claims().sub ?? ""} ${new URL(path, location.href).pathname}`;
  const channel = new BroadcastChannel(name);
  const { promise: ready, resolve } = Promise.withResolvers();
  const news = new HeldNews(heard);
  let [last, isReady] = [null, false];
  const begin = () => {
    isReady = true;
    resolve();
  };
  const take = (each) => {
    last = each.id ?? last;
    if (each.event !== "ready") return news.tell(each);
    if (isReady && each.isNew) news.tell({ ...each, event: "reset" });
    return begin();
  };
  const listen = async () => {
    for await (const each of events(path, { signal, last })) {
      if (!token.get()) return;
      channel.postMessage(each);
      take(each);
    }
  };
  channel.onmessage = ({ data }) => take(data);
  signal.addEventListener("abort", () => channel.close());
  pause(patience, signal).then(begin);
  alone(name, signal, listen, begin).then(begin);
  return { ready, during: news.during };
}

// What is heard while a list is read waits until it was read.
class HeldNews {
  #reading = 0;
  #waiting = [];
  #heard;

  constructor(heard) {
    this.#heard = heard;
  }

  tell(each) {
    if (this.#reading) this.#waiting.push(each);
    else this.#heard(each);
  }

  during = async (read) => {
    this.#reading += 1;
    try {
      return await read();
    } finally {
      this.#reading -= 1;
      if (!this.#reading) for (const each of this.#waiting.splice(0)) this.tell(each); // which may read again
    }
  };
}

// Over plain http of another machine a browser has no locks: then every tab listens for itself. Where another tab works
// already, `taken` is called.
async function alone(name, signal, work, taken) {
  if (!navigator.locks) return work();
  const { held } = await navigator.locks.query();
  if (held.some((lock) => lock.name === name)) taken();
  return navigator.locks.request(name, { signal }, work).catch((error) => {
    if (error.name !== "AbortError") throw error;
  });
}

const pause = (time, signal) => new Promise((passed) => {
  const timer = setTimeout(passed, time);
  signal.addEventListener("abort", () => { clearTimeout(timer); passed(); }, { once: true });
});
