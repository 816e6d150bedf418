// The current figures, read every two seconds while somebody looks.

import { poll } from "/assets/poll.js";
import * as api from "./api.js";

const EVERY = 2000;
const { signal: always } = new AbortController();
const watchers = new Set();
let newest = null;

// Calls `show` with the figures now and whenever they are new, until `signal` ends it. Before the first they are null.
export function watch(show, signal = always) {
  watchers.add(show);
  signal.addEventListener("abort", () => watchers.delete(show));
  show(newest);
}

function take(figures) {
  newest = figures;
  for (const show of watchers) show(newest);
}

// What cannot be read leaves the figures as they were. A lost connection has a bar of its own.
export const refresh = poll({ every: () => EVERY, read: api.live, show: take, failed: () => newest && take({ ...newest, healthy: false }), signal: always });
