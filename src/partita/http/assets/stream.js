// Live updates: server-sent events over one connection, resumed after it was lost, and shared by all tabs of one person.

import { claims, onSignIn, send } from "./api.js";
import { refused } from "./attempt.js";
import { connection } from "./connection.js";

const PAUSES = [500, 1000, 2000, 4000, 8000];
const PATIENCE = 2000;
const UNKNOWN = 401;

// Yields the events of the service as `{id, event, data, isNew}`, until `signal` aborts or `isLast` returns true. After a
// lost connection, it resumes after the last event that was received; `isNew` means that there was none. If the sign-in
// has expired, it waits until the person has signed in again, and resumes.
export async function* events(path, { signal, isLast, last = null } = {}) {
  let [at, isHeard] = [last, false];
  while (!signal.aborted) {
    try {
      for await (const each of heardOn(path, { signal, isLast, last: at })) {
        [at, isHeard] = [each.id ?? at, true];
        yield each;
      }
      return;
    } catch (error) {
      if (error.status !== UNKNOWN) throw error;
      await knownAgain(error, signal, isHeard ? outOfDate : undefined);
    }
  }
}

// The same, but throws if the sign-in has expired.
async function* heardOn(path, { signal, isLast = () => false, last }) {
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
      if (signal.aborted || isNever(error)) return;
      if (error.status === UNKNOWN) throw error;
    }
    if (signal.aborted) return;
    if (failures > 0) connection.lost();
    await pause(PAUSES[Math.min(failures, PAUSES.length - 1)], signal);
    failures += 1;
  }
}

// Whether an error is permanent, so that retrying is useless.
const isNever = ({ status, problem }) => (status >= 400 && status < 500 && status !== UNKNOWN) || problem?.code === "not_projected";

const outOfDate = (error) => refused("What you see may be out of date.", error, () => {});

// Waits until the person has signed in again, and shows the message of `say` meanwhile.
async function knownAgain(error, signal, say = () => {}) {
  const said = say(error);
  await new Promise((passed) => {
    onSignIn(passed, signal);
    signal.addEventListener("abort", passed, { once: true });
  });
  said?.close();
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

// Calls `heard({id, event, data})` for each event of the service. A browser opens few connections to one server: of all
// tabs in which this person has the same page open, one listens and passes the events to the others. Returns:
//
// - `ready`: resolves when all further changes will be received. A list that is read after it misses nothing.
// - `during(read)`: reads a list. Events that arrive meanwhile are delivered after it, because the list may be older.
//
// If the service does not send `ready` in time, `ready` resolves anyway. If it sends it later, changes may have been missed
// since the list was read: `heard` receives a `reset`, after which the list must be read again.
//
// A tab whose sign-in has expired lets another one listen, calls `unknown(error)`, which may return a message to close, and
// resumes with the missed events when the person has signed in again. `who` is the person, if no token names one.
export function live(path, heard, { signal, patience = PATIENCE, who = claims().sub ?? "", unknown = outOfDate }) {
  const name = `partita ${who} ${new URL(path, location.href).pathname}`;
  const channel = new BroadcastChannel(name);
  const { promise: ready, resolve } = Promise.withResolvers();
  const news = new HeldNews(heard);
  let [last, isReady, isHeard] = [null, false, false];
  const begin = () => {
    isReady = true;
    resolve();
  };
  const take = (each) => {
    last = each.id ?? last;
    isHeard = true;
    if (each.event !== "ready") return news.tell(each);
    if (isReady && each.isNew) news.tell({ ...each, event: "reset" });
    return begin();
  };
  const listen = async () => {
    for await (const each of heardOn(path, { signal, last })) {
      channel.postMessage(each);
      take(each);
    }
  };
  const run = async () => {
    while (!signal.aborted) {
      try {
        return await alone(name, signal, listen, begin);
      } catch (error) {
        if (error.status !== UNKNOWN) throw error;
        begin();
        await knownAgain(error, signal, isHeard ? unknown : undefined);
      }
    }
    return undefined;
  };
  channel.onmessage = ({ data }) => take(data);
  signal.addEventListener("abort", () => channel.close());
  pause(patience, signal).then(begin);
  run().then(begin);
  return { ready, during: news.during };
}

// Holds back events that arrive while a list is being read.
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
      if (!this.#reading) for (const each of this.#waiting.splice(0)) this.tell(each); // which may start another read
    }
  };
}

// Over plain http from another machine, a browser has no locks: then every tab listens for itself. If another tab already
// has the lock, `taken` is called.
async function alone(name, signal, work, taken) {
  if (!navigator.locks) return work();
  const { held } = await navigator.locks.query();
  if (held.some((lock) => lock.name === name)) taken();
  return navigator.locks.request(name, { signal }, work).catch((error) => {
    if (error.name !== "AbortError") throw error;
  });
}

// Waits, but not longer than until the server can be reached again.
const pause = (time, signal) => new Promise((passed) => {
  const ended = new AbortController();
  const end = () => {
    clearTimeout(timer);
    ended.abort();
    passed();
  };
  const timer = setTimeout(end, time);
  connection.onRegained(end, ended.signal);
  signal.addEventListener("abort", end, { signal: ended.signal });
});
