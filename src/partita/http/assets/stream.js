// Live updates: server-sent events over one connection, read on after a lost one, and shared by all tabs of one person.

import { claims, send, token } from "./api.js";
import { connection } from "./connection.js";

const PAUSES = [500, 1000, 2000, 4000, 8000];

// What the service sends, as `{id, event, data}`, while `signal` lets it and until `isLast`. After a lost connection it is
// asked for what came after the last event that was heard.
export async function* events(path, { signal, isLast = () => false, last = null } = {}) {
  let [id, failures] = [last, 0];
  while (!signal.aborted) {
    try {
      const response = await send("GET", path, { signal, headers: id === null ? {} : { "Last-Event-ID": id } });
      for await (const heard of parsed(response)) {
        failures = 0;
        id = heard.id ?? id;
        yield heard;
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
// in which this person has the same page open, one listens and tells the others.
export async function live(path, heard, { signal }) {
  const name = `partita ${claims().sub ?? ""} ${new URL(path, location.href).pathname}`;
  const channel = new BroadcastChannel(name);
  let last = null;
  const take = (each) => {
    last = each.id ?? last;
    heard(each);
  };
  channel.onmessage = ({ data }) => take(data);
  signal.addEventListener("abort", () => channel.close());
  await alone(name, signal, async () => {
    for await (const each of events(path, { signal, last })) {
      if (!token.get()) return;
      channel.postMessage(each);
      take(each);
    }
  });
}

// Over plain http of another machine a browser has no locks: then every tab listens for itself.
async function alone(name, signal, work) {
  if (!navigator.locks) return work();
  return navigator.locks.request(name, { signal }, work).catch((error) => {
    if (error.name !== "AbortError") throw error;
  });
}

const pause = (time, signal) => new Promise((passed) => {
  const timer = setTimeout(passed, time);
  signal.addEventListener("abort", () => { clearTimeout(timer); passed(); }, { once: true });
});
